//! The field `vaultId` of create and update.

use serde_json::{Value, json};

use super::attempt::{Attempt, On, attempt, both};
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
    core! { "prompts.vaults.absent" ["PR-27", "PR-38"] absent,
        "A vaultId of a vault that was deleted is refused with a 4xx" },
    core! { "prompts.vaults.foreign" ["PR-27", "PR-38"] [OtherAccount] foreign,
        "A vaultId of another account is refused with a 4xx, and nothing is put into the vault" },
    reference! { "prompts.vaults.named" ["PR-27", "PR-38", "ER-03"] named,
        "A vaultId that names no vault is refused with 400, naming vaultId (S-57)" },
    reference! { "prompts.vaults.same-words" ["PR-27", "PR-38"] [OtherAccount] same_words,
        "A vault that does not exist and one of another account are refused alike (S-57)" },
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

/// What a refusal says, ids aside.
pub(super) fn words(error: &Value, details: &Value) -> String {
    format!("{error} {details}").chars().filter(|c| !c.is_ascii_digit()).collect()
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

async fn absent(case: Case) -> Result<(), Failure> {
    let vault = gone(&case, &case.wire()).await?;
    for on in both(&case).await? {
        attempt(&case, on, json!({ "vaultId": vault })).await?.not_accepted()?;
    }
    Ok(())
}

async fn foreign(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.other()).await?;
    for on in both(&case).await? {
        attempt(&case, on, json!({ "vaultId": vault })).await?.not_accepted()?;
    }
    let contents = make::contents(&case.other(), vault).await?;
    check::equal("the contents of the other account's vault", &contents, &vec![])
}

async fn named(case: Case) -> Result<(), Failure> {
    let gone = gone(&case, &case.wire()).await?;
    for vault in [gone, 0, -1, i64::MAX, i64::MIN] {
        for on in both(&case).await? {
            attempt(&case, on, json!({ "vaultId": vault })).await?.names("vaultId")?;
        }
    }
    Ok(())
}

async fn same_words(case: Case) -> Result<(), Failure> {
    let vaults = [
        gone(&case, &case.wire()).await?,
        i64::MAX,
        make::vault(&case, &case.other()).await?,
        gone(&case, &case.other()).await?,
    ];
    for on in both(&case).await? {
        let mut said = Vec::new();
        for vault in vaults {
            let Attempt { reply, .. } = attempt(&case, on, json!({ "vaultId": vault })).await?;
            said.push(words(reply.status(400)?.at("/error")?, reply.at("/details")?));
        }
        check::equal("what is said of each vault", &said, &vec![said[0].clone(); said.len()])?;
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
