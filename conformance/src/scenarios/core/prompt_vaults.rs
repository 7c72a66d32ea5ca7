//! `DELETE /prompts/{promptId}`, and the calls that put a prompt into a vault: create and update
//! with a `vaultId`, and `POST /prompts/{promptId}/save`.

use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    core! { "prompts.delete.gone" ["PR-40", "PR-41", "PR-13"] gone,
        "A delete answers 200 with the id and deleted true; then the prompt is in no read and list" },
    core! { "prompts.delete.in-no-vault" ["PR-42", "PR-15", "VA-10"] in_no_vault,
        "A deleted prompt is in none of its vaults, counts and lists; the others of them stay" },
    core! { "prompts.vaults.create-adds" ["PR-27"] create_adds,
        "A prompt that was made with a vaultId shows it in vaultIds and is in that vault" },
    core! { "prompts.vaults.update-adds" ["PR-38"] |case| put_in(case, Way::Update),
        "An update with a vaultId puts the prompt into that vault, and its answer shows it" },
    core! { "prompts.vaults.update-keeps-others" ["PR-38"] |case| keeps_others(case, Way::Update),
        "An update with a vaultId takes the prompt out of no other vault" },
    core! { "prompts.save.adds" ["PR-44", "PR-45", "VC-03"] |case| put_in(case, Way::Save),
        "A save puts the prompt into the vault, and its answer shows it in vaultIds" },
    core! { "prompts.save.keeps-others" ["PR-46"] |case| keeps_others(case, Way::Save),
        "A save leaves the prompt in every vault it was in" },
    core! { "prompts.save.at-once" ["PR-44", "PR-46"] at_once,
        "Saves into several vaults at the same moment all hold" },
];

async fn gone(case: Case) -> Result {
    let prompt = case.prompt().await?;
    case.list().find(&case, [&prompt]).await?;
    let reply = prompt.delete().await?;
    reply.status(200)?.equals("/data/id", prompt.id)?.equals("/data/deleted", true)?;
    prompt.get().await?.status(404)?;
    case.list().limit(100).walk().await?.expect_none([&prompt])
}

async fn in_no_vault(case: Case) -> Result {
    let (vaults, prompt) = (case.vaults::<2>().await?, case.prompt().await?);
    let others = ids(vaults[0].fill(3).await?);
    for vault in &vaults {
        vault.add_in_turn([&prompt]).await?;
    }
    prompt.delete().await?;
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

async fn keeps_others(case: Case, way: Way) -> Result {
    let (prompt, [vault, first, second]) = (case.prompt().await?, case.vaults().await?);
    for other in [&first, &second] {
        other.add_in_turn([&prompt]).await?;
    }
    vault.put(&prompt, way).await?.success()?;
    first.expect_prompts([&prompt]).await?;
    second.expect_prompts([&prompt]).await
}

async fn at_once(case: Case) -> Result {
    let case = case.under_contention();
    let (prompt, vaults) = (case.prompt().await?, case.vaults::<8>().await?);
    let saves = race::all(vaults.iter().map(|vault| prompt.save_into(vault))).await?;
    race::expect_status(&saves, 200)?;
    prompt.expect_vaults(&vaults, &vaults).await
}
