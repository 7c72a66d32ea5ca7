//! Keys that may not queue a generation, and those that may ask for its status.

use serde_json::json;

use super::job::{body, finished, idle, queue, status};
use super::saved::Saved;
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "generations.scope.nothing-queued" ["AU-09"] [ReadOnlyKey] nothing_queued,
        "What a key without prompts:write tried to queue leaves no output" },
    reference! { "generations.scope.status-read-only"
        ["AU-01", "GE-31"] [ReadOnlyKey, LocalProvider] status_read_only,
        "A key without prompts:write reads the status of the account's jobs (S-50)" },
];

async fn nothing_queued(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire()).await?;
    let fields = json!({ "vaultId": vault });
    case.read_only().post("/generations", body(&case, fields)).await?;
    // A job that was queued all the same would be done before one that is queued now.
    finished(&case, json!({})).await?;
    Saved::in_vault(&case.wire(), vault).await?.counts(0).map(drop)
}

async fn status_read_only(case: Case) -> Result<(), Failure> {
    let job = queue(&case, idle(json!({}))).await?;
    let reply = status(&case.read_only(), &job.id).await?;
    reply.status(200)?.equals("/data/clientJobId", job.id).map(drop)
}
