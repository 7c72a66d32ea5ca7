//! A job that fails, in our server (S-40).

use serde_json::json;

use super::job::{ended, finished, idle, queue, status};
use super::saved::Saved;
use crate::scenario::reference;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "generations.failed.state" ["GE-01", "GE-31"] [LocalProvider] failed_state,
        "A job that fails is taken, and then failed with a message (S-40)" },
    reference! { "generations.failed.nothing-saved"
        ["GE-28", "GE-29"] [LocalProvider] nothing_saved,
        "A job that fails saves nothing, and its status names no prompt (S-40)" },
    reference! { "generations.failed.message" ["EN-04", "GE-31"] [LocalProvider] message,
        "The message of a failed job is the provider's, and data of the envelope (S-40)" },
];

async fn failed_state(case: Case) -> Result<(), Failure> {
    let job = queue(&case, idle(json!({}))).await?;
    ended(&case, &case.wire(), &job.id).await?.equals("/data/status", "failed").map(drop)
}

async fn nothing_saved(case: Case) -> Result<(), Failure> {
    let job = queue(&case, idle(json!({ "batchCount": 4 }))).await?;
    let last = ended(&case, &case.wire(), &job.id).await?;
    last.equals("/data/promptId", json!(null))?;
    // Another job gives it time to save something after all.
    finished(&case, json!({})).await?;
    Saved::in_vault(&case.wire(), job.vault).await?.counts(0).map(drop)
}

async fn message(case: Case) -> Result<(), Failure> {
    let job = queue(&case, idle(json!({}))).await?;
    ended(&case, &case.wire(), &job.id).await?;
    let reply = status(&case.wire(), &job.id).await?;
    let text = reply.status(200)?.equals("/error", json!(null))?.string("/data/error")?;
    reply.ensure(text.contains("local/fail"), "the provider's message", text).map(drop)
}
