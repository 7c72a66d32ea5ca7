//! The prompt object, wherever an answer holds one: its values, and what it does not show. That it
//! has its fields, of their types, is in `answers`.

use std::collections::BTreeSet;

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
    reference! { "prompts.object.exact-fields" ["PR-11", "PR-12"] ("S-05") exact_fields,
        "A prompt object has its ten fields and no other" },
    reference! { "prompts.object.status-active" ["PR-05"] ("S-04")
        |case| shows(case, "status", "\"active\"", |it| it == "active"),
        "Every prompt has the status active and keeps it" },
    reference! { "prompts.object.images-empty" ["PR-06"] ("S-05", "S-06")
        |case| shows(case, "images", "[]", |it| *it == json!([])),
        "The images are empty until a generation fills them, imageUrl or not" },
    reference! { "prompts.object.vault-ids-order" ["PR-08"] ("S-07") vault_ids_order,
        "The vaultIds ascend, each once, and are empty without a vault" },
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

/// Every answer shows a value that fits in the field, with all inputs and without any.
async fn shows(case: Case, field: &str, what: &str, fits: fn(&Value) -> bool) -> Result {
    for fields in [json!({}), all_inputs(&case)] {
        for (reply, place) in in_every_answer(&case, fields).await? {
            let value = reply.at(&format!("{place}/{field}"))?;
            reply.ensure(fits(value), format!("{field} to be {what}"), value)?;
        }
    }
    Ok(())
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
    for (reply, place) in in_every_answer(&case, all_inputs(&case)).await? {
        reply.has_only(&place, &fields)?;
    }
    Ok(())
}

async fn id_unique(case: Case) -> Result {
    let distinct = BTreeSet::from_iter(ids(case.prompts(16).await?));
    check::equal("the number of different ids of 16 prompts", &distinct.len(), &16)
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
