//! `POST /prompts`, and what its fields take on an update too: defaults, texts and addresses.
//! Models and vaults have files of their own, the bounds of all fields are in `fields`.

use super::{both_accepted, both_name_field, created_with};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.create.twice" ["PR-19", "PR-01"] twice,
        "Two creates with the same body make two prompts" },
    core! { "prompts.create.type-default" ["PR-21"]
        |case| shown(case, json!({}), "promptType", json!("text")),
        "A prompt that was made without promptType is a text prompt" },
    core! { "prompts.create.platform" ["PR-23"] platform,
        "A new prompt shows the platform it was made with" },
    core! { "prompts.urls.image" ["PR-28"]
        |case| created_with(case, GOOD.map(|url| json!({ "imageUrl": url }))),
        "A create takes an imageUrl that is a URL" },
    core! { "prompts.urls.references" ["PR-29"]
        |case| created_with(case, SEVERAL.map(|urls| json!({ "referenceMediaUrls": urls }))),
        "A create takes referenceMediaUrls, of several URIs or none" },
    core! { "prompts.urls.references-replaced" ["PR-39"] references_replaced,
        "An update replaces the referenceMediaUrls: ten new ones fit where ten were" },
    reference! { "prompts.urls.any-scheme" ["PR-28", "PR-29"] ("S-11") any_scheme,
        "A URL may have any scheme and 2048 characters, not 2049, and entries may repeat" },
    reference! { "prompts.text.any-platform" ["PR-04", "PR-23", "PR-33"] ("S-09") any_platform,
        "Any text up to 200 characters is a platform; without one, or after null, it is null" },
];

const GOOD: [&str; 4] = [
    "https://example.com/a.png",
    "http://example.com",
    "https://user@example.com:8443/a%20b.png?size=1&x=%C3%A9#part",
    "https://192.0.2.1/a.webp",
];

const SEVERAL: [&[&str]; 3] = [&GOOD, &["https://example.com/a.png"], &[]];

async fn twice(case: Case) -> Result {
    let body = json!({ "title": case.name("twice"), "prompt": "The same words" });
    let first = case.wire().post("/prompts", body.clone()).await?;
    let second = case.wire().post("/prompts", body).await?;
    let first = first.status(201)?.integer("/data/id")?;
    let id = second.status(201)?.integer("/data/id")?;
    second.ensure(first != id, "another id", id).map(drop)
}

/// The answer to a create with these fields shows this value.
async fn shown(case: Case, fields: Value, field: &str, value: Value) -> Result {
    let (_, created) = case.prompt_with(fields).await?;
    created.equals(&format!("/data/{field}"), value).map(drop)
}

async fn platform(case: Case) -> Result {
    for platform in ["poster", "Midjourney v7", "социальные сети"] {
        let (prompt, created) = case.prompt_with(json!({ "platform": platform })).await?;
        for reply in [created, prompt.get().await?] {
            reply.equals("/data/platform", platform)?;
        }
    }
    Ok(())
}

async fn references_replaced(case: Case) -> Result {
    let ten = |round: usize| {
        let urls = (0..10).map(|n| format!("https://example.com/{round}/{n}.png"));
        json!({ "referenceMediaUrls": urls.collect::<Vec<_>>() })
    };
    let (prompt, _) = case.prompt_with(ten(0)).await?;
    for round in 1..=3 {
        prompt.update(ten(round)).await?.success()?;
    }
    Ok(())
}

async fn any_scheme(case: Case) -> Result {
    let of_length = |length| format!("{:a<length$}", "https://example.com/");
    let long = of_length(2048);
    for url in [
        "s3://bucket/key.png",
        "urn:isbn:9780141036144",
        "data:image/png;base64,AAAA",
        "ftp://example.com/a.png",
        "https://例え.example/画像.png",
        &long,
    ] {
        both_accepted(&case, json!({ "imageUrl": url })).await?;
        both_accepted(&case, json!({ "referenceMediaUrls": [url, url, GOOD[0]] })).await?;
    }
    let url = of_length(2049);
    both_name_field(&case, "imageUrl", json!({ "imageUrl": url })).await?;
    both_name_field(&case, "referenceMediaUrls", json!({ "referenceMediaUrls": [url] })).await
}

async fn any_platform(case: Case) -> Result {
    for fields in [json!({}), json!({ "platform": null })] {
        shown(case.clone(), fields, "platform", Value::Null).await?;
    }
    for platform in ["", " ", "漢字 😀", &"😀".repeat(200)] {
        for reply in both_accepted(&case, json!({ "platform": platform })).await? {
            reply.equals("/data/platform", platform)?;
        }
    }
    both_name_field(&case, "platform", json!({ "platform": "p".repeat(201) })).await?;
    let (prompt, _) = case.prompt_with(json!({ "platform": "poster" })).await?;
    for _ in 0..2 {
        let reply = prompt.update(json!({ "platform": null })).await?;
        reply.success()?.equals("/data/platform", Value::Null)?;
    }
    prompt.get().await?.equals("/data/platform", Value::Null).map(drop)
}
