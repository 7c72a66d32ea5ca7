//! The end of a job whose model works, its outputs, the vault that they go to, and their images on a
//! prompt. A server may show its outputs in another form; then scenarios about images are skipped.

use crate::case::state;
use crate::scenarios::answers::shapes::Type;
use crate::scenarios::prelude::*;
use crate::scenarios::shared::job::{Job, Outputs, body, fetch, within_a_jobs_time};

#[rustfmt::skip]
pub const ALL: &[Scenario] = &[
    scenario! { "generations.images.members" ["PR-07", "GE-29"] members,
        "Each entry of images has url, width, height and createdAt of their types" },
    scenario! { "generations.images.everywhere" ["PR-06", "PR-30", "GE-29"] everywhere,
        "A prompt shows the same images alone, in the list and in the vault's listing" },
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
    scenario! { "generations.output.negative-prompt" ["GE-13", "GE-14"] negative_prompt,
        "A generation with a negativePrompt is completed" },
    scenario! { "generations.vault.named" ["GE-21", "GE-29"] named,
        "The output goes into the vault that is named and into no other vault of the caller" },
    scenario! { "generations.images.stay" ["PR-32", "PR-06"] images_stay,
        "The images of a generated prompt stay through updates and in another vault" },
    scenario! { last "generations.vault.general" ["GE-22", "VA-12", "VA-09"] general,
        "Without vaultId the output goes into a system vault of the account" },
];

/// A job that has saved two outputs, and these.
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
    let saved = in_images(two(&case).await?.1)?;
    for images in saved.prompts.iter().map(|prompt| &prompt["images"]) {
        saved.listing.ensure(Type::Images.fits(images), Type::Images, images)?;
    }
    Ok(())
}

