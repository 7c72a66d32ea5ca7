//! The prompt object, wherever an answer holds one: its values, what it does not show, and when
//! `updatedAt` changes. That it has its fields, of their types, is in `answers`.

use crate::scenarios::answers::shapes::PROMPT;
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.object.id-unique" ["PR-01"] id_unique,
        "Prompts that are made at the same moment have different ids" },
    core! { "prompts.object.title-and-text" ["PR-02", "PR-19"] title_and_text,
        "Title and prompt are strings that hold what was stored" },
    core! { "prompts.object.type" ["PR-03"] kind,
        "The promptType of a prompt is the one it was made with" },
    core! { "prompts.object.vault-ids" ["PR-08", "VC-02"] names_its_vaults,
        "The vaultIds are integers and name every vault the prompt is in, and no other" },
    core! { "prompts.object.no-membership" ["PR-11"]
        |case| hides(case, &["vaultPromptId", "isPinned"]),
        "No prompt object but those of a vault's listing has vaultPromptId or isPinned" },
    core! { "prompts.object.no-input" ["PR-12"]
        |case| hides(case, &["modelId", "aspectRatio", "vaultId", "imageUrl", "referenceMediaUrls"]),
        "A prompt object does not show the fields that are input only" },
    reference! { "prompts.object.same-everywhere"
        ["PR-13", "PR-19", "PR-30", "PR-31", "PR-44"] ("S-07") same_everywhere,
        "Create, read, list, save and an update of nothing answer with equal objects" },
    reference! { "prompts.object.exact-fields" ["PR-05", "PR-06", "PR-11", "PR-12"]
        ("S-04", "S-05", "S-06") exact_fields,
        "A prompt object has ten fields and no other; it is active and has no images at first" },
    reference! { "prompts.object.vault-ids-order" ["PR-08"] ("S-07") vault_ids_order,
        "The vaultIds ascend, each once, and are empty without a vault" },
    core! { "prompts.updated-at.changes" ["PR-10"] changes,
        "An update changes updatedAt" },
    reference! { "prompts.updated-at.any-known-field" ["PR-09", "PR-10", "PR-32"] ("S-08")
        any_known_field,
        "updatedAt is createdAt at first, and later after any known field; createdAt stays" },
    reference! { "prompts.updated-at.kept" ["PR-10", "PR-32", "PR-35"] ("S-08") kept,
        "updatedAt stays after an update without effect, a save, add, remove, move and pin" },
];

/// Each answer that shows a new prompt with these fields, and the place of the prompt in it.
pub(in crate::scenarios) async fn in_every_answer(
    case: &Case,
    fields: Value,
) -> Result<Vec<(ApiResponse, String)>> {
    let [first, second] = case.vaults().await?;
    let created = case.create_prompt(fields).await?;
    created.success()?;
    // An answer without the id is all that can be looked at.
    let Ok(prompt) = case.prompt_of(&created) else { return Ok(vec![(created, "/data".into())]) };
    let read = prompt.read().await?;
    let updated = prompt.update(json!({ "title": "Updated" })).await?;
    let saved = prompt.save_into(&second).await?;
    first.add_in_turn([&prompt]).await?;
    let list = first.list().get().await?;
    let alone = [created, read, updated, saved].map(|reply| (reply, "/data".to_owned()));
    Ok(alone.into_iter().chain([(list, "/data/0".to_owned())]).collect())
}

/// All that a create takes besides title, text and vault.
pub(in crate::scenarios) fn all_inputs(case: &Case) -> Value {
    json!({
        "promptType": "image",
        "platform": "poster",
        "modelId": case.image_model(),
        "aspectRatio": "16:9",
        "imageUrl": "https://example.com/a.png",
        "referenceMediaUrls": ["https://example.com/b.png"],
    })
}

async fn hides(case: Case, fields: &[&str]) -> Result {
    for (reply, place) in in_every_answer(&case, all_inputs(&case)).await? {
        let prompt = reply.at(&place)?;
        let hidden = fields.iter().all(|field| prompt.get(field).is_none());
        reply.ensure(hidden, format!("none of {}", json_text(&fields)), prompt)?;
    }
    Ok(())
}

async fn exact_fields(case: Case) -> Result {
    let fields: Vec<_> = PROMPT.iter().map(|field| field.name).collect();
    for inputs in [json!({}), all_inputs(&case)] {
        for (reply, place) in in_every_answer(&case, inputs).await? {
            reply.has_only(&place, &fields)?.equals(&format!("{place}/status"), "active")?;
            reply.equals(&format!("{place}/images"), json!([]))?;
        }
    }
    Ok(())
}

async fn id_unique(case: Case) -> Result {
    check::distinct("ids of prompts", ids(case.prompts(16).await?))
}

async fn title_and_text(case: Case) -> Result {
    for (title, text) in [
        ("Dusk", "A lighthouse at dusk"),
        ("\"Quoted\" \\ / & <b> %20 ${x} '; --", "{\"json\": [1, null]}\nand a second line"),
        ("Château 漢字 日本", "Ein großer Ölkrug, žluťoučký kůň, 灯台"),
    ] {
        let (prompt, created) = case.prompt_with(json!({ "title": title, "prompt": text })).await?;
        for reply in [created, prompt.read().await?] {
            reply.equals("/data/title", title)?.equals("/data/prompt", text)?;
        }
    }
    Ok(())
}

