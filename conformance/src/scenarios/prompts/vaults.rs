//! The field `vaultId` of create and update.

use serde_json::json;

use crate::fixture::{Prompt, Vault};
use crate::scenario::{core, reference};
use crate::wire::ApiResponse;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.vaults.create-shows" ["PR-27"] create_shows,
        "A prompt that was made with a vaultId shows it in vaultIds" },
    core! { "prompts.vaults.create-listed" ["PR-27"] create_listed,
        "A prompt that was made with a vaultId is in that vault" },
    core! { "prompts.vaults.update-adds" ["PR-38"] update_adds,
        "An update with a vaultId puts the prompt into that vault" },
    core! { "prompts.vaults.update-keeps-others" ["PR-38"] update_keeps_others,
        "An update with a vaultId takes the prompt out of no other vault" },
    reference! { "prompts.vaults.refused-create-makes-nothing"
        ["PR-27"] refused_create_makes_nothing,
        "A create with the vaultId of no vault makes no prompt (S-57)" },
];

fn shows(reply: &ApiResponse, vault: &Vault) -> Result<(), Failure> {
    let shown = reply.success()?.array("/data/vaultIds")?;
    let what = format!("vaultIds with {}", vault.id);
    reply.ensure(shown.contains(&json!(vault.id)), what, format!("{shown:?}")).map(drop)
}

async fn holds_once(vault: &Vault, prompt: &Prompt) -> Result<(), Failure> {
    let listing = vault.listing().await?;
    let listed = listing.integers("/data", "id")?;
    let times = listed.iter().filter(|id| **id == prompt.id).count();
    listing.ensure(times == 1, "the prompt once", format!("{times} times")).map(drop)
}

async fn create_shows(case: Case) -> Result<(), Failure> {
    let vault = case.vault().await?;
    shows(&case.create_prompt(json!({ "vaultId": vault.id })).await?, &vault)
}

async fn create_listed(case: Case) -> Result<(), Failure> {
    let vault = case.vault().await?;
    let (prompt, _) = case.prompt_with(json!({ "vaultId": vault.id })).await?;
    holds_once(&vault, &prompt).await
}

async fn update_adds(case: Case) -> Result<(), Failure> {
    let (vault, prompt) = (case.vault().await?, case.prompt().await?);
    shows(&prompt.update(json!({ "vaultId": vault.id })).await?, &vault)?;
    holds_once(&vault, &prompt).await
}

async fn update_keeps_others(case: Case) -> Result<(), Failure> {
    let (prompt, [first, second, third]) = (case.prompt().await?, case.vaults().await?);
    for vault in [&first, &second] {
        vault.add_in_turn([&prompt]).await?;
    }
    prompt.update(json!({ "vaultId": third.id })).await?.success()?;
    holds_once(&first, &prompt).await?;
    holds_once(&second, &prompt).await
}

async fn refused_create_makes_nothing(case: Case) -> Result<(), Failure> {
    let (vault, title) = (case.vault().await?, case.name("never"));
    vault.delete().await?.status(200)?;
    case.create_prompt(json!({ "title": title, "vaultId": vault.id })).await?.status(400)?;
    // The newest come first, so it would be here.
    let listed = case.list().limit(100).get().await?;
    let made = listed.array("/data")?.iter().any(|prompt| prompt["title"] == title);
    listed.ensure(!made, format!("no prompt with the title {title:?}"), "there is one").map(drop)
}
