//! Bodies that are not what they should be: other types of content, no JSON,
//! no object, too much (S-67).

use http::Method;
use serde_json::json;

use crate::scenario::{core, reference};
use crate::scenarios::endpoints::{self, Endpoint, Ids};
use crate::{Case, Failure, Scenario, check, make};

use super::error_body;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "errors.body.without-fields" ["ER-04"] without_fields,
        "An empty object is refused with 400, as it lacks required fields; any other body with \
         4xx" },
    reference! { "errors.body.content-type" ["EN-02"] content_type,
        "A body that is not announced as application/json is 415 with the error body (S-67)" },
    reference! { "errors.body.content-type-forms" ["EN-02"] content_type_forms,
        "application/json is taken in any case and with parameters (S-67)" },
    reference! { "errors.body.no-json" ["EN-02", "ER-03"] no_json,
        "An empty body, invalid JSON, invalid UTF-8 and JSON that is no object are 400 naming \
         body (S-67)" },
    reference! { "errors.body.repeated-key" ["EN-02"] repeated_key,
        "Of a key that stands twice in a body the last one counts (S-75)" },
    reference! { "errors.body.unasked" ["VA-29", "VC-25", "VC-26"] unasked,
        "An endpoint without a body ignores what is sent (S-67)" },
    reference! { "errors.body.largest" ["EN-02"] largest,
        "A body of 4 MiB is taken (S-67)" },
    reference! { "errors.body.too-large" ["ER-01"] too_large,
        "A body of more than 4 MiB is 413 with the error body (S-67)" },
];

const MIB: usize = 1024 * 1024;

async fn with_body(case: &Case) -> Result<Vec<Endpoint>, Failure> {
    let ids = Ids::make(case, &case.wire()).await?;
    let mut endpoints = endpoints::all(case, &ids);
    endpoints.retain(|endpoint| endpoint.body.is_some());
    Ok(endpoints)
}

async fn without_fields(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let endpoints = with_body(&case).await?;
    for endpoint in endpoints.iter().filter(|endpoint| endpoint.method == Method::POST) {
        for body in ["{}", "", "[]", "null", "\"text\"", "5", "true"] {
            let call = wire.call(Method::POST, &endpoint.path);
            let reply = call.body("application/json", body).send().await?;
            // Which 4xx refuses a body that is no object is open (S-67).
            let statuses = if body == "{}" { 400..=400 } else { 400..=499 };
            check::with_context(format!("the body {body:?}"), reply.status_in(statuses))?;
        }
    }
    Ok(())
}

async fn content_type(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    for endpoint in with_body(&case).await? {
        let body = endpoint.body.clone().unwrap_or_default().to_string();
        let call = || wire.call(endpoint.method.clone(), &endpoint.path);
        check::with_context(
            "no type",
            call().untyped_body(body.clone()).send().await?.status(415),
        )?;
        check::with_context("no type, no body", call().send().await?.status(415))?;
        for other in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=a",
            "application/jsonp",
            "application/json-patch+json",
            "application/vnd.api+json",
            "text/json",
            "json",
            "",
            "*/*",
            "text/plain; a=application/json",
        ] {
            let reply = call().body(other, body.clone()).send().await?;
            error_body(check::with_context(format!("{other:?}"), reply.status(415))?)?;
        }
    }
    Ok(())
}

async fn content_type_forms(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let prompt = make::prompt(&case, &wire).await?;
    for form in [
        "application/json; charset=utf-8",
        "Application/Json;Charset=UTF-8",
        "APPLICATION/JSON",
        "Application/Json ; a=\"b\"",
    ] {
        let call = wire.call(Method::PATCH, &format!("/prompts/{prompt}"));
        let reply = call.body(form, r#"{"title":"t"}"#).send().await?;
        check::with_context(form, reply.status(200))?;
    }
    Ok(())
}

async fn no_json(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let deep = "[".repeat(100_000);
    let deep_object = r#"{"a":"#.repeat(100_000);
    let bodies: [&[u8]; 20] = [
        b"",
        b"   ",
        b"{",
        b"}",
        b"{\"title\":\"t\"",
        b"{\"title\":}",
        b"{'title':'t'}",
        b"{title:\"t\"}",
        b"{\"title\":\"t\",}",
        b"{\"title\":\"t\"} x",
        b"{\"title\":\"t\"}{}",
        b"{\"title\":\"\xff\"}",
        b"{\"title\":\"\xc3\x28\"}",
        b"{\"title\":\"\xed\xa0\x80\"}",
        b"[]",
        b"null",
        b"\"text\"",
        b"5",
        deep.as_bytes(),
        deep_object.as_bytes(),
    ];
    for endpoint in with_body(&case).await? {
        for body in bodies {
            let call = wire.call(endpoint.method.clone(), &endpoint.path);
            let reply = call.body("application/json", body).send().await?;
            let shown: String = String::from_utf8_lossy(body).chars().take(30).collect();
            let named = || reply.status(400)?.string("/details/body");
            check::with_context(format!("the body {shown:?}"), named())?;
        }
    }
    Ok(())
}

async fn unasked(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let ids = Ids::make(&case, &wire).await?;
    let vault = format!("/vaults/{}", ids.vault);
    wire.patch(&vault, json!({ "visibility": "unlisted" })).await?.status(200)?;
    for endpoint in endpoints::all(&case, &ids) {
        if endpoint.body.is_none() {
            let call = wire.call(endpoint.method.clone(), &endpoint.path);
            let reply = call.body("text/plain", "{\"no\": json").send().await?;
            check::with_context("with a body that was not asked for", reply.status_in(200..=299))?;
        }
    }
    Ok(())
}

/// A body that is right but for its size: spaces follow the object.
fn padded(case: &Case, bytes: usize) -> Vec<u8> {
    let body = json!({ "title": case.name("prompt"), "prompt": "A lighthouse" }).to_string();
    let mut body = body.into_bytes();
    body.resize(bytes, b' ');
    body
}

async fn largest(case: Case) -> Result<(), Failure> {
    let call = case.wire().call(Method::POST, "/prompts");
    let reply = call.body("application/json", padded(&case, 4 * MIB)).send().await?;
    reply.status(201)?;
    Ok(())
}

async fn too_large(case: Case) -> Result<(), Failure> {
    for bytes in [4 * MIB + 1, 5 * MIB] {
        let call = case.wire().call(Method::POST, "/prompts");
        let reply = call.body("application/json", padded(&case, bytes)).send().await?;
        error_body(reply.status(413)?)?;
    }
    Ok(())
}

async fn repeated_key(case: Case) -> Result<(), Failure> {
    let name = case.name("last");
    let body = format!(r#"{{ "name": "", "name": {} }}"#, json!(name));
    let reply =
        case.wire().call(Method::POST, "/vaults").body("application/json", body).send().await?;
    reply.status(201)?.equals("/data/name", name)?;
    let body = r#"{ "name": "first", "name": "" }"#;
    let reply =
        case.wire().call(Method::POST, "/vaults").body("application/json", body).send().await?;
    reply.status(400)?;
    Ok(())
}
