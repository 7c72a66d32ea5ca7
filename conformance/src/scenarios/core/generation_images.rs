//! The images on a prompt that a generation saved. A server may show its outputs
//! in another form; then there is nothing here to be wrong.

use super::job::{Job, Outputs, fetch};
use crate::scenarios::answers::shapes::Type;
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    core! { "generations.images.members" ["PR-07", "GE-29"] members,
        "Each entry of images has url, width, height and createdAt of their types" },
    core! { "generations.images.everywhere" ["PR-06", "PR-30", "GE-29"] everywhere,
        "A prompt shows the same images alone, in the list and in the vault's listing" },
    core! { "generations.images.fetched" ["GE-29", "GE-32"] fetched,
        "Every image is there at its address, for everybody or for those who may see it" },
    core! { "generations.images.distinct" ["GE-30"] distinct,
        "Every output of a batch has an address of its own" },
    core! { "generations.images.unlinked" ["PR-43", "GE-29"] unlinked,
        "A deleted prompt takes its images from the vault and the list" },
];

/// A job that has saved two outputs, and these.
pub(crate) async fn two(case: &Case) -> Result<(Job, Outputs)> {
    let job = Job::finish(case, json!({ "batchCount": 2 })).await?;
    let saved = job.outputs().await?.any()?;
    Ok((job, saved))
}

/// The outputs, which are entries of `images`; a server may show them elsewhere (S-39).
fn in_images(saved: Outputs) -> Result<Outputs> {
    if saved.images().is_empty() {
        return Err(Failure::skipped("the outputs are not in images, so no entry can be seen"));
    }
    Ok(saved)
}

pub(crate) async fn delete_prompts(case: &Case, saved: &Outputs) -> Result {
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
    for (prompt, path) in saved.prompts.iter().zip(saved.paths()) {
        let expected = unsigned(&prompt["images"]);
        let alone = case.wire().get(&path).await?;
        let alone = &alone.data(200)?["images"];
        check::equal("images of the prompt alone", &unsigned(alone), &expected)?;
        let id = prompt["id"].as_i64().unwrap_or_default();
        let page = pages.iter().find(|page| page.ids.contains(&id));
        let page =
            page.ok_or_else(|| saved.listing.failure("the prompt in the list too", "it is not"))?;
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
