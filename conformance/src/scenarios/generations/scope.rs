//! Keys that may not queue a generation, and those that may ask for its status.

use serde_json::json;

use super::job::{body, idle, own_id, queue, status};
use super::saved::Saved;
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "generations.scope.nothing-queued" ["AU-09"] [ReadOnlyKey] nothing_queued,
        "What a key without prompts:write tried to queue is no job" },
    reference! { "generations.scope.status-read-only"
        ["AU-01", "GE-31"] [ReadOnlyKey, LocalProvider] status_read_only,
        "A key without prompts:write reads the status of the account's jobs (S-50)" },
];

async fn nothing_queued(case: Case) -> Result<(), Failure> {
    let (id, vault) = (own_id(&case), make::vault(&case, &case.wire()).await?);
    let fields = json!({ "clientJobId": id, "vaultId": vault });
    case.read_only().post("/generations", body(&case, fields)).await?;
    status(&case.wire(), &id).await?.refused_somehow("the status of a refused generation")?;
    Saved::in_vault(&case.wire(), vault).await?.counts(0).map(drop)
}

async fn status_read_only(case: Case) -> Result<(), Failure> {
    let job = queue(&case, idle(json!({}))).await?;
    let reply = status(&case.read_only(), &job.id).await?;
    reply.status(200)?.equals("/data/clientJobId", job.id).map(drop)
}
