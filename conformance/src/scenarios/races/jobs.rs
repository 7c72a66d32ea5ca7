//! Generations under one clientJobId at the same moment (S-36).

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join_all;
use serde_json::json;

use super::all;
use crate::scenario::reference;
use crate::wire::Reply;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "races.job.same-id" ["GE-11"] [LocalProvider] same_id,
        "Thirty-two equal generations under one clientJobId at once are one job (S-36)" },
    reference! { "races.job.two-bodies" ["GE-11"] [LocalProvider] two_bodies,
        "Of two bodies under one clientJobId at once one is taken, and the other refused each \
         time (S-36)" },
];

async fn order(case: &Case, id: &str, prompt: &str, vault: i64) -> Result<Reply, Failure> {
    let body = json!({
        "modelId": "local/plasma", "prompt": prompt, "clientJobId": id, "vaultId": vault,
    });
    case.wire().under_contention().post("/generations", body).await
}

/// How long a job of the local provider may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How many outputs came of one job, once it has ended.
async fn outputs(case: &Case, id: &str, vault: i64) -> Result<usize, Failure> {
    let (wire, path) = (case.wire().under_contention(), crate::case::status_path(id));
    let ended = || async {
        let reply = wire.get(&path).await?;
        let state = crate::case::state(&reply);
        Ok(state.is_some_and(|state| state == "completed").then_some(()))
    };
    case.until("the job to be completed", TIMEOUT, ended).await?;
    Ok(make::contents(&case.wire().under_contention(), vault).await?.len())
}

async fn same_id(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire().under_contention()).await?;
    let (id, prompt) = (case.name("job"), case.name("same"));
    let replies = all(join_all((0..32).map(|_| order(&case, &id, &prompt, vault))).await)?;
    let mut requests = BTreeSet::new();
    for reply in &replies {
        requests.insert(reply.status(202)?.string("/data/providerRequestId")?);
    }
    check::equal("the number of requests at the provider", &requests.len(), &1)?;
    check::equal("the number of outputs", &outputs(&case, &id, vault).await?, &1)
}

async fn two_bodies(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire().under_contention()).await?;
    let (id, texts) = (case.name("job"), [case.name("one"), case.name("two")]);
    let tries = (0..32).map(|at| order(&case, &id, &texts[at % 2], vault));
    let replies = all(join_all(tries).await)?;
    let taken: BTreeSet<_> =
        (0..32).filter(|at| replies[*at].status_code() == 202).map(|at| at % 2).collect();
    check::equal("the number of bodies that were taken", &taken.len(), &1)?;
    for (at, reply) in replies.iter().enumerate() {
        reply.status(if taken.contains(&(at % 2)) { 202 } else { 400 })?;
    }
    check::equal("the number of outputs", &outputs(&case, &id, vault).await?, &1)
}
