//! Prompts, vaults and memberships that the SDK creates, reads and changes.

use promptarium::{Prompt, PromptId, PromptType, Vault, VaultId, VaultPromptId, Visibility};
use promptarium_conformance::{Case, Failure, Scenario};
use serde_json::{Value, json};

use super::{Result, Sdk, check, same, sdk};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    sdk! { Core "sdk.prompts.create" ["PR-19", "PR-23", "PR-24", "PR-27"] create_prompts,
        "A prompt that the SDK creates is on the wire as the SDK returned it" },
    sdk! { Core "sdk.prompts.update" ["PR-31", "PR-32", "PR-33", "PR-34", "PR-38"] update_prompt,
        "Each setter of an update changes its field and no other" },
    sdk! { Reference "sdk.prompts.clear-platform" ["PR-33"] clear_platform,
        "An update clears the platform (S-09)" },
    sdk! { Core "sdk.prompts.save-and-delete" ["PR-44", "PR-40", "PR-41"] save_and_delete,
        "A prompt is saved into a second vault and deleted" },
    sdk! { Core "sdk.vaults.life" ["VA-16", "VA-21", "VA-23", "VA-24", "VA-25", "VA-26"] vault_life,
        "A vault is created, read, listed, changed, cleared and deleted" },
    sdk! { Core "sdk.vaults.fork" ["VA-29"] [OtherAccount] fork,
        "A vault of another account is forked" },
    sdk! { Core "sdk.contents.life" ["VC-04", "VC-10", "VC-15", "VC-17", "VC-25"] contents,
        "Prompts are added, listed, pinned, unpinned, moved and removed" },
];

async fn on_wire(case: &Case, path: String) -> Result<Value> {
    Ok(case.wire().get(&path).await?.data(200)?.clone())
}

async fn same_prompt(case: &Case, prompt: &Prompt) -> Result<Value> {
    let wire = on_wire(case, format!("/prompts/{}", prompt.id)).await?;
    same(prompt, &wire).map(|()| wire)
}

async fn same_vault(case: &Case, vault: &Vault) -> Result<Value> {
    let wire = on_wire(case, format!("/vaults/{}", vault.id)).await?;
    same(vault, &wire).map(|()| wire)
}

async fn create_prompts(case: Case) -> Result {
    let vault = VaultId::new(case.vault().await?.id);
    let prompts = case.sdk()?.prompts();
    let title = case.name("sdk");
    let plain = prompts.create(&*title, "\"quoted\" \\ é, 灯台").await?;
    let wire = same_prompt(&case, &plain).await?;
    check::equal("title", &wire["title"], &json!(title))?;
    check::equal("prompt", &wire["prompt"], &json!("\"quoted\" \\ é, 灯台"))?;
    check::equal("promptType", &wire["promptType"], &json!("text"))?;
    let full = || {
        let call = prompts.create(case.name("sdk"), "A harbour").platform("poster").vault(vault);
        let call = call.aspect_ratio("16:9").image_url("https://example.com/a.png");
        call.reference_media_urls(["https://example.com/b.png", "https://example.com/c.png"])
    };
    let image = full().image(case.image_model()).await?;
    let video = full().video(case.video_model()).await?;
    for (prompt, kind) in [(image, "image"), (video, "video")] {
        let wire = same_prompt(&case, &prompt).await?;
        check::equal("promptType", &wire["promptType"], &json!(kind))?;
        check::equal("platform", &wire["platform"], &json!("poster"))?;
        let inside = prompt.vault_ids.contains(&vault);
        check::ensure(inside, "the vault in vault_ids", format!("{:?}", prompt.vault_ids))?;
    }
    Ok(())
}

async fn update_prompt(case: Case) -> Result {
    let model = case.image_model();
    let fields = json!({ "platform": "before", "promptType": "image", "modelId": model });
    let (prompt, created) = case.prompt_with(fields).await?;
    let mut expected = created.at("/data")?.clone();
    let id = PromptId::new(prompt.id);
    let inside = case.vault().await?;
    let vault = VaultId::new(inside.id);
    let prompts = case.sdk()?.prompts();
    let urls = ["https://example.com/b.png"];
    for (field, value, call) in [
        ("title", "New", prompts.update(id).title("New")),
        ("prompt", "A new text", prompts.update(id).text("A new text")),
        ("platform", "after", prompts.update(id).platform("after")),
        ("promptType", "text", prompts.update(id).prompt_type(PromptType::Text)),
        ("promptType", "video", prompts.update(id).video(case.video_model())),
        ("title", "Input", prompts.update(id).title("Input").aspect_ratio("4:5")),
        ("title", "Urls", prompts.update(id).title("Urls").reference_media_urls(urls)),
        ("title", "Image", prompts.update(id).title("Image").image_url(urls[0])),
        ("title", "Vault", prompts.update(id).title("Vault").vault(vault)),
    ] {
        expected[field] = json!(value);
        let shown = same_prompt(&case, &call.await?).await?;
        for field in ["title", "prompt", "platform", "promptType"] {
            check::equal(field, &shown[field], &expected[field])?;
        }
    }
    Ok(prompt.expect_vaults([&inside], [&inside]).await?)
}

