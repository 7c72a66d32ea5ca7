//! The request for a slot: its two fields, their bounds, and who may ask.

pub(super) mod choices;

use http::Method;
use serde_json::{Value, json};

use super::pictures::TYPES;
use super::slot::ask;
use crate::scenario::core;
use crate::wire::{Reply, Wire};
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "uploads.request.created" ["UP-01"] created,
        "A request for a slot is answered 201" },
    core! { "uploads.request.content-type-required" ["UP-02"] content_type_required,
        "A request for a slot without contentType is refused with 400" },
    core! { "uploads.request.content-type-string" ["UP-02", "ER-05"] content_type_string,
        "A contentType that is no string is refused with 400" },
    core! { "uploads.request.content-types" ["LI-15"] content_types,
        "A slot is given for PNG, JPEG, WebP and GIF" },
    core! { "uploads.request.other-content-types" ["LI-15"] other_content_types,
        "A slot for any other type is refused with 400" },
    core! { "uploads.request.size-required" ["UP-03"] size_required,
        "A request for a slot without size is refused with 400" },
    core! { "uploads.request.size-integer" ["UP-03", "ER-05"] size_integer,
        "A size that is no integer is refused with 400" },
    core! { "uploads.request.sizes" ["LI-14"] sizes,
        "A slot is given for the smallest and for the largest size" },
    core! { "uploads.request.other-sizes" ["LI-14"] other_sizes,
        "A slot for a size below 1 or above 10485760 is refused with 400" },
    core! { "uploads.request.read-only" ["AU-10"] [ReadOnlyKey] read_only,
        "A key without prompts:write gets no slot, but 401" },
    core! { "uploads.request.no-key" ["AU-02", "AU-10"] no_key,
        "A request for a slot without a key is answered 401" },
    core! { "uploads.request.revoked-key" ["AU-06", "AU-10"] [RevokedKey] revoked_key,
        "A request for a slot with a revoked key is answered 401" },
];

const PATH: &str = "/uploads/images";

async fn post(case: &Case, body: Value) -> Result<Reply, Failure> {
    case.wire().post(PATH, body).await
}

async fn created(case: Case) -> Result<(), Failure> {
    let reply = ask(&case.wire(), "image/png", 100).await?;
    let slot = reply.status(201)?.at("/data")?;
    reply.ensure(slot.is_object(), "a slot in data", slot).map(drop)
}

async fn content_type_required(case: Case) -> Result<(), Failure> {
    post(&case, json!({ "size": 100 })).await?.refused("a request without contentType").map(drop)
}

async fn content_type_string(case: Case) -> Result<(), Failure> {
    for value in [json!(null), json!(1), json!(true), json!(["image/png"]), json!({})] {
        let reply = post(&case, json!({ "contentType": value, "size": 100 })).await?;
        reply.refused(format!("contentType {value}"))?;
    }
    Ok(())
}

async fn content_types(case: Case) -> Result<(), Failure> {
    for content_type in TYPES {
        ask(&case.wire(), content_type, 100).await?.accepted(201, content_type)?;
    }
    Ok(())
}

async fn other_content_types(case: Case) -> Result<(), Failure> {
    for content_type in [
        "image/svg+xml",
        "image/bmp",
        "image/tiff",
        "image/avif",
        "image/heic",
        "image/apng",
        "image/x-icon",
        "image/jpg",
        "image/*",
        "image/",
        "image",
        "png",
        ".png",
        "video/mp4",
        "text/html",
        "application/octet-stream",
        "*/*",
        "",
    ] {
        let reply = ask(&case.wire(), content_type, 100).await?;
        reply.refused(format!("contentType {content_type:?}"))?;
    }
    Ok(())
}

async fn size_required(case: Case) -> Result<(), Failure> {
    let body = json!({ "contentType": "image/png" });
    post(&case, body).await?.refused("a request without size").map(drop)
}

async fn size_integer(case: Case) -> Result<(), Failure> {
    for value in [
        json!(null),
        json!(1.5),
        json!("5"),
        json!("five"),
        json!(""),
        json!(true),
        json!([100]),
        json!({}),
    ] {
        let reply = post(&case, json!({ "contentType": "image/png", "size": value })).await?;
        reply.refused(format!("size {value}"))?;
    }
    Ok(())
}

async fn sizes(case: Case) -> Result<(), Failure> {
    for size in [1, 2, 10_485_759, 10_485_760] {
        ask(&case.wire(), "image/png", size).await?.accepted(201, format!("size {size}"))?;
    }
    Ok(())
}

async fn other_sizes(case: Case) -> Result<(), Failure> {
    for size in [
        "0",
        "-1",
        "-10485760",
        "10485761",
        "2147483648",
        "4294967297",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551617",
        "-9223372036854775808",
    ] {
        raw(&case, size).await?.refused(format!("size {size}"))?;
    }
    Ok(())
}

/// With a size as it is written here.
async fn raw(case: &Case, size: &str) -> Result<Reply, Failure> {
    let body = format!(r#"{{"contentType":"image/png","size":{size}}}"#);
    case.wire().call(Method::POST, PATH).body("application/json", body).send().await
}

async fn read_only(case: Case) -> Result<(), Failure> {
    only_with_a_key(&case, &case.read_only()).await
}

async fn no_key(case: Case) -> Result<(), Failure> {
    only_with_a_key(&case, &case.anonymous()).await
}

async fn revoked_key(case: Case) -> Result<(), Failure> {
    only_with_a_key(&case, &case.revoked()).await
}

/// 401 for `wire`, to what is granted with the target's own key.
async fn only_with_a_key(case: &Case, wire: &Wire) -> Result<(), Failure> {
    ask(&case.wire(), "image/png", 100).await?.status(201)?;
    ask(wire, "image/png", 100).await?.status(401).map(drop)
}
