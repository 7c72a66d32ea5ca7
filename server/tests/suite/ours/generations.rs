//! Generations at the points where the specification is silent: requests, images and vaults.

use super::prompts::ANY_SCHEME;
use crate::prelude::*;
use promptarium_conformance::scenarios::core::generation_output::{delete_prompts, two};
use promptarium_conformance::scenarios::core::generations::accepted;
use promptarium_conformance::scenarios::core::vault_object::general as general_vault;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "generations.images.kept" ["S-06"] kept,
        "An update of the prompt leaves its images, and after its deletion their files remain" },
    scenario! { "generations.images.forked" ["S-22"] [OtherAccount] forked,
        "A fork copies the images of the prompts" },
    scenario! { "generations.inputs.completed" ["S-38"] from_images,
        "A generation from uploaded images is completed; with one never uploaded it is 502" },
    scenario! { "generations.inputs.upload-url" ["UP-17", "GE-15", "GE-16", "GE-23"] upload_url,
        "uploadUrl is refused as an input image; details name the field, without the address" },
    scenario! { "generations.urls.any-scheme" ["S-11"] |case| accepted(case, any_scheme()),
        "A URI may have any scheme and 2048 characters, and entries may repeat" },
    scenario! { "generations.texts.empty" ["S-36", "S-37", "S-38"] empty,
        "An empty prompt, modelId, imageEditEndpointId and clientJobId is 400 naming it" },
    scenario! { "generations.texts.blank" ["GE-08", "GE-13"]
        |case| accepted(case, [json!({ "negativePrompt": "" }), json!({ "prompt": " " })].map(failing).into()),
        "Texts are not trimmed: one space is a prompt, and a negativePrompt may be empty" },
    scenario! { "generations.limits.chosen" ["S-11", "S-36", "S-38"] chosen,
        "Ids, addresses, ratio and parameters are accepted up to our bounds, and no further" },
    scenario! { "generations.vault.status-general" ["S-34"] status_general,
        "The status names General if no vault was named, and the output is in it alone" },
    scenario! { "generations.vault.deleted" ["S-41"] deleted,
        "The output of a job whose vault is deleted goes to General, or stays in the account" },
];

async fn kept(case: Case) -> Result {
    let saved = two(&case).await?.1;
    let prompt = saved.one()?;
    let path = format!("/prompts/{}", prompt["id"]);
    let title = case.name("renamed");
    let changes = json!({ "title": title, "promptType": "text", "imageUrl": "https://e.example/" });
    let changed = case.wire().patch(&path, changes).await?;
    changed.status(200)?.equals("/data/images", prompt["images"].clone())?;
    delete_prompts(&case, &saved).await?;
    for url in saved.counts(2)?.urls() {
        fetch(&case, url).await?.status(200)?;
    }
    Ok(())
}

async fn forked(case: Case) -> Result {
    let (job, saved) = two(&case).await?;
    let vault = job.own_vault()?;
    vault.update(json!({ "visibility": "public" })).await?.status(200)?;
    let (fork, _) = case.other_account().fork_of(&vault).await?;
    let expected = &saved.one()?["images"];
    let copied = async || {
        let copies = Outputs::in_vault(&fork).await?;
        check::equal("images of the copy", &copies.one()?["images"], expected)
    };
    copied().await?;
    delete_prompts(&case, &saved).await?;
    copied().await
}

async fn empty(case: Case) -> Result {
    for field in ["prompt", "modelId", "imageEditEndpointId", "clientJobId"] {
        refused(&case, field, json!({ field: "" })).await?;
    }
    Ok(())
}

async fn from_images(case: Case) -> Result {
    let urls = uploaded_urls(&case, 2).await?;
    for fields in [
        json!({ "imageInput": urls[0] }),
        json!({ "imageInputs": urls }),
        json!({ "referenceImageUrls": urls }),
        json!({ "imageInput": urls[0], "imageInputs": urls, "referenceImageUrls": urls }),
    ] {
        Job::finish(&case, fields).await?;
    }
    let (slot, id) = (Slot::for_png(&case, 100).await?, own_id(&case));
    send(&case, json!({ "imageInput": slot.url, "clientJobId": id })).await?.status(502)?;
    let shown = status(&case.wire(), &id).await?;
    shown.has_status(404, "the status of a job that was refused").map(drop)
}

