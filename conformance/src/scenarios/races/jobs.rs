//! Generations under one clientJobId at the same moment (S-36).

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;

use crate::case::{state, status_path};
use crate::fixture::{Vault, race};
use crate::scenario::reference;
use crate::wire::ApiResponse;
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "races.job.same-id" ["GE-11"] [LocalProvider] same_id,
        "Thirty-two equal generations under one clientJobId at once are one job (S-36)" },
    reference! { "races.job.two-bodies" ["GE-11"] [LocalProvider] two_bodies,
        "Of two bodies under one clientJobId at once one is taken, and the other refused each \
         time (S-36)" },
];

async fn generate(
    case: &Case,
    id: &str,
    prompt: &str,
    vault: &Vault,
) -> Result<ApiResponse, Failure> {
    let body = json!({
        "modelId": "local/plasma", "prompt": prompt, "clientJobId": id, "vaultId": vault.id,
    });
    case.wire().post("/generations", body).await
}

/// How long a job of the local provider may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Once the job has ended, one output came of it.
async fn expect_one_output(case: &Case, id: &str, vault: &Vault) -> Result<(), Failure> {
    let ended = || async {
        let reply = case.wire().get(&status_path(id)).await?;
        Ok(state(&reply).is_some_and(|state| state == "completed").then_some(()))
    };
    case.until("the job to be completed", TIMEOUT, ended).await?;
    vault.expect_size(1).await
}

async fn same_id(case: Case) -> Result<(), Failure> {
    let case = case.under_contention();
    let (vault, id, prompt) = (case.vault().await?, case.name("job"), case.name("same"));
    let mut requests = BTreeSet::new();
    let replies = race::times(32, || generate(&case, &id, &prompt, &vault)).await?;
    for reply in &replies {
        requests.insert(reply.status(202)?.string("/data/providerRequestId")?);
    }
    check::equal("the number of requests at the provider", &requests.len(), &1)?;
    expect_one_output(&case, &id, &vault).await
}

async fn two_bodies(case: Case) -> Result<(), Failure> {
    let case = case.under_contention();
    let (vault, id) = (case.vault().await?, case.name("job"));
    let texts = [case.name("one"), case.name("two")];
    let calls = (0..32).map(|at| generate(&case, &id, &texts[at % 2], &vault));
    let replies = race::all(calls).await?;
    let taken: BTreeSet<_> =
        (0..32).filter(|at| replies[*at].status_code() == 202).map(|at| at % 2).collect();
    check::equal("the number of bodies that were taken", &taken.len(), &1)?;
    for (at, reply) in replies.iter().enumerate() {
        reply.status(if taken.contains(&(at % 2)) { 202 } else { 400 })?;
    }
    expect_one_output(&case, &id, &vault).await
}
