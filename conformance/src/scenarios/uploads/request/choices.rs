//! What the reference server makes of requests for a slot where the rules leave
//! it open.

use http::Method;
use serde_json::json;

use super::{PATH, post, raw};
use crate::scenario::reference;
use crate::scenarios::uploads::slot::ask;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(in crate::scenarios::uploads) const ALL: &[Scenario] = &[
    reference! { "uploads.request.exact-content-types" ["LI-15"] exact_content_types,
        "A contentType is written in lower case and without parameters" },
    reference! { "uploads.request.plain-integers" ["UP-03"] plain_integers,
        "A size is plain digits: neither 1.0 nor 1e2 (S-65)" },
    reference! { "uploads.request.details" ["UP-02", "UP-03", "LI-14", "LI-15", "ER-03"] details,
        "A refused request for a slot names every field at fault at once (S-60)" },
    reference! { "uploads.request.unknown-fields" ["UP-01"] unknown_fields,
        "Unknown fields of a request for a slot are ignored (S-67)" },
    reference! { "uploads.request.methods" ["UP-01"] methods,
        "Slots are asked for by POST; other methods are answered 405 (S-61)" },
    reference! { "uploads.request.scope-before-body" ["AU-10"] [ReadOnlyKey] scope_before_body,
        "The scope is checked before the body (S-56)" },
];

async fn exact_content_types(case: Case) -> Result<(), Failure> {
    for content_type in [
        "IMAGE/PNG",
        "image/Png",
        "image/png; charset=utf-8",
        "image/png;",
        " image/png",
        "image/png ",
    ] {
        let reply = ask(&case.wire(), content_type, 100).await?;
        reply.refused(format!("contentType {content_type:?}"))?;
    }
    Ok(())
}

async fn plain_integers(case: Case) -> Result<(), Failure> {
    for size in ["1.0", "100.0", "1e2", "1E2", "10485760.0"] {
        raw(&case, size).await?.refused(format!("size {size}"))?;
    }
    Ok(())
}

async fn details(case: Case) -> Result<(), Failure> {
    for (body, fields) in [
        (json!({}), &["contentType", "size"][..]),
        (json!({ "contentType": "image/png" }), &["size"]),
        (json!({ "size": 1 }), &["contentType"]),
        (json!({ "contentType": "image/png", "size": 0 }), &["size"]),
        (json!({ "contentType": "image/png", "size": "1" }), &["size"]),
        (json!({ "contentType": "image/bmp", "size": 1 }), &["contentType"]),
        (json!({ "contentType": "image/bmp", "size": 10_485_761 }), &["contentType", "size"]),
        (json!({ "contentType": null, "size": null }), &["contentType", "size"]),
    ] {
        let reply = post(&case, body.clone()).await?;
        let named = reply.refused(&body)?.at("/details")?;
        let texts = fields.iter().all(|field| named[*field].is_string());
        let count = named.as_object().map_or(0, serde_json::Map::len);
        let expected = format!("a text for each of {fields:?} in details, after {body}");
        reply.ensure(texts && count == fields.len(), expected, named)?;
    }
    Ok(())
}

async fn unknown_fields(case: Case) -> Result<(), Failure> {
    let body = json!({ "contentType": "image/png", "size": 100, "name": "a.png", "vaultId": -1 });
    post(&case, body).await?.status(201).map(drop)
}

async fn methods(case: Case) -> Result<(), Failure> {
    for method in [Method::GET, Method::PUT, Method::PATCH, Method::DELETE] {
        let reply = case.wire().call(method.clone(), PATH).send().await?;
        reply.accepted(405, format!("{method} {PATH}"))?;
        let allow = reply.headers().get("allow").and_then(|value| value.to_str().ok());
        reply.ensure(allow == Some("POST"), "Allow: POST", format!("{allow:?}"))?;
    }
    Ok(())
}

async fn scope_before_body(case: Case) -> Result<(), Failure> {
    post(&case, json!({ "size": 0 })).await?.status(400)?;
    case.read_only().post(PATH, json!({ "size": 0 })).await?.status(401).map(drop)
}
