//! The end of a job whose model works, its outputs, and their images on a prompt. A server may show its
//! outputs in another form; then scenarios about images are skipped.

use crate::scenarios::answers::shapes::{MEMBER, PROMPT};
use crate::scenarios::shared::prelude::*;

#[rustfmt::skip]
pub const ALL: &[Scenario] = &[
    scenario! { "generations.images.members" ["PR-07", "GE-29"] members,
        "A prompt with an output has every field of a prompt and of an image, of their types" },
    scenario! { "generations.images.everywhere" ["PR-06", "PR-30", "GE-29"] everywhere,
        "A prompt with an output is the same alone, in the lists and in the vault's listing" },
    scenario! { "generations.images.fetched" ["GE-29", "GE-32"] fetched,
        "Every image is there at its address, for everybody or for those who may see it" },
    scenario! { "generations.images.distinct" ["GE-30"] distinct,
        "Every output of a batch has an address of its own" },
    scenario! { "generations.images.unlinked" ["PR-43", "GE-29"] unlinked,
        "A deleted prompt takes its images from the vault and the list" },
    scenario! { "generations.output.there-at-once" ["GE-26", "GE-28", "GE-29", "GE-32"]
there_at_once,
        "The job of a model that works becomes completed, and then the output is in the vault" },
    scenario! { "generations.output.said-completed" ["GE-28", "GE-32"] said_completed,
        "A job whose output is in the vault says that it is completed" },
    scenario! { "generations.output.type-default" ["GE-09"] type_default,
        "Without generationType the output is as for image" },
    scenario! { "generations.output.ratio-default" ["GE-17"] ratio_default,
        "Without aspectRatio the images have the proportions of 1:1" },
    scenario! { "generations.output.by-itself" ["GE-26", "GE-27", "GE-29"] by_itself,
        "The output appears in the vault without a further call on the job" },
    scenario! { "generations.output.batch" ["GE-19", "GE-30"] batch,
        "A batchCount of n yields n outputs" },
    scenario! { "generations.output.one-by-default" ["GE-19"]
        |case| async move { Job::finish(&case, json!({})).await?.outputs().await?.counts(1).map(drop) },
        "Without batchCount there is one output" },
    scenario! { "generations.output.once" ["GE-29", "GE-30"] once,
        "Outputs are saved once; their number does not grow later" },
    scenario! { "generations.output.negative-prompt" ["GE-13", "GE-14"]
        |case| async move {
            // A model that does not support it ignores it.
            Job::finish(&case, json!({ "negativePrompt": "people, text" })).await.map(drop)
        },
        "A generation with a negativePrompt is completed" },
];

pub async fn two(case: &Case) -> Result<(Job, Outputs)> {
    let job = Job::finish(case, json!({ "batchCount": 2 })).await?;
    let saved = job.outputs().await?.any()?;
    Ok((job, saved))
}

/// The outputs, if they are entries of `images`; a server may show them elsewhere (S-39).
fn in_images(saved: Outputs) -> Result<Outputs> {
    let reason = "the outputs are not in images, so no entry can be seen";
    skip_unless(!saved.images().is_empty(), reason)?;
    Ok(saved)
}

pub async fn delete_prompts(case: &Case, saved: &Outputs) -> Result {
    for path in saved.paths() {
        case.wire().delete(&path).await?.status(200)?;
    }
    Ok(())
}

async fn members(case: Case) -> Result {
    let saved = two(&case).await?.1;
    let of = |prompt| {
        PROMPT.iter().chain(MEMBER).try_for_each(|field| field.is_in(prompt, &saved.listing))
    };
    saved.prompts.iter().try_for_each(of)
}

async fn everywhere(case: Case) -> Result {
    let (job, saved) = two(&case).await?;
    let pages = job.own_vault()?.list().walk().await?.pages;
    case.list().find(&case, pages.iter().flat_map(|page| page.ids.clone())).await?;
    for (prompt, path) in saved.prompts.iter().zip(saved.paths()) {
        let expected = as_prompt(prompt);
        let alone = case.wire().get(&path).await?;
        check::equal("the prompt alone", &as_prompt(alone.data(200)?), &expected)?;
        let id = prompt["id"].as_i64().unwrap_or_default();
        let missing = || saved.listing.failure("the prompt in the list", "it is not");
        let page = pages.iter().find(|page| page.ids.contains(&id)).ok_or_else(missing)?;
        check::equal("the prompt in the list", &as_prompt(&page.reply.entry(id)?), &expected)?;
        let kind = prompt["promptType"].as_str().unwrap_or_default();
        job.own_vault()?.list().with("type", kind).walk().await?.expect_once([id])?;
    }
    job.own_vault()?.counts_what_it_lists().await.map(drop)
}

/// What only calls change of a prompt, wherever it is shown, and its images.
fn as_prompt(prompt: &Value) -> (Value, BTreeSet<String>) {
    let fields = merged(prompt.clone(), json!({ "vaultPromptId": 0, "isPinned": false }));
    (check::stable_fields(&fields), unsigned(&prompt["images"]))
}

