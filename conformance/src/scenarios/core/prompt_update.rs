//! The calls on one prompt: `GET`, `PATCH`, `DELETE` and `POST …/save`: their answers, what an update
//! sets and leaves, the vaults that a prompt is put into, and what a refused call leaves behind.

use super::prompt_create::{ACCEPTED, typed, updates};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub const ALL: &[Scenario] = &[
    scenario! { "prompts.delete.gone" ["PR-40", "PR-41", "PR-13"] gone,
        "A delete answers 200 with the id and deleted true; then no read and no list has the prompt" },
    scenario! { "prompts.delete.in-no-vault" ["PR-42", "PR-15", "VA-10"] in_no_vault,
        "A deleted prompt is in none of its vaults, counts and lists; their other prompts stay" },
    scenario! { "prompts.vaults.create-adds" ["PR-27"] create_adds,
        "A prompt that was made with a vaultId shows it in vaultIds and is in that vault" },
    scenario! { "prompts.vaults.update-adds" ["PR-38"] |case| put_in(case, Way::Update),
        "An update with a vaultId puts the prompt into that vault, and its answer shows it" },
    scenario! { "prompts.save.adds" ["PR-44", "PR-45", "VC-03"] |case| put_in(case, Way::Save),
        "A save puts the prompt into the vault, and its answer shows it in vaultIds" },
    scenario! { "prompts.save.at-once" ["PR-44", "PR-46"] |case| saves_at_once(case.under_contention()),
        "Saves into several vaults at the same moment all take effect" },
    scenario! { "prompts.read.the-one-named" ["PR-30"] the_one_named,
        "A read answers with the prompt that the path names" },
    scenario! { "prompts.update.answer-is-new" ["PR-31"] answer_is_new,
        "An update answers with the prompt as it is afterwards" },
    scenario! { "prompts.update.stored" ["PR-33"] stored,
        "Later reads show what an update sets, and every other prompt is as it was" },
    scenario! { "prompts.update.input-only" ["PR-34"] input_only,
        "An update takes modelId, aspectRatio, imageUrl and referenceMediaUrls" },
    scenario! { "prompts.update.at-once" ["PR-32"] at_once,
        "Updates of different fields at the same moment do not undo each other" },
];

async fn gone(case: Case) -> Result {
    let prompt = case.prompt().await?;
    case.list().find(&case, [&prompt]).await?;
    let reply = prompt.delete().await?;
    reply.status(200)?.shows(&json!({ "id": prompt.id, "deleted": true }))?;
    // The id is not given to another one.
    case.prompts(3).await?;
    prompt.get().await?.status(404)?;
    case.list().limit(100).walk().await?.expect_none([&prompt])
}

async fn in_no_vault(case: Case) -> Result {
    let (vaults, prompt) = (case.vaults::<2>().await?, case.prompt().await?);
    let others = ids(vaults[0].fill(3).await?);
    for vault in &vaults {
        vault.add_in_turn([&prompt]).await?;
    }
    let members = [vaults[0].member_of(&prompt).await?, vaults[1].member_of(&prompt).await?];
    prompt.delete().await?;
    for member in members {
        member.pin().await?.is_client_error("the pin of a deleted prompt")?;
    }
    for (vault, left) in vaults.iter().zip([others, Vec::new()]) {
        vault.expect_prompts_in_any_order(&left).await?;
        vault.read().await?.equals("/data/promptCount", left.len())?;
        vault.list().walk().await?.expect_exactly(&left)?;
    }
    Ok(())
}

fn shows(reply: &ApiResponse, vault: &Vault) -> Result {
    let shown = reply.success()?.array("/data/vaultIds")?;
    let what = format!("vaultIds with {}", vault.id);
    reply.ensure(shown.contains(&json!(vault.id)), what, json_text(&shown)).map(drop)
}

async fn create_adds(case: Case) -> Result {
    let vault = case.vault().await?;
    let (prompt, created) = case.prompt_with(json!({ "vaultId": vault.id })).await?;
    shows(&created, &vault)?;
    vault.expect_prompts([&prompt]).await
}