async fn kind(case: Case) -> Result {
    for (kind, model) in
        [("image", case.image_model()), ("video", case.video_model()), ("text", case.image_model())]
    {
        let fields = json!({ "promptType": kind, "modelId": model });
        for (reply, place) in in_every_answer(&case, fields).await? {
            reply.equals(&format!("{place}/promptType"), kind)?;
        }
    }
    Ok(())
}

async fn names_its_vaults(case: Case) -> Result {
    let (vaults, prompt) = (case.vaults::<4>().await?, case.prompt().await?);
    for inside in 1..=3 {
        vaults[inside - 1].add_in_turn([&prompt]).await?;
        prompt.expect_vaults(&vaults, &vaults[..inside]).await?;
    }
    Ok(())
}

async fn same_everywhere(case: Case) -> Result {
    let vault = case.vault().await?;
    let mut fields = all_inputs(&case);
    fields["vaultId"] = json!(vault.id);
    let (prompt, created) = case.prompt_with(fields).await?;
    let expected = created.at("/data")?;
    vault.list().get().await?.equals("/data/0", expected.clone())?;
    for reply in
        [prompt.get().await?, prompt.update(json!({})).await?, prompt.save_into(&vault).await?]
    {
        reply.equals("/data", expected.clone())?;
    }
    Ok(())
}

async fn vault_ids_order(case: Case) -> Result {
    let (vaults, prompt) = (case.vaults::<4>().await?, case.prompt().await?);
    prompt.read().await?.equals("/data/vaultIds", json!([]))?;
    for at in [2, 0, 3, 1, 2] {
        vaults[at].add_in_turn([&prompt]).await?;
    }
    let mut expected = vaults.map(|vault| vault.id);
    expected.sort_unstable();
    prompt.read().await?.equals("/data/vaultIds", json!(expected)).map(drop)
}

async fn changes(case: Case) -> Result {
    let (prompt, created) = case.prompt_with(json!({})).await?;
    let first = created.timestamp("/data/updatedAt")?;
    // Another server's clock may have whole seconds only, so it is asked again.
    case.until("another updatedAt after updates", Duration::from_secs(5), || async {
        let reply = prompt.update(json!({ "title": case.name("new") })).await?;
        let changed = reply.success()?.timestamp("/data/updatedAt")? != first;
        Ok(changed.then_some(()))
    })
    .await
}

async fn any_known_field(case: Case) -> Result {
    let vault = case.vault().await?;
    let (prompt, created) = case.prompt_with(json!({})).await?;
    created.equals("/data/updatedAt", created.string("/data/createdAt")?)?;
    let mut last = created.timestamp("/data/updatedAt")?;
    let url = "https://example.com/a.png";
    for fields in [
        json!({ "title": "New" }),
        json!({ "prompt": "New" }),
        json!({ "promptType": "text" }),
        json!({ "platform": "new" }),
        json!({ "platform": null }),
        json!({ "modelId": case.image_model() }),
        json!({ "aspectRatio": "16:9" }),
        json!({ "imageUrl": url }),
        json!({ "referenceMediaUrls": [url] }),
        json!({ "referenceMediaUrls": [] }),
        json!({ "vaultId": vault.id }),
    ] {
        for _ in 0..2 {
            let reply = prompt.update(fields.clone()).await?;
            let now = reply.success()?.timestamp("/data/updatedAt")?;
            same_fields(&reply, &created, ["createdAt"])?;
            reply.ensure(now > last, format!("an updatedAt after {last}"), now)?;
            last = now;
        }
    }
    let (prompt, created) = case.prompt_with(json!({})).await?;
    let mut moments = vec![created.timestamp("/data/updatedAt")?];
    for reply in race::times(24, || prompt.update(json!({ "title": "New" }))).await? {
        moments.push(reply.success()?.timestamp("/data/updatedAt")?);
    }
    check::distinct("updatedAt", moments)
}

async fn kept(case: Case) -> Result {
    let (prompt, created) = case.prompt_with(json!({ "platform": "poster" })).await?;
    for fields in [json!({}), json!({ "unknown": 1, "updatedAt": "1970-01-01T00:00:00Z" })] {
        let reply = prompt.update(fields).await?;
        reply.success()?.equals("/data", created.at("/data")?.clone())?;
    }
    for fields in [
        json!({ "title": "" }),
        json!({ "title": "Good", "promptType": "video" }),
        json!({ "title": "Good", "vaultId": 0 }),
    ] {
        prompt.update(fields).await?.status(400)?;
    }
    same_fields(&prompt.get().await?, &created, ["updatedAt"])?;
    let (first, second, [member]) = case.source_and_target().await?;
    let before = member.prompt.get().await?;
    member.pin().await?.status(200)?;
    member.unpin().await?.status(200)?;
    member.moved_to(&second).await?.remove().await?.status(200)?;
    member.prompt.save_into(&first).await?.status(200)?;
    same_fields(&member.prompt.get().await?, &before, ["updatedAt"])
}
