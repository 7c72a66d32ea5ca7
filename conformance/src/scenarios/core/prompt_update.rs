//! `GET` and `PATCH /prompts/{promptId}`: their answers, what an update sets, what it leaves, and
//! what a refused create or update leaves behind.

use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    core! { "prompts.read.the-one-named" ["PR-30"] the_one_named,
        "A read answers with the prompt that the path names" },
    core! { "prompts.update.answer-is-new" ["PR-31"] answer_is_new,
        "An update answers with the prompt as it is afterwards" },
    core! { "prompts.update.stored" ["PR-33"] stored,
        "Later reads show what an update sets, and every other prompt is as it was" },
    core! { "prompts.update.omitted-stays" ["PR-32"] omitted_stays,
        "A field that an update leaves out keeps its value, all of them if it has none" },
    core! { "prompts.update.omitted-model-stays" ["PR-32", "PR-37"] omitted_model_stays,
        "A modelId that an update leaves out is still set afterwards" },
    core! { "prompts.update.input-only" ["PR-34"] input_only,
        "An update takes modelId, aspectRatio, imageUrl and referenceMediaUrls" },
    core! { "prompts.update.at-once" ["PR-32"] at_once,
        "Updates of different fields at the same moment undo nothing of each other" },
    core! { "prompts.faults.create-makes-nothing"
        ["PR-20", "PR-22", "PR-24", "PR-25", "PR-28", "PR-29"]
        |case| refused_without_effect(case, false),
        "A create that is refused makes no prompt" },
    core! { "prompts.faults.update-changes-nothing" ["PR-35", "PR-36"]
        |case| refused_without_effect(case, true),
        "An update that is refused changes none of the fields it names" },
];

async fn the_one_named(case: Case) -> Result {
    for _ in 0..3 {
        case.prompt().await?;
        let title = case.name("named");
        let (prompt, _) = case.prompt_with(json!({ "title": title })).await?;
        case.prompt().await?;
        prompt.read().await?.equals("/data/id", prompt.id)?.equals("/data/title", title)?;
    }
    Ok(())
}

const SHOWN: [&str; 4] = ["title", "prompt", "promptType", "platform"];

/// Each of them with a new value.
fn shown(case: &Case) -> [(&'static str, Value); 4] {
    let values = [&case.name("new"), "A harbour at dawn", "text", "poster"];
    std::array::from_fn(|at| (SHOWN[at], json!(values[at])))
}

/// An image prompt, since every prompt may become a text prompt, and the reply that shows it.
async fn before(case: &Case) -> Result<(Prompt, ApiResponse)> {
    let model = case.image_model();
    case.prompt_with(json!({ "promptType": "image", "modelId": model, "platform": "before" })).await
}

async fn answer_is_new(case: Case) -> Result {
    let (prompt, _) = before(&case).await?;
    for (field, value) in shown(&case) {
        let reply = prompt.update(json!({ field: value })).await?;
        reply.success()?.equals("/data/id", prompt.id)?.equals(&format!("/data/{field}"), value)?;
    }
    Ok(())
}

async fn stored(case: Case) -> Result {
    let ((prompt, _), (other, kept)) = (before(&case).await?, before(&case).await?);
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
    same_fields(&other.get().await?, &kept, SHOWN)
}

async fn omitted_stays(case: Case) -> Result {
    for (field, value) in shown(&case) {
        let (prompt, before) = before(&case).await?;
        prompt.update(json!({ field: value })).await?.success()?;
        let others = SHOWN.into_iter().filter(|other| *other != field);
        same_fields(&prompt.get().await?, &before, others)?;
    }
    let (prompt, before) = before(&case).await?;
    same_fields(prompt.update(json!({})).await?.status(200)?, &before, SHOWN)
}

async fn omitted_model_stays(case: Case) -> Result {
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

async fn input_only(case: Case) -> Result {
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

async fn at_once(case: Case) -> Result {
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

/// Faults that each make create and update refuse.
fn faults() -> [Value; 9] {
    [
        json!({ "title": "" }),
        json!({ "title": null }),
        json!({ "prompt": 7 }),
        json!({ "prompt": null }),
        json!({ "promptType": "audio" }),
        json!({ "promptType": "image" }),
        json!({ "modelId": "nowhere" }),
        json!({ "imageUrl": "plainword" }),
        json!({ "referenceMediaUrls": ["plainword"] }),
    ]
}

/// A create or an update with one fault beside right fields, which name a vault too. That the
/// fault is refused is for other scenarios to see.
async fn refused_without_effect(case: Case, update: bool) -> Result {
    let mut refused = 0;
    for fault in faults() {
        let vault = case.vault().await?;
        let (prompt, before) = case.prompt_with(json!({ "platform": "before" })).await?;
        let fields = json!({ "title": "After", "prompt": "After", "platform": "after" });
        let fields = merged(merged(fields, json!({ "vaultId": vault.id })), fault);
        let reply = match update {
            true => prompt.update(fields).await?,
            false => case.create_prompt(fields).await?,
        };
        if reply.status_code() == 400 {
            refused += 1;
            same_fields(&prompt.get().await?, &before, SHOWN.into_iter().chain(["vaultIds"]))?;
            vault.expect_size(0).await?;
        }
    }
    if refused > 0 {
        return Ok(());
    }
    Err(Failure::skipped("no faulty request was refused; other scenarios say which should be"))
}
