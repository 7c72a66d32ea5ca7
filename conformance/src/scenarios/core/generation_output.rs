//! That a job of a model that works runs to its end, how many outputs it leaves, and where they go.

use super::job::{Job, Outputs, body, within_a_jobs_time};
use crate::case::state;
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    core! { "generations.output.there-at-once" ["GE-26", "GE-28", "GE-29", "GE-32"]
        |case| async move { Job::finish(&case, json!({})).await?.outputs().await?.any().map(drop) },
        "The job of a model that works becomes completed, and then the output is in the vault" },
    core! { "generations.output.said-completed" ["GE-28", "GE-32"] said_completed,
        "A job whose output is in the vault says that it is completed" },
    core! { "generations.output.type-default" ["GE-09"] type_default,
        "Without generationType the output is as for image" },
    core! { "generations.output.ratio-default" ["GE-17"] ratio_default,
        "Without aspectRatio the images have the proportions of 1:1" },
    core! { "generations.output.by-itself" ["GE-26", "GE-27", "GE-29"] by_itself,
        "The output appears in the vault without a further call on the job" },
    core! { "generations.output.batch" ["GE-19", "GE-30"] batch,
        "A batchCount of n yields n outputs" },
    core! { "generations.output.one-by-default" ["GE-19"]
        |case| async move { Job::finish(&case, json!({})).await?.outputs().await?.counts(1).map(drop) },
        "Without batchCount there is one output" },
    core! { "generations.output.once" ["GE-29", "GE-30"] once,
        "Outputs are saved once: later there are no more of them" },
    core! { "generations.output.negative-prompt" ["GE-13", "GE-14"] negative_prompt,
        "A negativePrompt keeps no generation from being completed" },
    core! { "generations.vault.named" ["GE-21", "GE-29"] named,
        "The output goes into the vault that is named and into no other vault of the caller" },
    core! { "generations.vault.general" ["GE-22", "VA-12", "VA-09"] general,
        "Without vaultId the output goes into a system vault of the account" },
];

async fn is_saved(job: &Job) -> Result<Option<()>> {
    Ok((job.outputs().await?.count() > 0).then_some(()))
}

async fn by_itself(case: Case) -> Result {
    let job = &Job::queue(&case, json!({})).await?;
    within_a_jobs_time(&case, "an output to be in the vault", || is_saved(job)).await
}

/// What a target whose jobs never end by their word is found by, so it asks for no preflight.
async fn said_completed(case: Case) -> Result {
    const SAVED: Duration = Duration::from_secs(20);
    const SAID: Duration = Duration::from_secs(10);
    let job = &Job::queue(&case, json!({})).await?;
    if let Err(failure) = case.until("an output in the vault", SAVED, || is_saved(job)).await {
        return Err(match failure.exchange {
            Some(_) => failure,
            None => Failure::skipped("no output was saved in time, so there is no end to see"),
        });
    }
    let said = || async move {
        let reply = job.status().await?;
        Ok((state(reply.status(200)?).as_deref() == Some("completed")).then_some(()))
    };
    case.until("the status of a job with an output to be completed", SAID, said).await
}

/// What two jobs have made, the first one without the field and the second one with its default.
async fn with_default(case: &Case, fields: Value) -> Result<[Outputs; 2]> {
    let plain = Job::finish(case, json!({})).await?;
    let named = Job::finish(case, fields).await?;
    Ok([plain.outputs().await?, named.outputs().await?])
}

async fn type_default(case: Case) -> Result {
    let made = with_default(&case, json!({ "generationType": "image" })).await?;
    let [got, expected] = made.map(|outputs| {
        let kinds = outputs.prompts.iter().map(|prompt| prompt["promptType"].to_string());
        kinds.collect::<BTreeSet<_>>()
    });
    check::equal("promptType of the output", &got, &expected)
}

async fn ratio_default(case: Case) -> Result {
    let made = with_default(&case, json!({ "aspectRatio": "1:1" })).await?;
    let [got, expected] = made.map(|outputs| {
        let images = outputs.images().into_iter();
        images.map(|image| (image["width"].as_i64(), image["height"].as_i64())).collect::<Vec<_>>()
    });
    if expected.is_empty() {
        return Err(Failure::skipped("the outputs are not in images, so their size is not shown"));
    }
    let ratio = |size: &(Option<i64>, Option<i64>)| (size.0? * 100).checked_div(size.1?);
    let [got, expected] = [got, expected].map(|sizes| sizes.iter().map(ratio).collect::<Vec<_>>());
    check::equal("the proportions of the images in percent", &got, &expected)
}

async fn completed_input(case: &Case, fields: Value) -> Result<Job> {
    case.waits_for_jobs()?;
    let job = Job::queue_input(case, fields).await?;
    job.wait_completed().await?;
    Ok(job)
}

async fn batch(case: Case) -> Result {
    let case = &case;
    let counts = (1..=4).map(|count| async move {
        let job = completed_input(case, json!({ "batchCount": count })).await?;
        job.outputs().await?.counts(count).map(drop)
    });
    try_join_all(counts).await.map(drop)
}

/// Later is when another job, queued after the first one's end, is done too.
async fn once(case: Case) -> Result {
    let job = Job::finish(&case, json!({ "batchCount": 2 })).await?;
    Job::finish(&case, json!({})).await?;
    job.wait_completed().await?;
    job.outputs().await?.counts(2).map(drop)
}

async fn negative_prompt(case: Case) -> Result {
    completed_input(&case, json!({ "negativePrompt": "people, text" })).await.map(drop)
}

async fn named(case: Case) -> Result {
    let other = case.vault().await?;
    Job::finish(&case, json!({})).await?.outputs().await?.any()?;
    Outputs::in_vault(&other).await?.counts(0).map(drop)
}

/// Two jobs, since a service may make General for the first. Other scenarios use these vaults
/// too, so what is new there may be theirs; the scenario `status-general` looks closer.
pub(crate) async fn general(case: Case) -> Result {
    let wire = case.wire();
    let mut taking: Option<HashSet<i64>> = None;
    for _ in 0..2 {
        let before: HashSet<_> = in_system_vaults(&wire).await?.into_iter().collect();
        Job::submit(&case, body(&case, json!({}))).await?.wait_completed().await?;
        let after = in_system_vaults(&wire).await?;
        let new = after.iter().filter(|place| !before.contains(place)).map(|(vault, _)| *vault);
        taking =
            Some(new.filter(|vault| taking.as_ref().is_none_or(|t| t.contains(vault))).collect());
    }
    let found = taking.is_some_and(|vaults| !vaults.is_empty());
    check::ensure(found, "the output of both jobs in one system vault", "none")
}

/// The prompts in all system vaults, each with its vault.
pub(crate) async fn in_system_vaults(wire: &Wire) -> Result<Vec<(i64, i64)>> {
    let mut found = Vec::new();
    let vaults = wire.get("/vaults").await?.status(200)?.array("/data")?;
    let system = vaults.iter().filter(|vault| vault["isSystem"] == true);
    for id in system.filter_map(|vault| vault["id"].as_i64()) {
        let prompts = wire.get(&format!("/vaults/{id}/prompts")).await?;
        let prompts = prompts.status(200)?.integers("/data", "id")?;
        found.extend(prompts.into_iter().map(|prompt| (id, prompt)));
    }
    Ok(found)
}