/// The sizes and addresses of images, without the queries of the addresses, which may be signed
/// anew for every response (S-77).
fn unsigned(images: &Value) -> BTreeSet<String> {
    let unsigned = |image: &Value| {
        let url = image["url"].as_str().and_then(|url| url.split('?').next());
        json!([image["width"], image["height"], url]).to_string()
    };
    images.as_array().into_iter().flatten().map(unsigned).collect()
}

async fn fetched(case: Case) -> Result {
    for url in in_images(two(&case).await?.1)?.urls() {
        let file = fetch(&case, url).await?;
        let empty = file.body().is_empty() && file.status_code() == 200;
        file.ensure(!empty, "a file that is not empty", "no bytes")?;
    }
    Ok(())
}

async fn distinct(case: Case) -> Result {
    let saved = Job::finish(&case, json!({ "batchCount": 4 })).await?.outputs().await?;
    saved.counts(4)?;
    let saved = in_images(saved)?;
    check::distinct("addresses", saved.urls())
}

async fn unlinked(case: Case) -> Result {
    let (job, saved) = two(&case).await?;
    delete_prompts(&case, &saved).await?;
    job.outputs().await?.counts(0)?;
    let left = job.own_vault()?.list().walk().await?.ids();
    check::equal("what is left in the list", &left, &vec![])
}

/// Of a short text and of a long one: whatever the output is called, it is a prompt.
async fn there_at_once(case: Case) -> Result {
    let long = case.name("long") + &"漢".repeat(300);
    for fields in [json!({}), json!({ "prompt": long })] {
        let job = Job::finish_input(&case, fields).await?;
        let saved = job.outputs().await?.any()?;
        for prompt in &saved.prompts {
            for (field, most) in [("title", 120), ("prompt", 15_000)] {
                let count = prompt[field].as_str().map_or(0, |text| text.chars().count());
                let what = format!("a {field} of 1 to {most} characters");
                saved.listing.ensure((1..=most).contains(&count), what, count)?;
            }
        }
        job.own_vault()?.counts_what_it_lists().await?;
    }
    Ok(())
}

async fn by_itself(case: Case) -> Result {
    let job = &Job::queue(&case, json!({})).await?;
    within_a_jobs_time(&case, "an output to be in the vault", || job.is_saved()).await
}

/// It finds targets whose jobs never end by their status, so it does not ask the preflight.
async fn said_completed(case: Case) -> Result {
    const SAVED: Duration = Duration::from_secs(20);
    const SAID: Duration = Duration::from_secs(10);
    let job = &Job::queue(&case, json!({})).await?;
    if let Err(failure) = case.until("an output in the vault", SAVED, || job.is_saved()).await {
        let reason = "no output was saved in time, so there is no end to see";
        return Err(if failure.exchange.is_some() { failure } else { Failure::skipped(reason) });
    }
    let said = || async move {
        let reply = job.status().await?;
        Ok((state(reply.status(200)?).as_deref() == Some("completed")).then_some(()))
    };
    case.until("the status of a job with an output to be completed", SAID, said).await
}

/// The outputs of two jobs, the first one without the field and the second one with its default.
async fn with_default(case: &Case, fields: Value) -> Result<[Outputs; 2]> {
    let plain = Job::finish(case, json!({})).await?;
    let named = Job::finish(case, fields).await?;
    Ok([plain.outputs().await?, named.outputs().await?])
}

async fn type_default(case: Case) -> Result {
    let made = with_default(&case, json!({ "generationType": "image" })).await?;
    let [got, expected] = made.map(|outputs| {
        BTreeSet::from_iter(outputs.prompts.iter().map(|prompt| prompt["promptType"].to_string()))
    });
    check::equal("promptType of the output", &got, &expected)
}

async fn ratio_default(case: Case) -> Result {
    let made = with_default(&case, json!({ "aspectRatio": "1:1" })).await?;
    skip_unless(!made[1].images().is_empty(), "the outputs are not in images with a size")?;
    let [got, expected] = made.map(|outputs| {
        let side = |image: &Value, name| image[name].as_i64();
        let ratio = |image| (side(image, "width")? * 100).checked_div(side(image, "height")?);
        outputs.images().into_iter().map(ratio).collect::<Vec<_>>()
    });
    check::equal("the proportions of the images in percent", &got, &expected)
}

async fn batch(case: Case) -> Result {
    let case = &case;
    let counts = (1..=4).map(|count| async move {
        let job = Job::finish_input(case, json!({ "batchCount": count })).await?;
        job.outputs().await?.counts(count).map(drop)
    });
    try_join_all(counts).await.map(drop)
}

/// Another job of the same request, queued after the end of the first one, gives it time to save
/// more, and is a job of its own.
async fn once(case: Case) -> Result {
    case.waits_for_jobs()?;
    let body = body_for_a_vault(&case, json!({ "batchCount": 2 })).await?;
    for outputs in [2, 4] {
        let job = Job::submit(&case, body.clone()).await?;
        job.wait_completed().await?;
        job.outputs().await?.counts(outputs)?;
    }
    Ok(())
}