async fn everywhere(case: Case) -> Result {
    let (job, saved) = two(&case).await?;
    let pages = job.own_vault()?.list().walk().await?.pages;
    let in_vault = pages.iter().flat_map(|page| page.ids.clone());
    case.list().find(&case, in_vault).await?;
    for (prompt, path) in saved.prompts.iter().zip(saved.paths()) {
        let expected = unsigned(&prompt["images"]);
        let alone = case.wire().get(&path).await?;
        let alone = &alone.data(200)?["images"];
        check::equal("images of the prompt alone", &unsigned(alone), &expected)?;
        let id = prompt["id"].as_i64().unwrap_or_default();
        let page = pages.iter().find(|page| page.ids.contains(&id));
        let page =
            page.ok_or_else(|| saved.listing.failure("the prompt in the list", "it is not"))?;
        let listed = &page.reply.entry(id)?["images"];
        check::equal("images in the list", &unsigned(listed), &expected)?;
    }
    Ok(())
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
        let job = completed_input(&case, fields).await?;
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

async fn is_saved(job: &Job) -> Result<Option<()>> {
    Ok((job.outputs().await?.count() > 0).then_some(()))
}

async fn by_itself(case: Case) -> Result {
    let job = &Job::queue(&case, json!({})).await?;
    within_a_jobs_time(&case, "an output to be in the vault", || is_saved(job)).await
}

/// It finds targets whose jobs never end by their status, so it does not ask the preflight.
async fn said_completed(case: Case) -> Result {
    const SAVED: Duration = Duration::from_secs(20);
    const SAID: Duration = Duration::from_secs(10);
    let job = &Job::queue(&case, json!({})).await?;
    if let Err(failure) = case.until("an output in the vault", SAVED, || is_saved(job)).await {
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

/// Another job, queued after the end of the first one, gives it time to save more.
async fn once(case: Case) -> Result {
    let job = Job::finish(&case, json!({ "batchCount": 2 })).await?;
    Job::finish(&case, json!({})).await?;
    job.wait_completed().await?;
    job.outputs().await?.counts(2).map(drop)
}

async fn negative_prompt(case: Case) -> Result {
    // A model that does not support it ignores it.
    Job::finish(&case, json!({ "negativePrompt": "people, text" })).await.map(drop)
}

async fn named(case: Case) -> Result {
    let other = case.vault().await?;
    let (public, _) = case.vault_with(json!({ "visibility": "public" })).await?;
    let of_public = body(&case, json!({ "vaultId": public.id }));
    Job::submit(&case, of_public).await?.wait_completed().await?.success()?;
    Outputs::in_vault(&public).await?.any()?;
    let job = Job::finish(&case, json!({})).await?;
    let named = json!([job.own_vault()?.id]);
    let outputs = job.outputs().await?.any()?;
    for prompt in &outputs.prompts {
        let vaults = &prompt["vaultIds"];
        outputs.listing.ensure(*vaults == named, format!("vaultIds {named}"), vaults)?;
    }
    Outputs::in_vault(&other).await?.counts(0).map(drop)
}

async fn images_stay(case: Case) -> Result {
    let outputs = Job::finish(&case, json!({ "batchCount": 2 })).await?.outputs().await?.any()?;
    let of = |prompt: &&Value| prompt["images"].as_array().is_some_and(|images| !images.is_empty());
    let Some(found) = outputs.prompts.iter().find(of) else {
        return Err(Failure::skipped("this server shows its outputs otherwise (S-39)"));
    };
    case.prompt_with(json!({})).await?.1.equals("/data/images", json!([]))?;
    let images = found["images"].as_array().map_or(0, Vec::len);
    let prompt = case.prompt_at(found["id"].as_i64().unwrap_or_default());
    let other = case.vault().await?;
    for fields in [json!({ "title": "New" }), json!({ "platform": "new" }), json!({})] {
        prompt.update(fields).await?.success()?;
        let now = prompt.read().await?.array("/data/images")?.len();
        check::equal("the number of images after an update", &now, &images)?;
    }
    prompt.save_into(&other).await?.success()?;
    let now = other.listing().await?.array("/data/0/images")?.len();
    check::equal("the number of images in another vault", &now, &images)?;
    prompt.expect_vaults([&other], [&other]).await?;
    other.counts_what_it_lists().await?;
    other.delete().await?.success()?;
    let now = prompt.read().await?.array("/data/images")?.len();
    check::equal("the number of images after that vault was deleted", &now, &images)
}

/// Two jobs, since a server may create General for the first.
async fn general(case: Case) -> Result {
    let (wire, newest) = (case.wire(), case.vaults::<2>().await?);
    let mut both: Option<HashSet<i64>> = None;
    for _ in 0..2 {
        let before = in_system_vaults(&wire).await?;
        Job::submit(&case, body(&case, json!({}))).await?.wait_completed().await?;
        let after = in_system_vaults(&wire).await?;
        let new = after.difference(&before).map(|(vault, _)| *vault);
        both = Some(new.filter(|id| both.as_ref().is_none_or(|ids| ids.contains(id))).collect());
    }
    for vault in &newest {
        Outputs::in_vault(vault).await?.counts(0)?;
    }
    let found = both.is_some_and(|vaults| !vaults.is_empty());
    check::ensure(found, "the output of both jobs in one system vault", "none")
}

/// The prompts in all system vaults, each with its vault.
async fn in_system_vaults(wire: &Wire) -> Result<HashSet<(i64, i64)>> {
    let mut found = HashSet::new();
    let vaults = wire.get("/vaults").await?.status(200)?.array("/data")?;
    let system = vaults.iter().filter(|vault| vault["isSystem"] == true);
    for id in system.filter_map(|vault| vault["id"].as_i64()) {
        let prompts = wire.get(&format!("/vaults/{id}/prompts")).await?;
        let prompts = prompts.status(200)?.integers("/data", "id")?;
        found.extend(prompts.into_iter().map(|prompt| (id, prompt)));
    }
    Ok(found)
}