async fn put_in(case: Case, way: Way) -> Result {
    let (vault, prompt) = (case.vault().await?, case.prompt().await?);
    let reply = vault.put(&prompt, way).await?;
    vault.expect_prompts([&prompt]).await?;
    shows(&reply, &vault)
}

async fn saves_at_once(case: Case) -> Result {
    let (prompt, vaults) = (case.prompt().await?, case.vaults::<12>().await?);
    let saves = race::all(vaults.iter().map(|vault| prompt.save_into(vault))).await?;
    race::expect_status(&saves, 200)?;
    prompt.expect_vaults(&vaults, &vaults).await
}

async fn the_one_named(case: Case) -> Result {
    for _ in 0..3 {
        case.prompt().await?;
        let title = json!({ "title": case.name("named") });
        let (prompt, _) = case.prompt_with(title.clone()).await?;
        case.prompt().await?;
        prompt.read().await?.equals("/data/id", prompt.id)?.shows(&title)?;
    }
    Ok(())
}

fn shown(case: &Case) -> [Value; 4] {
    [
        json!({ "title": case.name("new") }),
        json!({ "prompt": "A harbour at dawn" }),
        json!({ "promptType": "text" }),
        json!({ "platform": "poster" }),
    ]
}

/// An image prompt, since every prompt may become a text prompt, and the reply that shows it.
async fn before(case: &Case) -> Result<(Prompt, ApiResponse)> {
    case.prompt_with(merged(typed(case, "image"), json!({ "platform": "before" }))).await
}

async fn answer_is_new(case: Case) -> Result {
    let (prompt, _) = before(&case).await?;
    for fields in shown(&case) {
        let reply = prompt.update(fields.clone()).await?;
        reply.success()?.equals("/data/id", prompt.id)?.shows(&fields)?;
    }
    Ok(())
}

async fn stored(case: Case) -> Result {
    let ((prompt, _), (other, kept)) = (before(&case).await?, before(&case).await?);
    for fields in shown(&case) {
        prompt.update(fields.clone()).await?.success()?;
        prompt.get().await?.shows(&fields)?;
    }
    // Also together: one field must not prevent the update of another.
    let ((prompt, _), vault) = (before(&case).await?, case.vault().await?);
    let all = shown(&case).into_iter().fold(json!({}), merged);
    prompt.update(merged(all.clone(), json!({ "vaultId": vault.id }))).await?.success()?;
    vault.expect_prompts([&prompt]).await?;
    prompt.get().await?.shows(&all)?;
    // A change of nothing but capitals is a change.
    prompt.update(json!({ "title": "Aé" })).await?.success()?;
    prompt.update(json!({ "title": "aÉ" })).await?.success()?.equals("/data/title", "aÉ")?;
    same_fields(&other.get().await?, &kept, ["title", "prompt", "promptType", "platform"])
}

async fn input_only(case: Case) -> Result {
    let [a, b] = ["https://example.com/a.png", "https://example.com/b.mp4"];
    let fields = [
        json!({ "modelId": case.image_model() }),
        json!({ "modelId": case.video_model() }),
        json!({ "aspectRatio": "16:9" }),
        json!({ "imageUrl": a }),
        json!({ "referenceMediaUrls": [a, b] }),
        json!({ "referenceMediaUrls": [] }),
    ];
    updates(case, fields, ACCEPTED).await
}

async fn at_once(case: Case) -> Result {
    let (prompt, _) = before(&case.under_contention()).await?;
    for round in 0..16 {
        let (title, platform) = (format!("title {round}"), format!("platform {round}"));
        let updates = [json!({ "title": title }), json!({ "platform": platform })];
        let replies = race::all(updates.clone().map(|fields| prompt.update(fields))).await?;
        race::expect_status(&replies, 200)?;
        let read = prompt.get().await?;
        updates.iter().try_for_each(|fields| read.shows(fields).map(drop))?;
    }
    Ok(())
}