async fn upload_url(case: Case) -> Result {
    let slot = Slot::for_png(&case, 100).await?;
    let url = &slot.upload_url;
    for (field, value) in [
        ("imageInput", json!(url)),
        ("imageInputs", json!([url])),
        ("referenceImageUrls", json!([slot.url, url])),
    ] {
        let reply = refused(&case, field, json!({ field: value })).await?;
        slot.is_not_in(&reply)?;
    }
    Ok(())
}

fn any_scheme() -> Vec<Value> {
    let long = format!("{:a<2048}", "https://example.com/");
    let fields = |url: &str| {
        let twice = json!([url, url]);
        failing(json!({ "imageInput": url, "imageInputs": twice, "referenceImageUrls": twice }))
    };
    ANY_SCHEME.split(' ').chain([&*long]).map(fields).collect()
}

/// A field, its bound, and a value of a given size, made from a text that no other case uses.
type Bound = (&'static str, usize, fn(usize, &str) -> Value);

#[rustfmt::skip]
const CHOSEN: [Bound; 9] = [
    ("clientJobId", 256, |count, own| filled(own, count)),
    ("modelId", 256, |count, _| filled("local/", count)),
    ("imageEditEndpointId", 256, |count, _| filled("local/", count)),
    ("aspectRatio", 64, |count, _| filled("1:1.", count)),
    ("imageInput", 2_048, |count, _| filled("https://example.com/", count)),
    ("referenceImageUrls", 2_048, |count, _| json!([filled("https://example.com/", count)])),
    // Bytes of JSON, values, levels.
    ("parameters", 262_144, |count, _| json!({ "a": filled("", count - 8) })),
    ("parameters", 10_000, |count, _| json!({ "a": vec![0; count - 2] })),
    ("parameters", 64, |count, _| json!({ "a": (2..count).fold(json!([]), |inner, _| json!([inner])) })),
];

fn filled(beginning: &str, count: usize) -> Value {
    Value::from(format!("{beginning}{}", "0".repeat(count - beginning.chars().count())))
}

async fn chosen(case: Case) -> Result {
    for (field, most, value) in CHOSEN {
        let value = |count| value(count, &own_id(&case));
        let last = send(&case, json!({ field: value(most) })).await?;
        last.has_status(202, format!("{field} with the bound {most}"))?;
        refused(&case, field, json!({ field: value(most + 1) })).await?;
    }
    // URL libraries remove such segments of a path.
    for id in [".", ".."] {
        refused(&case, "clientJobId", json!({ "clientJobId": id })).await?;
    }
    Ok(())
}

async fn output_is_in(case: &Case, job: &Job, vaults: &[i64]) -> Result {
    let prompt = job.wait_completed().await?.integer("/data/promptId")?;
    let of_output = vault_ids(&case.prompt_at(prompt).get().await?)?;
    check::equal("the vaults of the output", &of_output[..], vaults)
}

async fn status_general(case: Case) -> Result {
    let general = general_vault(&case).await?.id;
    for fields in [json!({}), json!({ "vaultId": general })] {
        let job = Job::submit(&case, body(&case, fields)).await?;
        job.status().await?.status(200)?.equals("/data/vaultId", general)?;
        output_is_in(&case, &job, &[general]).await?;
    }
    Ok(())
}

async fn deleted(case: Case) -> Result {
    let job = Job::queue(&case, slow(1.0)).await?;
    job.own_vault()?.delete().await?.status(200)?;
    job.wait_completed().await?;
    output_is_in(&case, &job, &[general_vault(&case).await?.id]).await?;
    let job = Job::queue(&case, json!({})).await?;
    let prompt = job.wait_completed().await?.at("/data/promptId")?.clone();
    job.own_vault()?.delete().await?.status(200)?;
    output_is_in(&case, &job, &[]).await?;
    job.status().await?.status(200)?.equals("/data/promptId", prompt).map(drop)
}
