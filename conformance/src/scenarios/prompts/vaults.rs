//! The field `vaultId` of create and update.

use serde_json::json;

use super::attempt::{On, attempt};
use crate::scenario::{core, reference};
use crate::wire::Wire;
use crate::{Case, Failure, Scenario, check, make};

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
    reference! { "prompts.vaults.update-again" ["PR-38"] update_again,
        "An update with a vault the prompt is in already keeps the membership (S-26)" },
];

/// The id of a vault that is no more.
pub(super) async fn gone(case: &Case, wire: &Wire) -> Result<i64, Failure> {
    let vault = make::vault(case, wire).await?;
    wire.delete(&format!("/vaults/{vault}")).await?.status(200)?;
    Ok(vault)
}

async fn holds(case: &Case, vault: i64, prompt: i64) -> Result<(), Failure> {
    let listed = make::contents(&case.wire(), vault).await?;
    let times = listed.iter().filter(|member| member.prompt == prompt).count();
    check::equal("how often the vault lists the prompt", &times, &1)
}

async fn create_shows(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire()).await?;
    let tried = attempt(&case, On::Create, json!({ "vaultId": vault })).await?;
    let shown = tried.accepted()?.array("/data/vaultIds")?;
    let got = format!("{shown:?}");
    tried.reply.ensure(shown.contains(&json!(vault)), format!("vaultIds with {vault}"), got)?;
    Ok(())
}

async fn create_listed(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire()).await?;
    let tried = attempt(&case, On::Create, json!({ "vaultId": vault })).await?;
    holds(&case, vault, tried.accepted()?.integer("/data/id")?).await
}

async fn update_adds(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire()).await?;
    let prompt = make::prompt(&case, &case.wire()).await?;
    let tried = attempt(&case, On::Update(prompt), json!({ "vaultId": vault })).await?;
    let shown = tried.accepted()?.array("/data/vaultIds")?;
    let got = format!("{shown:?}");
    tried.reply.ensure(shown.contains(&json!(vault)), format!("vaultIds with {vault}"), got)?;
    holds(&case, vault, prompt).await
}

async fn update_keeps_others(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let prompt = make::prompt(&case, &wire).await?;
    let mut vaults = Vec::new();
    for _ in 0..3 {
        vaults.push(make::vault(&case, &wire).await?);
    }
    make::fill(&wire, vaults[0], &[prompt]).await?;
    make::fill(&wire, vaults[1], &[prompt]).await?;
    let tried = attempt(&case, On::Update(prompt), json!({ "vaultId": vaults[2] })).await?;
    tried.accepted()?;
    for vault in &vaults[..2] {
        holds(&case, *vault, prompt).await?;
    }
    Ok(())
}

async fn refused_create_makes_nothing(case: Case) -> Result<(), Failure> {
    let (vault, title) = (gone(&case, &case.wire()).await?, case.name("never"));
    let fields = json!({ "title": title, "vaultId": vault });
    attempt(&case, On::Create, fields).await?.refused()?;
    // The newest come first, so it would be here.
    let listed = case.wire().get("/prompts?limit=100").await?;
    let made = listed.array("/data")?.iter().any(|prompt| prompt["title"] == title);
    listed.ensure(!made, format!("no prompt with the title {title:?}"), "there is one")?;
    Ok(())
}

async fn update_again(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let members = make::members(&case, &wire, vault, 3).await?;
    let before = make::contents(&wire, vault).await?;
    let on = On::Update(members[0].prompt);
    let tried = attempt(&case, on, json!({ "vaultId": vault })).await?;
    tried.accepted()?.equals("/data/vaultIds", json!([vault]))?;
    check::equal("the contents of the vault", &make::contents(&wire, vault).await?, &before)
}
