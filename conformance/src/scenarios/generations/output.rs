//! That a job runs to its end, and how much it then leaves in its vault. How it ends depends on
//! the provider: with the models the suite is told of, it succeeds.

use futures::future::try_join_all;
use serde_json::{Value, json};

use super::job::{Job, within_a_jobs_time};
use crate::scenario::core;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "generations.output.there-at-once" ["GE-26", "GE-28", "GE-29", "GE-32"] there_at_once,
        "The job of a model that works becomes completed, and then the output is in the vault" },
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

async fn there_at_once(case: Case) -> Result<(), Failure> {
    Job::finish(&case, json!({})).await?.outputs().await?.any().map(drop)
}

async fn by_itself(case: Case) -> Result<(), Failure> {
    let job = &Job::queue(&case, json!({})).await?;
    let saved = || async move { Ok((job.outputs().await?.count() > 0).then_some(())) };
    within_a_jobs_time(&case, "an output to be in the vault", saved).await
}

async fn completed_input(case: &Case, fields: Value) -> Result<Job, Failure> {
    case.waits_for_jobs()?;
    let job = Job::queue_input(case, fields).await?;
    job.wait_completed().await?;
    Ok(job)
}

async fn batch(case: Case) -> Result<(), Failure> {
    let case = &case;
    let counts = (1..=4).map(|count| async move {
        let job = completed_input(case, json!({ "batchCount": count })).await?;
        job.outputs().await?.counts(count).map(drop)
    });
    try_join_all(counts).await.map(drop)
}

async fn one_by_default(case: Case) -> Result<(), Failure> {
    Job::finish(&case, json!({})).await?.outputs().await?.counts(1).map(drop)
}

/// Later is when another job, queued after the first one's end, is done too.
async fn once(case: Case) -> Result<(), Failure> {
    let job = Job::finish(&case, json!({ "batchCount": 2 })).await?;
    Job::finish(&case, json!({})).await?;
    job.wait_completed().await?;
    job.outputs().await?.counts(2).map(drop)
}

async fn negative_prompt(case: Case) -> Result<(), Failure> {
    completed_input(&case, json!({ "negativePrompt": "people, text" })).await.map(drop)
}
