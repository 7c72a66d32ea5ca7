//! The prompt that a job saves in the vault of our server (S-39).

use http::header::CONTENT_TYPE;

use super::job::{Job, PLASMA_VIDEO};
use super::outputs::{Outputs, fetch, size};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "generations.shape.one-prompt" ["GE-29", "GE-30"] ("S-39")
        [LocalProvider] one_prompt,
        "A job makes one prompt with one image for each output, and the status names it" },
    reference! { "generations.shape.type" ["GE-09", "GE-29"] ("S-39") [LocalProvider] kind,
        "The prompt has the type of the generation, which is image by default" },
    reference! { "generations.shape.texts" ["GE-29"] ("S-39") [LocalProvider] texts,
        "Title and text are the generation's prompt, cut after 120 and 15000 characters" },
    reference! { "generations.shape.space-around" ["GE-29"] ("S-39") [LocalProvider] space_around,
        "White space around the generation's prompt stays in the text and not in the title" },
    reference! { "generations.shape.files" ["PR-07", "GE-09", "GE-29"] ("S-39", "S-45")
        [LocalProvider] files,
        "A picture and a video are files of the shown size with an image's type" },
    reference! { "generations.shape.as-any-prompt"
        ["GE-29", "PR-37", "VC-09"] [LocalProvider] as_any_prompt,
        "The prompt is like any other: active, on top of the vault, not pinned, with its model" },
];

async fn saved(case: &Case, fields: Value) -> Result<Outputs> {
    Job::finish(case, fields).await?.outputs().await
}

async fn one_prompt(case: Case) -> Result {
    for count in 1..=4 {
        let job = Job::finish(&case, json!({ "batchCount": count })).await?;
        let saved = job.outputs().await?;
        let prompt = saved.one()?;
        let images = prompt["images"].as_array().map(Vec::len);
        check::equal("the number of images on the prompt", &images, &Some(count))?;
        job.wait_completed().await?.equals("/data/promptId", prompt["id"].clone())?;
    }
    Ok(())
}

fn video() -> Value {
    json!({ "generationType": "video", "modelId": PLASMA_VIDEO })
}

async fn kind(case: Case) -> Result {
    for (fields, expected) in
        [(json!({}), "image"), (json!({ "generationType": "image" }), "image"), (video(), "video")]
    {
        let saved = saved(&case, fields).await?;
        check::equal("promptType", &saved.one()?["promptType"], &json!(expected))?;
    }
    Ok(())
}

async fn texts(case: Case) -> Result {
    let first = |text: &str, count: usize| -> String { text.chars().take(count).collect() };
    for (count, letter) in
        [(60, "s"), (120, "漢"), (121, "😀"), (15_000, "é"), (15_001, "é"), (100_000, "漢")]
    {
        let text = first(&(case.name("x") + &letter.repeat(count)), count);
        let saved = saved(&case, json!({ "prompt": text })).await?;
        let prompt = saved.one()?;
        check::equal("the title", &prompt["title"], &json!(first(&text, 120)))?;
        let right = prompt["prompt"] == json!(first(&text, 15_000));
        let length = prompt["prompt"].as_str().map(|text| text.chars().count());
        let got = format!("another text, of {} characters", json_text(&length));
        check::ensure(right, "the first 15000 characters as text", got)?;
    }
    Ok(())
}

async fn space_around(case: Case) -> Result {
    let text = format!(" \n{}\t ", case.name("space around"));
    let saved = saved(&case, json!({ "prompt": text })).await?;
    check::equal("the text", &saved.one()?["prompt"], &json!(text))?;
    check::equal("the title", &saved.one()?["title"], &json!(text.trim()))
}

async fn files(case: Case) -> Result {
    let wide = json!({ "aspectRatio": "16:9", "batchCount": 2 });
    for (fields, expected) in [(wide, "image/png"), (video(), "image/gif")] {
        let saved = saved(&case, fields).await?;
        for image in saved.one()?["images"].as_array().into_iter().flatten() {
            let file = fetch(&case, image["url"].as_str().unwrap_or_default()).await?;
            check::equal("the type of the file", file.header(CONTENT_TYPE), expected)?;
            let shown = image["width"].as_i64().zip(image["height"].as_i64());
            check::equal("the size of the picture", &size(file.body()), &shown)?;
        }
    }
    Ok(())
}

async fn as_any_prompt(case: Case) -> Result {
    let job = Job::finish(&case, json!({})).await?;
    let saved = job.outputs().await?;
    let prompt = saved.one()?;
    for (member, expected) in [
        ("status", json!("active")),
        ("isPinned", json!(false)),
        ("vaultIds", json!([job.vault])),
        ("createdAt", prompt["updatedAt"].clone()),
    ] {
        check::equal(member, &prompt[member], &expected)?;
    }
    // It has a model: its type may change to video without naming one.
    let path = format!("/prompts/{}", prompt["id"]);
    case.wire().patch(&path, json!({ "promptType": "video" })).await?.status(200).map(drop)
}
