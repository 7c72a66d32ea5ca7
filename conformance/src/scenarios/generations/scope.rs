//! Keys that may not queue a generation, and those that may ask for its status.

use http::Method;
use serde_json::json;

use super::job::{body, finished, idle, queue, status};
use super::saved::Saved;
use crate::case::status_path;
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "generations.scope.refused" ["AU-09"] [ReadOnlyKey] refused,
        "A generation without prompts:write is answered 401" },
    core! { "generations.scope.nothing-queued" ["AU-09"] [ReadOnlyKey] nothing_queued,
        "What a key without prompts:write tried to queue leaves no output" },
    core! { "generations.scope.no-key" ["AU-02", "AU-09"] no_key,
        "A generation without a key is answered 401" },
    core! { "generations.scope.status-no-key" ["AU-02", "GE-31"] status_no_key,
        "The status of a job without a key is answered 401" },
    core! { "generations.scope.wrong-key" ["AU-05", "AU-06", "GE-31"] [RevokedKey] wrong_key,
        "Generations and their status are answered 401 for unknown and revoked keys" },
    reference! { "generations.scope.status-read-only"
        ["AU-01", "GE-31"] [ReadOnlyKey, LocalProvider] status_read_only,
        "A key without prompts:write reads the status of the account's jobs (S-50)" },
    reference! { "generations.scope.before-the-body" ["AU-09"] [ReadOnlyKey] before_the_body,
        "The scope is checked before the body (S-56)" },
];

async fn refused(case: Case) -> Result<(), Failure> {
    let reply = case.read_only().post("/generations", body(&case, json!({}))).await?;
    reply.status(401).map(drop)
}

async fn nothing_queued(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire()).await?;
    let fields = json!({ "vaultId": vault });
    case.read_only().post("/generations", body(&case, fields)).await?;
    // A job that was queued all the same would be done before one that is queued now.
    finished(&case, json!({})).await?;
    Saved::in_vault(&case.wire(), vault).await?.counts(0).map(drop)
}

async fn no_key(case: Case) -> Result<(), Failure> {
    let reply = case.anonymous().post("/generations", body(&case, json!({}))).await?;
    reply.status(401).map(drop)
}

async fn status_no_key(case: Case) -> Result<(), Failure> {
    let job = queue(&case, json!({})).await?;
    status(&case.anonymous(), &job.id).await?.status(401).map(drop)
}

async fn wrong_key(case: Case) -> Result<(), Failure> {
    let job = queue(&case, json!({})).await?;
    let (wire, status) = (case.wire(), status_path(&job.id));
    for (method, path) in [(Method::POST, "/generations"), (Method::GET, &status)] {
        let with = |call: crate::wire::Call| match method == Method::POST {
            true => call.json(&body(&case, json!({}))),
            false => call,
        };
        let revoked = with(case.revoked().call(method.clone(), path)).send().await?;
        revoked.accepted(401, format!("a revoked key on {method} {path}"))?;
        let unknown = wire.call(method.clone(), path).header("authorization", "Bearer nobody");
        let unknown = with(unknown).send().await?;
        unknown.accepted(401, format!("an unknown key on {method} {path}"))?;
    }
    Ok(())
}

async fn status_read_only(case: Case) -> Result<(), Failure> {
    let job = queue(&case, idle(json!({}))).await?;
    let reply = status(&case.read_only(), &job.id).await?;
    reply.status(200)?.equals("/data/clientJobId", job.id).map(drop)
}

async fn before_the_body(case: Case) -> Result<(), Failure> {
    let reply = case.read_only().post("/generations", json!({ "prompt": 5 })).await?;
    reply.status(401).map(drop)
}
