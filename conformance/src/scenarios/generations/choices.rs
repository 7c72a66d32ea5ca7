//! Texts that may or may not be empty (S-37, S-38).

use serde_json::json;

use super::job::{idle, queue, send};
use crate::scenario::reference;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "generations.texts.empty-prompt" ["GE-08", "ER-03"] empty_prompt,
        "An empty prompt is 400 naming it (S-37)" },
    reference! { "generations.texts.empty-negative-prompt"
        ["GE-13"] [LocalProvider] empty_negative_prompt,
        "An empty negativePrompt is accepted (S-37)" },
    reference! { "generations.texts.empty-models" ["GE-07", "GE-24", "ER-03"] empty_models,
        "An empty modelId and an empty imageEditEndpointId are 400 naming them (S-38)" },
    reference! { "generations.texts.blank" ["GE-08"] [LocalProvider] blank,
        "Texts are not trimmed: one space is a prompt (S-66)" },
];

async fn empty_prompt(case: Case) -> Result<(), Failure> {
    let reply = send(&case, json!({ "prompt": "" })).await?;
    reply.refused("an empty prompt")?.string("/details/prompt").map(drop)
}

async fn empty_negative_prompt(case: Case) -> Result<(), Failure> {
    queue(&case, idle(json!({ "negativePrompt": "" }))).await.map(drop)
}

async fn empty_models(case: Case) -> Result<(), Failure> {
    for field in ["modelId", "imageEditEndpointId"] {
        let reply = send(&case, json!({ field: "" })).await?;
        reply.refused(format!("an empty {field}"))?.string(&format!("/details/{field}"))?;
    }
    Ok(())
}

async fn blank(case: Case) -> Result<(), Failure> {
    queue(&case, idle(json!({ "prompt": " " }))).await.map(drop)
}
