//! The prompt that a job saves in the vault of our server (S-39), and what reaches the provider, seen
//! in the built-in one: models, ratios, parameters, the editing model (S-38).

use http::header::CONTENT_TYPE;

use crate::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "generations.shape.one-prompt" ["S-39"] one_prompt,
        "A job makes one prompt with one image for each output, and the status names it" },
    scenario! { "generations.shape.type" ["S-39"] kind,
        "The prompt has the type of the generation, which is image by default" },
    scenario! { "generations.shape.texts" ["S-39"] texts,
        "Title and text are the generation's prompt, cut after 120 and 15000 characters" },
    scenario! { "generations.shape.files" ["S-39", "S-45"] files,
        "A picture and a video are files of the shown size with an image's type" },
    scenario! { "generations.shape.as-any-prompt" ["GE-29", "PR-37", "VC-09"] as_any_prompt,
        "The prompt is like any other: active, on top of the vault, not pinned, with its model" },
    scenario! { "generations.provider.refusal" ["S-36", "S-38"] refusal,
        "What the provider refuses is 502 with its reason, and its id is free for another body" },
    scenario! { "generations.provider.any-model" ["S-38"] any_model,
        "Any modelId and any text as a ratio go to the provider: unknown ones are 502, not 400" },
    scenario! { "generations.provider.ratios" ["S-38"] ratios,
        "The example ratios shape the output; without one it is as wide as high" },
    scenario! { "generations.provider.parameters" ["GE-20"] parameters,
        "Parameters reach the provider: the same seed gives the same picture, another one another" },
    scenario! { "generations.provider.editing-model" ["GE-24"] editing_model,
        "With an imageInput the editing model takes the place of the model" },
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
    let text = format!(" \n{}\t ", case.name("space around"));
    let saved = saved(&case, json!({ "prompt": text })).await?;
    check::equal("the text", &saved.one()?["prompt"], &json!(text))?;
    check::equal("the title", &saved.one()?["title"], &json!(text.trim()))
}

/// Width and height of a PNG or a GIF.
fn size(bytes: &[u8]) -> Option<(i64, i64)> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        let side = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        return Some((side(16)?.into(), side(20)?.into()));
    }
    let gif = bytes.strip_prefix(b"GIF89a")?;
    let side = |at: usize| Some(u16::from_le_bytes(gif.get(at..at + 2)?.try_into().ok()?));
    Some((side(0)?.into(), side(2)?.into()))
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

async fn refusal(case: Case) -> Result {
    let id = own_id(&case);
    let reply = send(&case, json!({ "modelId": REFUSE, "clientJobId": id })).await?;
    let reason = reply.status(502)?.equals("/details", json!({}))?.string("/error")?;
    let expected = "the provider's reason, which names the model";
    reply.ensure(reason.contains(REFUSE), expected, reason)?;
    status(&case.wire(), &id).await?.has_status(404, "the status of a job that was refused")?;
    let other = failing(json!({ "clientJobId": id, "prompt": "another body" }));
    send(&case, other).await?.has_status(202, "another body under the same id").map(drop)
}

/// The provider refuses a generation with each of these values of a field: 502.
async fn any_model(case: Case) -> Result {
    let longest = "9".repeat(64);
    let models = ["nowhere", "elsewhere/model", "local", "local/", " ", "漢"];
    let ratios = ["", "square", "16x9", "0:1", "1:100", &longest];
    for (field, values) in [("modelId", models), ("aspectRatio", ratios)] {
        for value in values {
            let reply = send(&case, json!({ field: value })).await?;
            reply.has_status(502, format!("the {field} {}", json_text(value)))?;
        }
    }
    Ok(())
}

/// Width and height of the one output of a generation with these fields.
async fn sides(case: &Case, fields: Value) -> Result<(i64, i64)> {
    let saved = saved(case, fields).await?;
    let image = saved.images().first().copied();
    let sides = image.and_then(|image| image["width"].as_i64().zip(image["height"].as_i64()));
    let failure = || saved.listing.failure("an image with width and height", json_text(&image));
    sides.ok_or_else(failure)
}

async fn ratios(case: Case) -> Result {
    let ratios = [("1:1", 1, 1), ("9:16", 9, 16), ("16:9", 16, 9), ("4:5", 4, 5), ("3:2", 3, 2)];
    for (ratio, x, y) in ratios {
        let (width, height) = sides(&case, json!({ "aspectRatio": ratio })).await?;
        // As near as whole pixels come.
        let right = (width * y - height * x).abs() <= x.max(y);
        check::ensure(right, &format!("sides of {ratio}"), format!("{width} by {height}"))?;
    }
    let (width, height) = sides(&case, json!({})).await?;
    check::equal("the width", &width, &height)
}

async fn parameters(case: Case) -> Result {
    let prompt = case.name("A harbour");
    let mut pictures = Vec::new();
    for seed in [1, 1, 2] {
        let fields = json!({ "modelId": PLASMA, "prompt": prompt, "parameters": { "seed": seed } });
        let saved = saved(&case, fields).await?;
        let url = saved.urls().first().copied().unwrap_or_default();
        pictures.push(fetch(&case, url).await?.body().clone());
    }
    check::ensure(pictures[0] == pictures[1], "one picture for one seed", "two pictures")?;
    check::ensure(pictures[1] != pictures[2], "another picture for another seed", "the same")
}

async fn editing_model(case: Case) -> Result {
    let input = &uploaded_urls(&case, 1).await?[0];
    let with = |model, editing| json!({ "modelId": model, "imageEditEndpointId": editing, "imageInput": input });
    Job::finish(&case, with(REFUSE, PLASMA)).await?;
    let refused = send(&case, with(PLASMA, REFUSE)).await?;
    refused.has_status(502, "an editing model that accepts no job").map(drop)
}
