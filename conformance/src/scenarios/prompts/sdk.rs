//! The SDK's calls on prompts, held against the wire.

use promptarium::{Prompt, PromptId, PromptType, VaultId};
use serde_json::{Value, json};

use super::super::pagination::walk::in_vault;
use crate::scenario::{core, reference};
use crate::wire::Reply;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.create.sdk-plain" ["PR-19", "PR-21"] create_plain,
        "The SDK makes a text prompt from a title and a text" },
    core! { "prompts.create.sdk-all-fields" ["PR-19", "PR-23", "PR-24", "PR-27"] create_all_fields,
        "The SDK makes image and video prompts with all that a create takes" },
    core! { "prompts.create.sdk-refused" ["LI-02", "PR-22"] create_refused,
        "The SDK tells a refused create from other failures" },
    core! { "prompts.read.sdk-get" ["PR-30"] get,
        "The SDK reads a prompt as it is on the wire" },
    core! { "prompts.update.sdk-sets" ["PR-31", "PR-32", "PR-33"] update_sets,
        "The SDK sets each field of a prompt and leaves the others" },
    core! { "prompts.update.sdk-adds-vault" ["PR-38"] update_adds_vault,
        "The SDK puts a prompt into a vault with an update" },
    core! { "prompts.update.sdk-input-only" ["PR-34", "PR-37"] update_input_only,
        "The SDK sends the fields that a prompt does not show" },
    core! { "prompts.delete.sdk-delete" ["PR-40", "PR-41"] delete,
        "The SDK deletes a prompt and tells that a deleted one is not found" },
    core! { "prompts.save.sdk-save" ["PR-44", "PR-45"] save,
        "The SDK saves a prompt into a vault" },
    core! { "prompts.list.sdk-entries" ["PR-13", "PR-15"] list,
        "The SDK lists prompts as they are on the wire" },
    reference! { "prompts.create.sdk-field-errors" ["ER-03"] field_errors,
        "The SDK names the fields of a refused create (S-60)" },
    reference! { "prompts.update.sdk-clears-platform" ["PR-33"] clears_platform,
        "The SDK clears the platform of a prompt (S-09)" },
];

/// The SDK's prompt says what is at `place` of the answer, read without the SDK.
fn same(prompt: &Prompt, reply: &Reply, place: &str) -> Result<(), Failure> {
    let at = |field: &str| format!("{place}/{field}");
    let shown = |field: &str, got: Value| -> Result<(), Failure> {
        let wire = reply.at(&at(field))?;
        reply.ensure(*wire == got, format!("the SDK's {field} to be {wire}"), got).map(drop)
    };
    shown("id", json!(prompt.id.get()))?;
    shown("title", json!(prompt.title))?;
    shown("prompt", json!(prompt.text))?;
    shown("promptType", json!(prompt.prompt_type.as_str()))?;
    shown("platform", json!(prompt.platform))?;
    // The status may be another one with each answer (S-04), as may the order (S-07).
    reply.string(&at("status"))?;
    let sorted = |mut ids: Vec<i64>| {
        ids.sort_unstable();
        ids
    };
    let vaults = reply.array(&at("vaultIds"))?;
    let vaults = sorted(vaults.iter().filter_map(Value::as_i64).collect());
    let got = sorted(prompt.vault_ids.iter().map(|id| id.get()).collect());
    check::equal("the SDK's vaultIds", &got, &vaults)?;
    check::equal("the number of images", &prompt.images.len(), &reply.array(&at("images"))?.len())?;
    for (field, got) in [("createdAt", prompt.created_at), ("updatedAt", prompt.updated_at)] {
        check::equal(field, &got, &reply.timestamp(&at(field))?)?;
    }
    Ok(())
}

/// The prompt on the wire is the SDK's one.
async fn same_on_wire(case: &Case, prompt: &Prompt) -> Result<(), Failure> {
    let reply = case.wire().get(&format!("/prompts/{}", prompt.id)).await?;
    same(prompt, reply.status(200)?, "/data")
}

/// The SDK's prompt is in this vault, and perhaps in others.
fn shows_vault(prompt: &Prompt, vault: VaultId) -> Result<(), Failure> {
    let shown = prompt.vault_ids.contains(&vault);
    check::ensure(shown, &format!("vault_ids with {vault}"), format!("{:?}", prompt.vault_ids))
}

async fn create_plain(case: Case) -> Result<(), Failure> {
    let title = case.name("sdk");
    let prompt = case.sdk()?.prompts().create(&*title, "Ein Leuchtturm, 灯台").await?;
    check::equal("the title", &prompt.title, &title)?;
    check::equal("the text", &prompt.text.as_str(), &"Ein Leuchtturm, 灯台")?;
    check::equal("the type", &prompt.prompt_type, &PromptType::Text)?;
    same_on_wire(&case, &prompt).await
}

async fn create_all_fields(case: Case) -> Result<(), Failure> {
    let vault = VaultId::new(make::vault(&case, &case.wire()).await?);
    let prompts = case.sdk()?.prompts();
    let all = || {
        let urls = ["https://example.com/b.png", "https://example.com/c.png"];
        let call = prompts.create(case.name("sdk"), "A harbour").platform("poster").vault(vault);
        let call = call.aspect_ratio("16:9").image_url("https://example.com/a.png");
        call.reference_media_urls(urls)
    };
    let (image, video) = (all().image(case.image_model()), all().video(case.video_model()));
    for (call, kind) in [(image, PromptType::Image), (video, PromptType::Video)] {
        let prompt = call.await?;
        check::equal("the type", &prompt.prompt_type, &kind)?;
        check::equal("the platform", &prompt.platform.as_deref(), &Some("poster"))?;
        shows_vault(&prompt, vault)?;
        same_on_wire(&case, &prompt).await?;
    }
    Ok(())
}

