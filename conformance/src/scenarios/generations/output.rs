//! That a job runs to its end, and how much it then leaves in its vault. How it
//! ends is the provider's: with the models the suite is told of, it succeeds.

use futures::future::try_join_all;
use serde_json::json;

use super::job::{completed, finished, queue, queue_input, within_a_jobs_time};
use super::saved::Saved;
use crate::scenario::core;
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "generations.output.completed" ["GE-26", "GE-28"] becomes_completed,
        "The job of a model that works becomes completed" },
    core! { "generations.output.there-at-once" ["GE-29", "GE-32"] there_at_once,
        "Once the status says completed the output is in the vault" },
    core! { "generations.output.by-itself" ["GE-26", "GE-27", "GE-29"] by_itself,
        "The output appears in the vault without a further call on the job" },
    core! { "generations.output.batch" ["GE-19", "GE-30"] batch,
        "A batchCount of n yields n outputs" },
    core! { "generations.output.one-by-default" ["GE-19"] one_by_default,
        "Without batchCount there is one output" },
    core! { "generations.output.once" ["GE-29", "GE-30"] once,
        "Outputs are saved once: later there are no more of them" },
    core! { "generations.output.negative-prompt" ["GE-13", "GE-14"] negative_prompt,
        "A negativePrompt keeps no generation from being completed" },
];

async fn becomes_completed(case: Case) -> Result<(), Failure> {
    finished(&case, json!({})).await.map(drop)
}

async fn there_at_once(case: Case) -> Result<(), Failure> {
    let job = finished(&case, json!({})).await?;
    let saved = Saved::in_vault(&case.wire(), job.vault).await?;
    check::ensure(saved.count() > 0, "an output in the vault", "none")
}

async fn by_itself(case: Case) -> Result<(), Failure> {
    let (job, wire) = (queue(&case, json!({})).await?, &case.wire());
    let look = || async move {
        let saved = Saved::in_vault(wire, job.vault).await?;
        Ok((saved.count() > 0).then_some(()))
    };
    within_a_jobs_time(&case, "an output to be in the vault", look).await
}

async fn batch(case: Case) -> Result<(), Failure> {
    let counts = (1..=4).map(|count| {
        let case = &case;
        async move {
            let job = queue_input(case, json!({ "batchCount": count })).await?;
            completed(case, &case.wire(), &job.id).await?;
            let saved = Saved::in_vault(&case.wire(), job.vault).await?;
            saved.counts(count).map(drop)
        }
    });
    try_join_all(counts).await.map(drop)
}

async fn one_by_default(case: Case) -> Result<(), Failure> {
    let job = finished(&case, json!({})).await?;
    Saved::in_vault(&case.wire(), job.vault).await?.counts(1).map(drop)
}

/// Later is when another job, queued after the first one's end, is done too.
async fn once(case: Case) -> Result<(), Failure> {
    let job = finished(&case, json!({ "batchCount": 2 })).await?;
    finished(&case, json!({})).await?;
    completed(&case, &case.wire(), &job.id).await?;
    Saved::in_vault(&case.wire(), job.vault).await?.counts(2).map(drop)
}

async fn negative_prompt(case: Case) -> Result<(), Failure> {
    case.waits_for_jobs()?;
    let job = queue_input(&case, json!({ "negativePrompt": "people, text" })).await?;
    completed(&case, &case.wire(), &job.id).await.map(drop)
}
