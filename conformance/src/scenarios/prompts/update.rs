//! `GET` and `PATCH /prompts/{promptId}`: their answers, what an update sets, what it leaves, and
//! what a refused create or update leaves behind.

use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.read.the-one-named" ["PR-30"] the_one_named,
        "A read answers with the prompt that the path names" },
    core! { "prompts.update.answer-is-new" ["PR-31"] answer_is_new,
        "An update answers with the prompt as it is afterwards" },
    core! { "prompts.update.stored" ["PR-33"] stored,
        "Title, prompt, promptType and platform that an update sets are shown by later reads" },
    core! { "prompts.update.omitted-stays" ["PR-32"] omitted_stays,
        "A field that an update leaves out keeps its value" },
    core! { "prompts.update.no-field" ["PR-32"] no_field,
        "An update without any field answers 200 and leaves all of them" },
    core! { "prompts.update.omitted-model-stays" ["PR-32", "PR-37"] omitted_model_stays,
        "A modelId that an update leaves out is still set afterwards" },
    core! { "prompts.update.input-only" ["PR-34"] input_only,
        "An update takes modelId, aspectRatio, imageUrl and referenceMediaUrls" },
    core! { "prompts.update.only-the-one-named" ["PR-33"] only_the_one_named,
        "An update leaves every other prompt as it is" },
    core! { "prompts.update.at-once" ["PR-32"] at_once,
        "Updates of different fields at the same moment undo nothing of each other" },
    core! { "prompts.faults.create-makes-nothing"
        ["PR-20", "PR-22", "PR-24", "PR-25", "PR-28", "PR-29"] create_makes_nothing,
        "A create that is refused makes no prompt" },
    core! { "prompts.faults.update-changes-nothing" ["PR-35", "PR-36"] update_changes_nothing,
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

/// The fields that an update sets and a prompt shows.
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
    all.into_iter()
        .try_for_each(|(field, value)| read.equals(&format!("/data/{field}"), value).map(drop))
}

async fn no_field(case: Case) -> Result {
    let (prompt, before) = before(&case).await?;
    same_fields(prompt.update(json!({})).await?.status(200)?, &before, SHOWN)
}

async fn omitted_stays(case: Case) -> Result {
    for (field, value) in shown(&case) {
        let (prompt, before) = before(&case).await?;
        prompt.update(json!({ field: value })).await?.success()?;
        let others = SHOWN.into_iter().filter(|other| *other != field);
        same_fields(&prompt.get().await?, &before, others)?;
    }
    Ok(())
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

async fn only_the_one_named(case: Case) -> Result {
    let ((prompt, _), (other, kept)) = (before(&case).await?, before(&case).await?);
    for (field, value) in shown(&case) {
        prompt.update(json!({ field: value })).await?.success()?;
    }
    same_fields(&other.get().await?, &kept, SHOWN)
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
fn faults() -> [Value; 7] {
    [
        json!({ "title": "" }),
        json!({ "prompt": 7 }),
        json!({ "promptType": "audio" }),
        json!({ "promptType": "image" }),
        json!({ "modelId": "nowhere" }),
        json!({ "imageUrl": "plainword" }),
        json!({ "referenceMediaUrls": ["plainword"] }),
    ]
}

async fn create_makes_nothing(case: Case) -> Result {
    let mut refused = 0;
    for fault in faults().into_iter().chain([json!({ "prompt": null }), json!({ "title": null })]) {
        let vault = case.vault().await?;
        let fields = merged(fault, json!({ "vaultId": vault.id }));
        // That a fault is refused is for other scenarios to see.
        if case.create_prompt(fields).await?.status_code() == 400 {
            refused += 1;
            vault.expect_size(0).await?;
        }
    }
    some_refused(refused)
}

/// What a refusal leaves behind is seen only where there was one.
fn some_refused(count: usize) -> Result {
    if count > 0 {
        return Ok(());
    }
    Err(Failure::skipped("no faulty request was refused; other scenarios say which should be"))
}

async fn update_changes_nothing(case: Case) -> Result {
    let mut refused = 0;
    for fault in faults() {
        let vault = case.vault().await?;
        let (prompt, before) = case.prompt_with(json!({ "platform": "before" })).await?;
        let fields = json!({
            "title": "After",
            "prompt": "After",
            "platform": "after",
            "vaultId": vault.id,
        });
        // That a fault is refused is for other scenarios to see.
        if prompt.update(merged(fields, fault)).await?.status_code() != 400 {
            continue;
        }
        refused += 1;
        let read = prompt.get().await?;
        same_fields(&read, &before, SHOWN)?;
        let joined = read.array("/data/vaultIds")?.contains(&json!(vault.id));
        read.ensure(!joined, "vaultIds without the vault of a refused update", "it is there")?;
    }
    some_refused(refused)
}