async fn create_refused(case: Case) -> Result<(), Failure> {
    let prompts = case.sdk()?.prompts();
    let long = "a".repeat(121);
    for call in [
        prompts.create("", "No title"),
        prompts.create(long, "A title too long"),
        prompts.create("No such type", "Audio").prompt_type("audio"),
    ] {
        match call.await {
            Err(error) if error.is_invalid() => {}
            Err(error) => return Err(Failure::failed("is_invalid", format!("{error}"))),
            Ok(prompt) => {
                return Err(Failure::failed("a refusal", format!("{prompt:?}")));
            }
        }
    }
    Ok(())
}

async fn get(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let fields =
        json!({ "platform": "poster", "promptType": "image", "modelId": case.image_model() });
    let id = make::prompt_with(&case, &wire, fields).await?.integer("/data/id")?;
    make::fill(&wire, vault, &[id]).await?;
    let prompt = case.sdk()?.prompts().get(PromptId::new(id)).await?;
    same_on_wire(&case, &prompt).await
}

async fn update_sets(case: Case) -> Result<(), Failure> {
    let model = case.image_model();
    let fields = json!({ "platform": "before", "promptType": "image", "modelId": model });
    let made = make::prompt_with(&case, &case.wire(), fields).await?;
    let id = PromptId::new(made.integer("/data/id")?);
    let prompts = case.sdk()?.prompts();
    let mut expected = made.at("/data")?.clone();
    for (field, value, call) in [
        ("title", "New", prompts.update(id).title("New")),
        ("prompt", "A new text", prompts.update(id).text("A new text")),
        ("platform", "after", prompts.update(id).platform("after")),
        ("promptType", "text", prompts.update(id).prompt_type(PromptType::Text)),
    ] {
        expected[field] = json!(value);
        let prompt = call.await?;
        same_on_wire(&case, &prompt).await?;
        let read = case.wire().get(&format!("/prompts/{id}")).await?;
        for field in ["title", "prompt", "platform", "promptType"] {
            read.equals(&format!("/data/{field}"), expected[field].clone())?;
        }
    }
    Ok(())
}

async fn update_adds_vault(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, id) = (make::vault(&case, &wire).await?, make::prompt(&case, &wire).await?);
    let call = case.sdk()?.prompts().update(PromptId::new(id)).vault(VaultId::new(vault));
    let prompt = call.await?;
    shows_vault(&prompt, VaultId::new(vault))?;
    same_on_wire(&case, &prompt).await
}

async fn update_input_only(case: Case) -> Result<(), Failure> {
    let id = PromptId::new(make::prompt(&case, &case.wire()).await?);
    let prompts = case.sdk()?.prompts();
    let urls = ["https://example.com/b.png"];
    let call = prompts.update(id).aspect_ratio("4:5").image_url("https://example.com/a.png");
    call.reference_media_urls(urls).model_id(case.image_model()).await?;
    // That the model arrived shows in that the type may change now.
    let prompt = prompts.update(id).prompt_type(PromptType::Image).await?;
    check::equal("the type", &prompt.prompt_type, &PromptType::Image)?;
    same_on_wire(&case, &prompt).await
}

async fn delete(case: Case) -> Result<(), Failure> {
    let id = PromptId::new(make::prompt(&case, &case.wire()).await?);
    let prompts = case.sdk()?.prompts();
    let deleted = prompts.delete(id).await?;
    check::equal("what was deleted", &(deleted.id, deleted.deleted), &(id, true))?;
    case.wire().get(&format!("/prompts/{id}")).await?.status(404)?;
    match prompts.get(id).await {
        Err(error) if error.is_not_found() => Ok(()),
        other => Err(Failure::failed("is_not_found", format!("{other:?}"))),
    }
}

async fn save(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (first, second) = (make::vault(&case, &wire).await?, make::vault(&case, &wire).await?);
    let id = make::prompt(&case, &wire).await?;
    make::fill(&wire, first, &[id]).await?;
    let prompt = case.sdk()?.prompts().save(PromptId::new(id), VaultId::new(second)).await?;
    shows_vault(&prompt, VaultId::new(second))?;
    same_on_wire(&case, &prompt).await
}

async fn list(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    make::members(&case, &wire, vault, 3).await?;
    let listed = super::super::pagination::walk::ask(&wire, &in_vault(vault), None, None).await?;
    let page = case.sdk()?.prompts().list().vault(VaultId::new(vault)).page().await?;
    check::equal("the number of entries", &page.items.len(), &listed.array("/data")?.len())?;
    for (at, prompt) in page.items.iter().enumerate() {
        same(prompt, &listed, &format!("/data/{at}"))?;
    }
    Ok(())
}

async fn field_errors(case: Case) -> Result<(), Failure> {
    let prompts = case.sdk()?.prompts();
    let call = prompts.create("", "").model_id("nowhere").image_url("plainword");
    let Err(error) = call.reference_media_urls(["plainword"]).await else {
        return Err(Failure::failed("a refusal", "a prompt"));
    };
    let mut named: Vec<_> = error.field_errors().map(|(field, _)| field.to_owned()).collect();
    named.sort_unstable();
    let expected = ["imageUrl", "modelId", "prompt", "referenceMediaUrls", "title"];
    check::equal("the fields at fault", &named, &expected.map(str::to_owned).to_vec())
}

async fn clears_platform(case: Case) -> Result<(), Failure> {
    let made = make::prompt_with(&case, &case.wire(), json!({ "platform": "poster" })).await?;
    let id = PromptId::new(made.integer("/data/id")?);
    let prompt = case.sdk()?.prompts().update(id).clear_platform().await?;
    check::equal("the platform", &prompt.platform, &None)?;
    same_on_wire(&case, &prompt).await
}
