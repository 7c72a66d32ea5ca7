//! What the reference server makes of requests for a slot where the rules leave
//! it open.

use serde_json::json;

use super::{PATH, post};
use crate::scenario::reference;
use crate::scenarios::uploads::slot::ask;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(in crate::scenarios::uploads) const ALL: &[Scenario] = &[
    reference! { "uploads.request.exact-content-types" ["LI-15"] exact_content_types,
        "A contentType is written in lower case and without parameters" },
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

async fn scope_before_body(case: Case) -> Result<(), Failure> {
    post(&case, json!({ "size": 0 })).await?.status(400)?;
    case.read_only().post(PATH, json!({ "size": 0 })).await?.status(401).map(drop)
}
