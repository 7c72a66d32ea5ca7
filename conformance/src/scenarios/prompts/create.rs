//! `POST /prompts`: its answer, what it cannot do without, its defaults.
//! Models, addresses, vaults and lengths have files of their own.

use serde_json::json;

use super::created_with;
use super::object::whole;
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.create.answer" ["PR-19"] answer,
        "A create answers 201 with the whole prompt object" },
    core! { "prompts.create.twice" ["PR-19", "PR-01"] twice,
        "Two creates with the same body make two prompts" },
    core! { "prompts.create.type-default" ["PR-21"] type_default,
        "A prompt that was made without promptType is a text prompt" },
    core! { "prompts.create.platform" ["PR-23"] platform,
        "A new prompt shows the platform it was made with" },
    core! { "prompts.create.aspect-ratio" ["PR-26"]
        |case| created_with(case, ["1:1", "16:9", "9:16"].map(|it| json!({ "aspectRatio": it }))),
        "A create takes an aspectRatio" },
    reference! { "prompts.create.platform-absent" ["PR-04", "PR-23"] platform_absent,
        "A prompt that was made without platform, or with null, shows null (S-09)" },
    reference! { "prompts.create.timestamps-equal" ["PR-09"] timestamps_equal,
        "On creation updatedAt equals createdAt (S-08)" },
    reference! { "prompts.create.aspect-ratio-free" ["PR-26"]
        |case| created_with(case, ANY_TEXT.map(|it| json!({ "aspectRatio": it }))),
        "Any text is an aspectRatio, the empty one too (S-66)" },
];

const ANY_TEXT: [&str; 5] = ["", "wide", "16/9", " 1:1 ", "😀"];

async fn answer(case: Case) -> Result<(), Failure> {
    whole(case.create_prompt(json!({})).await?.status(201)?, "/data")
}

async fn twice(case: Case) -> Result<(), Failure> {
    let body = json!({ "title": case.name("twice"), "prompt": "The same words" });
    let first = case.wire().post("/prompts", body.clone()).await?;
    let second = case.wire().post("/prompts", body).await?;
    let first = first.status(201)?.integer("/data/id")?;
    let id = second.status(201)?.integer("/data/id")?;
    second.ensure(first != id, "another id", id).map(drop)
}

async fn type_default(case: Case) -> Result<(), Failure> {
    let (_, created) = case.prompt_with(json!({})).await?;
    created.equals("/data/promptType", "text").map(drop)
}

async fn platform(case: Case) -> Result<(), Failure> {
    for platform in ["poster", "Midjourney v7", "социальные сети"] {
        let (prompt, created) = case.prompt_with(json!({ "platform": platform })).await?;
        for reply in [created, prompt.get().await?] {
            reply.equals("/data/platform", platform)?;
        }
    }
    Ok(())
}

async fn platform_absent(case: Case) -> Result<(), Failure> {
    for fields in [json!({}), json!({ "platform": null })] {
        let reply = case.create_prompt(fields).await?;
        reply.success()?.equals("/data/platform", json!(null))?;
    }
    Ok(())
}

async fn timestamps_equal(case: Case) -> Result<(), Failure> {
    let (_, created) = case.prompt_with(json!({})).await?;
    created.equals("/data/updatedAt", created.string("/data/createdAt")?).map(drop)
}