async fn clear_platform(case: Case) -> Result {
    let fields = json!({ "platform": "poster" });
    let id = PromptId::new(case.prompt_with(fields).await?.0.id);
    let prompt = case.sdk()?.prompts().update(id).clear_platform().await?;
    check::equal("platform", &same_prompt(&case, &prompt).await?["platform"], &Value::Null)
}

async fn save_and_delete(case: Case) -> Result {
    let (vault, prompt) = (case.vault().await?, case.prompt().await?);
    let id = PromptId::new(prompt.id);
    let prompts = case.sdk()?.prompts();
    let saved = prompts.save(id, VaultId::new(vault.id)).await?;
    same_prompt(&case, &saved).await?;
    same_prompt(&case, &prompts.get(id).await?).await?;
    check::equal("the listed prompts", &vault.members().await?.len(), &1)?;
    let deleted = prompts.delete(id).await?;
    check::equal("the answer", &(deleted.id, deleted.deleted), &(id, true))?;
    prompt.get().await?.status(404)?;
    Ok(())
}

async fn vault_life(case: Case) -> Result {
    let vaults = case.sdk()?.vaults();
    same_vault(&case, &vaults.create(case.name("plain")).await?).await?;
    let name = case.name("vault");
    let call = vaults.create(&*name).description("Boats").visibility(Visibility::Unlisted);
    let vault = call.await?;
    let wire = same_vault(&case, &vault).await?;
    let shown = json!([wire["name"], wire["description"], wire["visibility"]]);
    check::equal("the fields", &shown, &json!([name, "Boats", "unlisted"]))?;
    let listed = vaults.list().await?;
    let entry = listed.iter().find(|entry| entry.id == vault.id);
    same(entry.ok_or_else(|| Failure::failed("the vault in the list", "none"))?, &wire)?;
    for (call, field, value) in [
        (vaults.update(vault.id).visibility(Visibility::Private), "visibility", json!("private")),
        (vaults.update(vault.id).description("Ships"), "description", json!("Ships")),
        (vaults.update(vault.id).clear_description(), "description", Value::Null),
    ] {
        let shown = same_vault(&case, &call.await?).await?;
        check::equal(field, &shown[field], &value)?;
        check::equal("name", &shown["name"], &json!(name))?;
    }
    let deleted = vaults.delete(vault.id).await?;
    check::equal("the answer", &(deleted.id, deleted.deleted), &(vault.id, true))?;
    case.wire().get(&format!("/vaults/{}", vault.id)).await?.status(404)?;
    Ok(())
}

async fn fork(case: Case) -> Result {
    let public = json!({ "visibility": "public" });
    let (source, _) = case.other_account().vault_with(public).await?;
    source.fill(2).await?;
    let copy = case.sdk()?.vaults().fork(VaultId::new(source.id)).await?;
    check::equal("promptCount", &copy.prompt_count, &2)?;
    same_vault(&case, &copy).await.map(drop)
}

async fn contents(case: Case) -> Result {
    let [source, target] = case.vaults().await?;
    let [first_member, second_member] = source.filled().await?;
    let contents = case.sdk()?.vault(VaultId::new(source.id));
    let new = case.prompts(2).await?;
    let added = contents.add(new.iter().map(|prompt| PromptId::new(prompt.id))).await?;
    check::equal("the answer", &(added.added, added.prompt_count), &(2, 4))?;
    let first = VaultPromptId::new(first_member.id);
    let pinned = contents.pin(first).await?;
    check::equal("the pin", &(pinned.vault_prompt_id, pinned.is_pinned), &(first, true))?;
    let shown = on_wire(&case, format!("{}/prompts", source.path())).await?;
    let listed = contents.list().await?;
    check::equal("the entries", &listed.len(), &shown.as_array().map_or(0, Vec::len))?;
    for (entry, shown) in listed.iter().zip(shown.as_array().into_iter().flatten()) {
        same(entry, shown)?;
    }
    check::equal("the first entry", &listed[0].vault_prompt_id, &first)?;
    check::ensure(!contents.unpin(first).await?.is_pinned, "isPinned false", "true")?;
    let moved = contents.move_to(first, VaultId::new(target.id)).await?;
    check::equal("the moved prompt", &moved.prompt_id.get(), &first_member.prompt.id)?;
    let there = target.members().await?;
    check::equal("the new membership", &moved.vault_prompt_id.get(), &there[0].id)?;
    let second = VaultPromptId::new(second_member.id);
    check::ensure(contents.remove(second).await?.removed, "removed true", "false")?;
    check::equal("the rest", &source.members().await?.len(), &2)
}
