//! `POST /prompts`: its answer, what it cannot do without, its defaults.
//! Models, addresses, vaults and lengths have files of their own.

use serde_json::json;

use super::attempt::{On, attempt};
use super::object::whole;
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.create.answer" ["PR-19"] answer,
        "A create answers 201 with the whole prompt object" },
    core! { "prompts.create.stored" ["PR-19", "PR-02"] stored,
        "A prompt that was created can be read with its title and text" },
    core! { "prompts.create.twice" ["PR-19", "PR-01"] twice,
        "Two creates with the same body make two prompts" },
    core! { "prompts.create.type-default" ["PR-21"] type_default,
        "A prompt that was made without promptType is a text prompt" },
    core! { "prompts.create.platform" ["PR-23"] platform,
        "A new prompt shows the platform it was made with" },
    core! { "prompts.create.aspect-ratio" ["PR-26"] aspect_ratio,
        "A create takes an aspectRatio" },
    reference! { "prompts.create.platform-absent" ["PR-04", "PR-23"] platform_absent,
        "A prompt that was made without platform, or with null, shows null (S-09)" },
    reference! { "prompts.create.timestamps-equal" ["PR-09"] timestamps_equal,
        "On creation updatedAt equals createdAt (S-08)" },
    reference! { "prompts.create.aspect-ratio-free" ["PR-26"] aspect_ratio_free,
        "Any text is an aspectRatio, the empty one too (S-66)" },
];

async fn answer(case: Case) -> Result<(), Failure> {
    let body = json!({ "title": case.name("prompt"), "prompt": "A lighthouse at dusk" });
    let reply = case.wire().post("/prompts", body).await?;
    whole(reply.status(201)?, "/data")
}

async fn stored(case: Case) -> Result<(), Failure> {
    let title = case.name("stored");
    let fields = json!({ "title": title, "prompt": "Stored as it is" });
    let made = make::prompt_with(&case, &case.wire(), fields).await?;
    let read = case.wire().get(&format!("/prompts/{}", made.integer("/data/id")?)).await?;
    read.status(200)?.equals("/data/title", title)?.equals("/data/prompt", "Stored as it is")?;
    Ok(())
}

async fn twice(case: Case) -> Result<(), Failure> {
    let body = json!({ "title": case.name("twice"), "prompt": "The same words" });
    let first = case.wire().post("/prompts", body.clone()).await?;
    let second = case.wire().post("/prompts", body).await?;
    first.status(201)?;
    let (first, second_id) = (first.integer("/data/id")?, second.status(201)?.integer("/data/id")?);
    second.ensure(first != second_id, "another id", second_id)?;
    Ok(())
}

async fn type_default(case: Case) -> Result<(), Failure> {
    let made = make::prompt_with(&case, &case.wire(), json!({})).await?;
    made.equals("/data/promptType", "text")?;
    Ok(())
}

async fn platform(case: Case) -> Result<(), Failure> {
    for platform in ["poster", "Midjourney v7", "социальные сети"] {
        let made = attempt(&case, On::Create, json!({ "platform": platform })).await?;
        let id = made.accepted()?.integer("/data/id")?;
        let read = case.wire().get(&format!("/prompts/{id}")).await?;
        for reply in [&made.reply, &read] {
            reply.equals("/data/platform", platform)?;
        }
    }
    Ok(())
}

async fn aspect_ratio(case: Case) -> Result<(), Failure> {
    for ratio in ["1:1", "16:9", "9:16"] {
        attempt(&case, On::Create, json!({ "aspectRatio": ratio })).await?.accepted()?;
    }
    Ok(())
}

async fn platform_absent(case: Case) -> Result<(), Failure> {
    for fields in [json!({}), json!({ "platform": null })] {
        let made = attempt(&case, On::Create, fields).await?;
        made.accepted()?.equals("/data/platform", json!(null))?;
    }
    Ok(())
}

async fn timestamps_equal(case: Case) -> Result<(), Failure> {
    let made = make::prompt_with(&case, &case.wire(), json!({})).await?;
    let (created, updated) = (made.string("/data/createdAt")?, made.string("/data/updatedAt")?);
    check::equal("updatedAt", &updated, &created)
}

async fn aspect_ratio_free(case: Case) -> Result<(), Failure> {
    for ratio in ["", "wide", "16/9", " 1:1 ", "😀"] {
        attempt(&case, On::Create, json!({ "aspectRatio": ratio })).await?.accepted()?;
    }
    Ok(())
}
