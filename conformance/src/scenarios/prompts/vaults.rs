//! The calls that put a prompt into a vault: create and update with a `vaultId`, and
//! `POST /prompts/{promptId}/save`.

use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.vaults.create-shows" ["PR-27"] create_shows,
        "A prompt that was made with a vaultId shows it in vaultIds" },
    core! { "prompts.vaults.create-listed" ["PR-27"] create_listed,
        "A prompt that was made with a vaultId is in that vault" },
    core! { "prompts.vaults.update-adds" ["PR-38"] update_adds,
        "An update with a vaultId puts the prompt into that vault" },
    core! { "prompts.vaults.update-keeps-others" ["PR-38"] |case| keeps_others(case, Way::Update),
        "An update with a vaultId takes the prompt out of no other vault" },
    core! { "prompts.save.adds" ["PR-44", "VC-03"]
        |case| async move { put_in(&case, Way::Save).await.map(drop) },
        "A save puts the prompt into the vault" },
    core! { "prompts.save.shows" ["PR-45"] save_shows,
        "The prompt that a save answers with has the vault in vaultIds" },
    core! { "prompts.save.keeps-others" ["PR-46"] |case| keeps_others(case, Way::Save),
        "A save leaves the prompt in every vault it was in" },
    core! { "prompts.save.at-once" ["PR-44", "PR-46"] at_once,
        "Saves into several vaults at the same moment all hold" },
    reference! { "prompts.save.again-at-once" ["PR-44", "VC-03"] ("S-26") again_at_once,
        "Saves into one vault at the same moment make one membership" },
    reference! { "prompts.vaults.refused-create-makes-nothing"
        ["PR-27"] ("S-57") refused_create_makes_nothing,
        "A create with the vaultId of no vault makes no prompt" },
];

fn shows(reply: &ApiResponse, vault: &Vault) -> Result {
    let shown = reply.success()?.array("/data/vaultIds")?;
    let what = format!("vaultIds with {}", vault.id);
    reply.ensure(shown.contains(&json!(vault.id)), what, json_text(&shown)).map(drop)
}

async fn create_shows(case: Case) -> Result {
    let vault = case.vault().await?;
    shows(&case.create_prompt(json!({ "vaultId": vault.id })).await?, &vault)
}

async fn create_listed(case: Case) -> Result {
    let vault = case.vault().await?;
    let (prompt, _) = case.prompt_with(json!({ "vaultId": vault.id })).await?;
    vault.expect_prompts([&prompt]).await
}

/// A new prompt is put into a new vault, which then lists it once: the reply, and the vault.
async fn put_in(case: &Case, way: Way) -> Result<(ApiResponse, Vault)> {
    let (vault, prompt) = (case.vault().await?, case.prompt().await?);
    let reply = vault.put(&prompt, way).await?;
    vault.expect_prompts([&prompt]).await?;
    Ok((reply, vault))
}

async fn update_adds(case: Case) -> Result {
    let (reply, vault) = put_in(&case, Way::Update).await?;
    shows(&reply, &vault)
}

async fn save_shows(case: Case) -> Result {
    let (vault, prompt) = (case.vault().await?, case.prompt().await?);
    shows(&prompt.save_into(&vault).await?, &vault)
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

async fn again_at_once(case: Case) -> Result {
    let (prompt, vault) = (case.prompt().await?, case.vault().await?);
    for reply in race::times(16, || prompt.save_into(&vault)).await? {
        reply.status(200)?.equals("/data/vaultIds", json!([vault.id]))?;
    }
    check::equal("memberships and promptCount", &vault.counts_what_it_lists().await?, &1)
}

async fn refused_create_makes_nothing(case: Case) -> Result {
    let (vault, title) = (case.vault().await?, case.name("never"));
    vault.delete().await?.status(200)?;
    case.create_prompt(json!({ "title": title, "vaultId": vault.id })).await?.status(400)?;
    // The newest come first, so it would be here.
    let listed = case.list().limit(100).get().await?;
    let made = listed.array("/data")?.iter().any(|prompt| prompt["title"] == title);
    listed
        .ensure(!made, format!("no prompt with the title {}", json_text(&title)), "there is one")
        .map(drop)
}
