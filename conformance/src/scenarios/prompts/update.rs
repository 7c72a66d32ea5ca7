//! `PATCH /prompts/{promptId}`: its answer, what it sets, what it leaves.

use futures::future::try_join;
use serde_json::{Value, json};

use super::object::whole;
use crate::fixture::Prompt;
use crate::scenario::core;
use crate::wire::ApiResponse;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.update.answer" ["PR-31"] answer,
        "An update answers 200 with the whole prompt object" },
    core! { "prompts.update.answer-is-new" ["PR-31"] answer_is_new,
        "An update answers with the prompt as it is afterwards" },
    core! { "prompts.update.stored" ["PR-33"] stored,
        "Title, prompt, promptType and platform that an update sets are shown by later reads" },
    core! { "prompts.update.omitted-stays" ["PR-32"] omitted_stays,
        "A field that an update leaves out keeps its value" },
    core! { "prompts.update.omitted-model-stays" ["PR-32", "PR-37"] omitted_model_stays,
        "A modelId that an update leaves out is still set afterwards" },
    core! { "prompts.update.input-only" ["PR-34"] input_only,
        "An update takes modelId, aspectRatio, imageUrl and referenceMediaUrls" },
    core! { "prompts.update.only-the-one-named" ["PR-33"] only_the_one_named,
        "An update leaves every other prompt as it is" },
    core! { "prompts.update.at-once" ["PR-32"] at_once,
        "Updates of different fields at the same moment undo nothing of each other" },
];

/// A field that a prompt shows, and a new value for it.
fn shown(case: &Case) -> [(&'static str, Value); 4] {
    [
        ("title", json!(case.name("new"))),
        ("prompt", json!("A harbour at dawn")),
        ("promptType", json!("text")),
        ("platform", json!("poster")),
    ]
}

/// An image prompt, since every prompt may become a text prompt, and the reply that shows it.
async fn before(case: &Case) -> Result<(Prompt, ApiResponse), Failure> {
    let model = case.image_model();
    case.prompt_with(json!({ "promptType": "image", "modelId": model, "platform": "before" })).await
}

async fn answer(case: Case) -> Result<(), Failure> {
    let reply = case.prompt().await?.update(json!({ "title": case.name("new") })).await?;
    whole(reply.status(200)?, "/data")
}

async fn answer_is_new(case: Case) -> Result<(), Failure> {
    let (prompt, _) = before(&case).await?;
    for (field, value) in shown(&case) {
        let reply = prompt.update(json!({ field: value })).await?;
        reply.success()?.equals("/data/id", prompt.id)?.equals(&format!("/data/{field}"), value)?;
    }
    Ok(())
}

async fn stored(case: Case) -> Result<(), Failure> {
    let (prompt, _) = before(&case).await?;
    for (field, value) in shown(&case) {
        prompt.update(json!({ field: value })).await?.success()?;
        prompt.get().await?.equals(&format!("/data/{field}"), value)?;
    }
    // Together too: one field must not keep another from being set.
    let (prompt, _) = before(&case).await?;
    let all = shown(&case);
    let fields = all.iter().map(|(field, value)| ((*field).to_owned(), value.clone())).collect();
    prompt.update(Value::Object(fields)).await?.success()?;
    let read = prompt.get().await?;
    for (field, value) in all {
        read.equals(&format!("/data/{field}"), value)?;
    }
    Ok(())
}

async fn omitted_stays(case: Case) -> Result<(), Failure> {
    for (field, value) in shown(&case) {
        let (prompt, before) = before(&case).await?;
        prompt.update(json!({ field: value })).await?.success()?;
        let read = prompt.get().await?;
        for (other, _) in shown(&case).iter().filter(|(other, _)| *other != field) {
            let place = format!("/data/{other}");
            read.equals(&place, before.at(&place)?.clone())?;
        }
    }
    Ok(())
}

async fn omitted_model_stays(case: Case) -> Result<(), Failure> {
    let (prompt, _) = case.prompt_with(json!({ "modelId": case.image_model() })).await?;
    for fields in [
        json!({ "title": "New", "prompt": "New", "platform": "new" }),
        json!({ "aspectRatio": "1:1", "imageUrl": "https://example.com/a.png" }),
        json!({ "promptType": "image" }),
    ] {
        prompt.update(fields).await?.success()?;
    }
    Ok(())
}

async fn input_only(case: Case) -> Result<(), Failure> {
    let prompt = case.prompt().await?;
    for fields in [
        json!({ "modelId": case.image_model() }),
        json!({ "modelId": case.video_model() }),
        json!({ "aspectRatio": "16:9" }),
        json!({ "imageUrl": "https://example.com/a.png" }),
        json!({ "referenceMediaUrls": ["https://example.com/a.png", "https://example.com/b.mp4"] }),
        json!({ "referenceMediaUrls": [] }),
    ] {
        prompt.update(fields).await?.success()?;
    }
    Ok(())
}

async fn only_the_one_named(case: Case) -> Result<(), Failure> {
    let ((prompt, _), (other, kept)) = (before(&case).await?, before(&case).await?);
    for (field, value) in shown(&case) {
        prompt.update(json!({ field: value })).await?.success()?;
    }
    let read = other.get().await?;
    for (field, _) in shown(&case) {
        let place = format!("/data/{field}");
        read.equals(&place, kept.at(&place)?.clone())?;
    }
    Ok(())
}

async fn at_once(case: Case) -> Result<(), Failure> {
    let (prompt, _) = before(&case.under_contention()).await?;
    for round in 0..16 {
        let (title, platform) = (format!("title {round}"), format!("platform {round}"));
        let first = prompt.update(json!({ "title": title }));
        let second = prompt.update(json!({ "platform": platform }));
        let (first, second) = try_join(first, second).await?;
        first.status(200)?;
        second.status(200)?;
        let read = prompt.get().await?;
        read.equals("/data/title", title)?.equals("/data/platform", platform)?;
    }
    Ok(())
}
