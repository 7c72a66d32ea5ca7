//! `POST /prompts`, and what its fields take on an update too: defaults, texts and addresses.
//! Models and vaults have files of their own, the bounds of all fields are in `fields`.

use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
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
];

pub(crate) const GOOD: [&str; 4] = [
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
pub(crate) async fn shown(case: Case, fields: Value, field: &str, value: Value) -> Result {
    let (_, created) = case.prompt_with(fields).await?;
    created.equals(&format!("/data/{field}"), value).map(drop)
}

pub(crate) async fn platform(case: Case) -> Result {
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

/// The replies to a create, and to an update of a new text prompt without a model, with the same
/// fields. Most rules about fields hold for both.
pub(crate) async fn create_and_update(case: &Case, fields: Value) -> Result<[ApiResponse; 2]> {
    let created = case.create_prompt(fields.clone()).await?;
    Ok([created, case.prompt().await?.update(fields).await?])
}

pub(crate) async fn created_with<const N: usize>(case: Case, fields: [Value; N]) -> Result {
    for fields in fields {
        case.create_prompt(fields).await?.success()?;
    }
    Ok(())
}
