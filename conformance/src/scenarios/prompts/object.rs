//! The prompt object, wherever an answer holds one: which fields it has, of
//! which types, and what it does not show. What our server chose beyond that is
//! in `choices`.

use futures::future::try_join_all;
use serde_json::{Value, json};

use crate::scenario::core;
use crate::scenarios::pagination::walk::{in_vault, walk};
use crate::wire::Reply;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.object.id" ["PR-01", "EN-08"] id,
        "The id is an integer in every answer" },
    core! { "prompts.object.id-unique" ["PR-01"] id_unique,
        "Prompts that are made at the same moment have different ids" },
    core! { "prompts.object.title-and-text" ["PR-02"] title_and_text,
        "Title and prompt are strings that hold what was stored" },
    core! { "prompts.object.type" ["PR-03"] kind,
        "The promptType of a prompt is the one it was made with" },
    core! { "prompts.object.platform" ["PR-04"] platform,
        "The platform is a string or null" },
    core! { "prompts.object.status" ["PR-05"] status,
        "The status is a string" },
    core! { "prompts.object.images" ["PR-06"] images,
        "The images are an array" },
    core! { "prompts.object.vault-ids" ["PR-08"] vault_ids,
        "The vaultIds are integers and name every vault the prompt is in, and no other" },
    core! { "prompts.object.timestamps" ["PR-09", "EN-09"] timestamps,
        "The createdAt and updatedAt are ISO 8601 timestamps" },
    core! { "prompts.object.no-membership" ["PR-11"] no_membership,
        "No prompt object but those of a vault's listing has vaultPromptId or isPinned" },
    core! { "prompts.object.no-input" ["PR-12"] no_input,
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

/// Every key of the prompt object is there.
pub(super) fn whole(reply: &Reply, place: &str) -> Result<(), Failure> {
    for field in FIELDS {
        reply.at(&format!("{place}/{field}"))?;
    }
    Ok(())
}

/// A new prompt in every answer that shows it, and where it stands there.
pub(super) async fn everywhere(
    case: &Case,
    fields: Value,
) -> Result<Vec<(Reply, &'static str)>, Failure> {
    let wire = case.wire();
    let (first, second) = (make::vault(case, &wire).await?, make::vault(case, &wire).await?);
    let created = make::prompt_with(case, &wire, fields).await?;
    let id = created.integer("/data/id")?;
    let path = format!("/prompts/{id}");
    let read = wire.get(&path).await?;
    let updated = wire.patch(&path, json!({ "title": "Updated" })).await?;
    let saved = wire.post(&format!("{path}/save"), json!({ "vaultId": second })).await?;
    make::fill(&wire, first, &[id]).await?;
    let mut shown = vec![(created, "/data"), (read, "/data"), (updated, "/data"), (saved, "/data")];
    // The pages before the one that it is on may be empty (S-71).
    for page in walk(&wire, &in_vault(first), None).await? {
        if !page.ids.is_empty() {
            shown.push((page.reply, "/data/0"));
        }
    }
    check::equal("the number of answers that show it", &shown.len(), &5)?;
    Ok(shown)
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

async fn id(case: Case) -> Result<(), Failure> {
    for (reply, place) in everywhere(&case, json!({})).await? {
        reply.integer(&format!("{place}/id"))?;
    }
    Ok(())
}

async fn id_unique(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let mut ids = try_join_all((0..16).map(|_| make::prompt(&case, &wire))).await?;
    ids.sort_unstable();
    ids.dedup();
    check::equal("the number of different ids of 16 prompts", &ids.len(), &16)
}

async fn title_and_text(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    for (title, text) in [
        ("Dusk", "A lighthouse at dusk"),
        ("\"Quoted\" \\ / & <b> %20 ${x} '; --", "{\"json\": [1, null]}\nand a second line"),
        ("Château 漢字 日本", "Ein großer Ölkrug, žluťoučký kůň, 灯台"),
    ] {
        let made =
            make::prompt_with(&case, &wire, json!({ "title": title, "prompt": text })).await?;
        let read = wire.get(&format!("/prompts/{}", made.integer("/data/id")?)).await?;
        for reply in [&made, &read] {
            reply.equals("/data/title", title)?.equals("/data/prompt", text)?;
        }
    }
    Ok(())
}

async fn kind(case: Case) -> Result<(), Failure> {
    for (kind, model) in
        [("image", case.image_model()), ("video", case.video_model()), ("text", case.image_model())]
    {
        let fields = json!({ "promptType": kind, "modelId": model });
        for (reply, place) in everywhere(&case, fields).await? {
            reply.equals(&format!("{place}/promptType"), kind)?;
        }
    }
    Ok(())
}

async fn platform(case: Case) -> Result<(), Failure> {
    let mut shown = everywhere(&case, json!({})).await?;
    shown.extend(everywhere(&case, json!({ "platform": "poster" })).await?);
    for (reply, place) in shown {
        let platform = reply.at(&format!("{place}/platform"))?;
        reply.ensure(platform.is_string() || platform.is_null(), "a string or null", platform)?;
    }
    Ok(())
}

async fn status(case: Case) -> Result<(), Failure> {
    for (reply, place) in everywhere(&case, json!({})).await? {
        reply.string(&format!("{place}/status"))?;
    }
    Ok(())
}

async fn images(case: Case) -> Result<(), Failure> {
    for (reply, place) in everywhere(&case, json!({})).await? {
        reply.array(&format!("{place}/images"))?;
    }
    Ok(())
}

async fn vault_ids(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let mut vaults = Vec::new();
    for _ in 0..4 {
        vaults.push(make::vault(&case, &wire).await?);
    }
    let prompt = make::prompt(&case, &wire).await?;
    for inside in 1..=3 {
        make::fill(&wire, vaults[inside - 1], &[prompt]).await?;
        let mut own = make::vaults_of(&wire, prompt).await?;
        own.retain(|id| vaults.contains(id));
        own.sort_unstable();
        let mut expected = vaults[..inside].to_vec();
        expected.sort_unstable();
        check::equal("the vaultIds among the scenario's vaults", &own, &expected)?;
    }
    Ok(())
}

async fn timestamps(case: Case) -> Result<(), Failure> {
    for (reply, place) in everywhere(&case, json!({})).await? {
        reply.timestamp(&format!("{place}/createdAt"))?;
        reply.timestamp(&format!("{place}/updatedAt"))?;
    }
    Ok(())
}

async fn no_membership(case: Case) -> Result<(), Failure> {
    absent(&case, &["vaultPromptId", "isPinned"]).await
}

async fn no_input(case: Case) -> Result<(), Failure> {
    absent(&case, &["modelId", "aspectRatio", "vaultId", "imageUrl", "referenceMediaUrls"]).await
}

async fn absent(case: &Case, fields: &[&str]) -> Result<(), Failure> {
    for (reply, place) in everywhere(case, all_inputs(case)).await? {
        let prompt = reply.at(place)?;
        for field in fields {
            reply.ensure(prompt.get(field).is_none(), format!("no {field}"), prompt)?;
        }
    }
    Ok(())
}
