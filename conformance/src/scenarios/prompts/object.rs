//! The prompt object, wherever an answer holds one: which fields it has, of which types, and what
//! it does not show.

use std::collections::BTreeSet;

use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.object.id" ["PR-01", "EN-08"]
        |case| shows(case, &["id"], "an integer", Value::is_i64),
        "The id is an integer in every answer" },
    core! { "prompts.object.id-unique" ["PR-01"] id_unique,
        "Prompts that are made at the same moment have different ids" },
    core! { "prompts.object.title-and-text" ["PR-02", "PR-19"] title_and_text,
        "Title and prompt are strings that hold what was stored" },
    core! { "prompts.object.type" ["PR-03"] kind,
        "The promptType of a prompt is the one it was made with" },
    core! { "prompts.object.platform" ["PR-04"]
        |case| shows(case, &["platform"], "a string or null", |it| it.is_string() || it.is_null()),
        "The platform is a string or null" },
    core! { "prompts.object.status" ["PR-05"]
        |case| shows(case, &["status"], "a string", Value::is_string),
        "The status is a string" },
    core! { "prompts.object.images" ["PR-06"]
        |case| shows(case, &["images"], "an array", Value::is_array),
        "The images are an array" },
    core! { "prompts.object.vault-ids" ["PR-08", "VC-02"] names_its_vaults,
        "The vaultIds are integers and name every vault the prompt is in, and no other" },
    core! { "prompts.object.timestamps" ["PR-09", "EN-09"]
        |case| shows(case, &["createdAt", "updatedAt"], "an ISO 8601 timestamp", is_timestamp),
        "The createdAt and updatedAt are ISO 8601 timestamps" },
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
        |case| shows(case, &["status"], "\"active\"", |it| it == "active"),
        "Every prompt has the status active and keeps it" },
    reference! { "prompts.object.images-empty" ["PR-06"] ("S-05", "S-06")
        |case| shows(case, &["images"], "[]", |it| *it == json!([])),
        "The images are empty until a generation fills them, imageUrl or not" },
    reference! { "prompts.object.vault-ids-order" ["PR-08"] ("S-07") vault_ids_order,
        "The vaultIds ascend, each once, and are empty without a vault" },
];

const FIELDS: &str =
    "id title prompt promptType platform status images vaultIds createdAt updatedAt";

/// Every key of the prompt object is there.
pub(super) fn whole(reply: &ApiResponse, place: &str) -> Result {
    FIELDS.split(' ').try_for_each(|field| reply.at(&format!("{place}/{field}")).map(drop))
}

/// Checks each answer that shows a new prompt with these fields; the check is given the answer
/// and the place of the prompt in it.
async fn in_every_answer(
    case: &Case,
    fields: Value,
    check: impl Fn(&ApiResponse, &str) -> Result,
) -> Result {
    let [first, second] = case.vaults().await?;
    let (prompt, created) = case.prompt_with(fields).await?;
    let read = prompt.get().await?;
    let updated = prompt.update(json!({ "title": "Updated" })).await?;
    let saved = prompt.save_into(&second).await?;
    first.add_in_turn([&prompt]).await?;
    for reply in [created, read, updated, saved] {
        check(&reply, "/data")?;
    }
    // The pages before the one that it is on may be empty (S-71).
    let pages = first.list().walk().await?.pages;
    let shown: Vec<_> = pages.iter().filter(|page| !page.ids.is_empty()).collect();
    check::equal("the number of pages that show it", &shown.len(), &1)?;
    check(&shown[0].reply, "/data/0")
}

/// All that a create takes besides title, text and vault.
fn all_inputs(case: &Case) -> Value {
    json!({
        "promptType": "image",
        "platform": "poster",
        "modelId": case.image_model(),
        "aspectRatio": "16:9",
        "imageUrl": "https://example.com/a.png",
        "referenceMediaUrls": ["https://example.com/b.png"],
    })
}

/// Every answer shows values that fit in these fields, with all inputs and without any.
async fn shows(case: Case, fields: &[&str], what: &str, fits: impl Fn(&Value) -> bool) -> Result {
    let check = |reply: &ApiResponse, prompt: &str| {
        fields.iter().try_for_each(|field| {
            let value = reply.at(&format!("{prompt}/{field}"))?;
            reply.ensure(fits(value), format!("{field} to be {what}"), value).map(drop)
        })
    };
    in_every_answer(&case, json!({}), check).await?;
    in_every_answer(&case, all_inputs(&case), check).await
}

fn is_timestamp(value: &Value) -> bool {
    value.as_str().and_then(check::timestamp).is_some()
}

async fn hides(case: Case, fields: &[&str]) -> Result {
    let check = |reply: &ApiResponse, prompt: &str| {
        let prompt = reply.at(prompt)?;
        let hidden = fields.iter().all(|field| prompt.get(field).is_none());
        reply.ensure(hidden, format!("none of {}", json_text(&fields)), prompt).map(drop)
    };
    in_every_answer(&case, all_inputs(&case), check).await
}

async fn exact_fields(case: Case) -> Result {
    let fields: Vec<_> = FIELDS.split(' ').collect();
    let check = |reply: &ApiResponse, prompt: &str| reply.has_only(prompt, &fields).map(drop);
    in_every_answer(&case, all_inputs(&case), check).await
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
        let check = |reply: &ApiResponse, prompt: &str| {
            reply.equals(&format!("{prompt}/promptType"), kind).map(drop)
        };
        let fields = json!({ "promptType": kind, "modelId": model });
        in_every_answer(&case, fields, check).await?;
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
