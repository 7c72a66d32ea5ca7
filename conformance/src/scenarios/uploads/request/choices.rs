//! What the reference server makes of requests for a slot where the rules leave
//! it open.

use crate::scenario::reference;
use crate::scenarios::uploads::slot::ask;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(in crate::scenarios::uploads) const ALL: &[Scenario] = &[
    reference! { "uploads.request.exact-content-types" ["LI-15"] exact_content_types,
        "A contentType is written in lower case and without parameters" },
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
