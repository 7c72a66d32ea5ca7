//! The prompt object, wherever an answer holds one: which fields it has, of
//! which types, and what it does not show. What our server chose beyond that is
//! in `choices`.

use std::collections::BTreeSet;

use futures::future::try_join_all;
use serde_json::{Value, json};

use crate::scenario::core;
use crate::wire::ApiResponse;
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.object.id" ["PR-01", "EN-08"]
        |case| shows(case, "id", "an integer", Value::is_i64),
        "The id is an integer in every answer" },
    core! { "prompts.object.id-unique" ["PR-01"] id_unique,
        "Prompts that are made at the same moment have different ids" },
    core! { "prompts.object.title-and-text" ["PR-02", "PR-19"] title_and_text,
        "Title and prompt are strings that hold what was stored" },
    core! { "prompts.object.type" ["PR-03"] kind,
        "The promptType of a prompt is the one it was made with" },
    core! { "prompts.object.platform" ["PR-04"]
        |case| shows(case, "platform", "a string or null", |it| it.is_string() || it.is_null()),
        "The platform is a string or null" },
    core! { "prompts.object.status" ["PR-05"]
        |case| shows(case, "status", "a string", Value::is_string),
        "The status is a string" },
    core! { "prompts.object.images" ["PR-06"]
        |case| shows(case, "images", "an array", Value::is_array),
        "The images are an array" },
    core! { "prompts.object.vault-ids" ["PR-08"] vault_ids,
        "The vaultIds are integers and name every vault the prompt is in, and no other" },
    core! { "prompts.object.timestamps" ["PR-09", "EN-09"] timestamps,
        "The createdAt and updatedAt are ISO 8601 timestamps" },
    core! { "prompts.object.no-membership" ["PR-11"]
        |case| hides(case, &["vaultPromptId", "isPinned"]),
        "No prompt object but those of a vault's listing has vaultPromptId or isPinned" },
    core! { "prompts.object.no-input" ["PR-12"]
        |case| hides(case, INPUT_ONLY),
        "A prompt object does not show the fields that are input only" },
];

pub(super) const FIELDS: [&str; 10] = [
    "id",
    "title",
    "prompt",
    "promptType",
    "platform",
    "status",
    "images",
    "vaultIds",
    "createdAt",
    "updatedAt",
];

const INPUT_ONLY: &[&str] =
    &["modelId", "aspectRatio", "vaultId", "imageUrl", "referenceMediaUrls"];

/// Every key of the prompt object is there.
pub(super) fn whole(reply: &ApiResponse, place: &str) -> Result<(), Failure> {
    for field in FIELDS {
        reply.at(&format!("{place}/{field}"))?;
    }
    Ok(())
}

/// Checks each answer that shows a new prompt with these fields; the check is given the answer
/// and the place of the prompt in it.
pub(super) async fn in_every_answer(
    case: &Case,
    fields: Value,
    check: impl Fn(&ApiResponse, &str) -> Result<(), Failure>,
) -> Result<(), Failure> {
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
pub(super) fn all_inputs(case: &Case) -> Value {
    json!({
        "promptType": "image",
        "platform": "poster",
        "modelId": case.image_model(),
        "aspectRatio": "16:9",
        "imageUrl": "https://example.com/a.png",
        "referenceMediaUrls": ["https://example.com/b.png"],
    })
}

/// Every answer shows a value that fits in this field, with a platform and without one.
async fn shows(
    case: Case,
    field: &str,
    what: &str,
    fits: impl Fn(&Value) -> bool,
) -> Result<(), Failure> {
    let check = |reply: &ApiResponse, prompt: &str| {
        let value = reply.at(&format!("{prompt}/{field}"))?;
        reply.ensure(fits(value), format!("{field} to be {what}"), value).map(drop)
    };
    in_every_answer(&case, json!({}), check).await?;
    in_every_answer(&case, json!({ "platform": "poster" }), check).await
}

async fn id_unique(case: Case) -> Result<(), Failure> {
    let prompts = try_join_all((0..16).map(|_| case.prompt())).await?;
    let distinct: BTreeSet<_> = prompts.iter().map(|prompt| prompt.id).collect();
    check::equal("the number of different ids of 16 prompts", &distinct.len(), &16)
}

async fn title_and_text(case: Case) -> Result<(), Failure> {
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

async fn kind(case: Case) -> Result<(), Failure> {
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

async fn vault_ids(case: Case) -> Result<(), Failure> {
    let (vaults, prompt) = (case.vaults::<4>().await?, case.prompt().await?);
    for inside in 1..=3 {
        vaults[inside - 1].add_in_turn([&prompt]).await?;
        prompt.expect_vaults(&vaults, &vaults[..inside]).await?;
    }
    Ok(())
}

async fn timestamps(case: Case) -> Result<(), Failure> {
    let check = |reply: &ApiResponse, prompt: &str| {
        reply.timestamp(&format!("{prompt}/createdAt"))?;
        reply.timestamp(&format!("{prompt}/updatedAt")).map(drop)
    };
    in_every_answer(&case, json!({}), check).await
}

async fn hides(case: Case, fields: &[&str]) -> Result<(), Failure> {
    let check = |reply: &ApiResponse, prompt: &str| {
        let prompt = reply.at(prompt)?;
        let mut absent = fields.iter().map(|field| (field, prompt.get(field).is_none()));
        let present = absent.find(|(_, absent)| !absent);
        reply.ensure(present.is_none(), format!("none of {fields:?}"), prompt).map(drop)
    };
    in_every_answer(&case, all_inputs(&case), check).await
}
