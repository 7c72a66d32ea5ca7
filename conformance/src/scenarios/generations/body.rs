//! Fields of the body that are missing, of a wrong type or no value of theirs.

use serde_json::json;

use super::job::queue;
use crate::scenario::core;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "generations.body.default-ratio" ["GE-17"] default_ratio,
        "An aspectRatio of 1:1 is accepted, as is none, since it is the default" },
];

async fn default_ratio(case: Case) -> Result<(), Failure> {
    for fields in [json!({}), json!({ "aspectRatio": "1:1" })] {
        queue(&case, fields).await?;
    }
    Ok(())
}
