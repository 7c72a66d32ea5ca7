//! `PATCH /prompts/{promptId}`: its answer, what it sets, what it leaves.

use futures::future::try_join;
use serde_json::{Value, json};

use super::attempt::{On, attempt};
use super::object::whole;
use crate::scenario::core;
use crate::{Case, Failure, Scenario, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.update.answer" ["PR-31"] answer,
        "An update answers 200 with the whole prompt object" },
    core! { "prompts.update.answer-is-new" ["PR-31"] answer_is_new,
        "An update answers with the prompt as it is afterwards" },
    core! { "prompts.update.stored" ["PR-33"] stored,
        "Title, prompt, promptType and platform that an update sets are shown by later reads" },
    core! { "prompts.update.each-alone" ["PR-32"] each_alone,
        "An update may bring any one field alone" },
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

/// An image prompt, since every prompt may become a text prompt, and what it shows.
async fn before(case: &Case) -> Result<(i64, Value), Failure> {
    let model = case.image_model();
    let fields = json!({ "promptType": "image", "modelId": model, "platform": "before" });
    let made = make::prompt_with(case, &case.wire(), fields).await?;
    Ok((made.integer("/data/id")?, made.at("/data")?.clone()))
}

async fn answer(case: Case) -> Result<(), Failure> {
    let prompt = make::prompt(&case, &case.wire()).await?;
    let body = json!({ "title": case.name("new") });
    let reply = case.wire().patch(&format!("/prompts/{prompt}"), body).await?;
    whole(reply.status(200)?, "/data")
}

async fn answer_is_new(case: Case) -> Result<(), Failure> {
    let (id, _) = before(&case).await?;
    for (field, value) in shown(&case) {
        let tried = attempt(&case, On::Update(id), json!({ field: value })).await?;
        tried.accepted()?.equals("/data/id", id)?.equals(&format!("/data/{field}"), value)?;
    }
    Ok(())
}

async fn stored(case: Case) -> Result<(), Failure> {
    let (id, _) = before(&case).await?;
    for (field, value) in shown(&case) {
        attempt(&case, On::Update(id), json!({ field: value })).await?.accepted()?;
        let read = case.wire().get(&format!("/prompts/{id}")).await?;
        read.equals(&format!("/data/{field}"), value)?;
    }
    // Together too: one field must not keep another from being set.
    let (id, _) = before(&case).await?;
    let all = shown(&case);
    let body = all.iter().map(|(field, value)| ((*field).to_owned(), value.clone())).collect();
    attempt(&case, On::Update(id), Value::Object(body)).await?.accepted()?;
    let read = case.wire().get(&format!("/prompts/{id}")).await?;
    for (field, value) in all {
        read.equals(&format!("/data/{field}"), value)?;
    }
    Ok(())
}

async fn each_alone(case: Case) -> Result<(), Failure> {
    let (id, _) = before(&case).await?;
    for (field, value) in shown(&case) {
        attempt(&case, On::Update(id), json!({ field: value })).await?.accepted()?;
    }
    Ok(())
}

async fn omitted_stays(case: Case) -> Result<(), Failure> {
    for (field, value) in shown(&case) {
        let (id, before) = before(&case).await?;
        attempt(&case, On::Update(id), json!({ field: value })).await?.accepted()?;
        let read = case.wire().get(&format!("/prompts/{id}")).await?;
        for (other, _) in shown(&case).iter().filter(|(other, _)| *other != field) {
            let (got, kept) = (read.at(&format!("/data/{other}"))?, &before[other]);
            let expected = format!("{other} to stay {kept} after an update of {field}");
            read.ensure(got == kept, expected, got)?;
        }
    }
    Ok(())
}

async fn omitted_model_stays(case: Case) -> Result<(), Failure> {
    let fields = json!({ "modelId": case.image_model() });
    let made = make::prompt_with(&case, &case.wire(), fields).await?;
    let id = made.integer("/data/id")?;
    for fields in [
        json!({ "title": "New", "prompt": "New", "platform": "new" }),
        json!({ "aspectRatio": "1:1", "imageUrl": "https://example.com/a.png" }),
        json!({ "promptType": "image" }),
    ] {
        attempt(&case, On::Update(id), fields).await?.accepted()?;
    }
    Ok(())
}

async fn input_only(case: Case) -> Result<(), Failure> {
    let prompt = make::prompt(&case, &case.wire()).await?;
    for fields in [
        json!({ "modelId": case.image_model() }),
        json!({ "modelId": case.video_model() }),
        json!({ "aspectRatio": "16:9" }),
        json!({ "imageUrl": "https://example.com/a.png" }),
        json!({ "referenceMediaUrls": ["https://example.com/a.png", "https://example.com/b.mp4"] }),
        json!({ "referenceMediaUrls": [] }),
    ] {
        attempt(&case, On::Update(prompt), fields).await?.accepted()?;
    }
    Ok(())
}

async fn only_the_one_named(case: Case) -> Result<(), Failure> {
    let (id, _) = before(&case).await?;
    let (other, kept) = before(&case).await?;
    for (field, value) in shown(&case) {
        attempt(&case, On::Update(id), json!({ field: value })).await?.accepted()?;
    }
    let read = case.wire().get(&format!("/prompts/{other}")).await?;
    for (field, _) in shown(&case) {
        read.equals(&format!("/data/{field}"), kept[field].clone())?;
    }
    Ok(())
}

async fn at_once(case: Case) -> Result<(), Failure> {
    let (id, _) = before(&case).await?;
    let (wire, path) = (case.wire().under_contention(), format!("/prompts/{id}"));
    for round in 0..16 {
        let (title, platform) = (format!("title {round}"), format!("platform {round}"));
        let first = wire.patch(&path, json!({ "title": title }));
        let second = wire.patch(&path, json!({ "platform": platform }));
        let (first, second) = try_join(first, second).await?;
        first.status(200)?;
        second.status(200)?;
        let read = wire.get(&path).await?;
        read.equals("/data/title", title)?.equals("/data/platform", platform)?;
    }
    Ok(())
}
