//! Jobs of two accounts beside each other.

use serde_json::json;

use super::job::{finished, idle, own_id, queue, status};
use super::saved::Saved;
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "generations.isolation.status" ["GE-31"] [OtherAccount] other_status,
        "The status of a job is not shown to another account" },
    core! { "generations.isolation.output" ["ER-10", "GE-29"] [OtherAccount] output,
        "The output of a job belongs to the caller: another account does not find it" },
    reference! { "generations.isolation.status-404"
        ["GE-31"] [OtherAccount, LocalProvider] status_404,
        "Another account's job is 404 in the words for a job that is not there (S-35)" },
];

async fn other_status(case: Case) -> Result<(), Failure> {
    let job = queue(&case, json!({})).await?;
    status(&case.other(), &job.id).await?.is_client_error("the status of another's job")?;
    Ok(())
}

async fn output(case: Case) -> Result<(), Failure> {
    let job = finished(&case, json!({})).await?;
    for prompt in Saved::in_vault(&case.wire(), job.vault).await?.prompts {
        let path = format!("/prompts/{}", prompt["id"]);
        case.wire().get(&path).await?.status(200)?;
        case.other().get(&path).await?.status(404)?;
    }
    Ok(())
}

async fn status_404(case: Case) -> Result<(), Failure> {
    let job = queue(&case, idle(json!({ "clientJobId": own_id(&case) }))).await?;
    let foreign = status(&case.other(), &job.id).await?;
    let unknown = status(&case.other(), &own_id(&case)).await?;
    let words = unknown.status(404)?.string("/error")?;
    foreign.status(404)?.equals("/error", words)?.equals("/details", json!({})).map(drop)
}
