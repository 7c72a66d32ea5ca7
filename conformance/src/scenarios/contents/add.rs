//! `POST /vaults/{vaultId}/prompts`: what it takes, answers and refuses.

use serde_json::json;

use crate::fixture::Prompt;
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "contents.add.puts-in" ["VC-10"] puts_in,
        "The prompts that promptIds names are in the vault afterwards" },
    core! { "contents.add.answer" ["VC-11"] answer,
        "The answer says how many were added, to which vault, and its count afterwards" },
    core! { "contents.add.unknown-prompt" ["VC-14"] unknown_prompt,
        "A request with the id of a deleted prompt is no success and does not add it" },
    core! { "contents.add.foreign-prompt" ["VC-14"] [OtherAccount] foreign_prompt,
        "A request with the id of another account's prompt is no success and does not add it" },
    reference! { "contents.add.all-or-nothing" ["VC-14"] all_or_nothing,
        "One id that cannot be added keeps the whole list out" },
    reference! { "contents.add.impossible-ids" ["VC-14"] impossible_ids,
        "Ids that no prompt can have are refused like those of no prompt" },
];

async fn puts_in(case: Case) -> Result<(), Failure> {
    let (vault, prompts) = (case.vault().await?, case.prompts(4).await?);
    for some in [&prompts[..1], &prompts[1..]] {
        vault.add(some).await?.status(201)?;
    }
    vault.expect_prompts_in_any_order(&prompts).await
}

async fn answer(case: Case) -> Result<(), Failure> {
    let (vault, prompts) = (case.vault().await?, case.prompts(6).await?);
    for (some, count) in [(&prompts[..1], 1), (&prompts[1..3], 3), (&prompts[3..], 6)] {
        let reply = vault.add(some).await?;
        reply.equals("/data/added", some.len())?.equals("/data/vaultId", vault.id)?;
        reply.equals("/data/promptCount", count)?;
    }
    Ok(())
}

async fn deleted_prompt(case: &Case) -> Result<Prompt, Failure> {
    let prompt = case.prompt().await?;
    prompt.delete().await?.status(200)?;
    Ok(prompt)
}

async fn unknown_prompt(case: Case) -> Result<(), Failure> {
    let deleted = deleted_prompt(&case).await?;
    not_added(&case, &deleted).await
}

async fn foreign_prompt(case: Case) -> Result<(), Failure> {
    let foreign = case.other_account().prompt().await?;
    not_added(&case, &foreign).await
}

/// A refusal may come after the good ids of the list were added (S-27).
async fn not_added(case: &Case, prompt: &Prompt) -> Result<(), Failure> {
    let (vault, known) = (case.vault().await?, case.prompt().await?);
    for prompts in [vec![prompt], vec![&known, prompt], vec![prompt, &known]] {
        vault.add(prompts).await?.is_client_error("promptIds with one that cannot be added")?;
    }
    let listing = vault.listing().await?;
    let listed = listing.integers("/data", "id")?;
    let what = format!("a listing without the prompt {}", prompt.id);
    listing.ensure(!listed.contains(&prompt.id), what, format!("{listed:?}")).map(drop)
}

/// S-27.
async fn all_or_nothing(case: Case) -> Result<(), Failure> {
    let (vault, known) = (case.vault().await?, case.prompt().await?);
    let unknown = deleted_prompt(&case).await?;
    for prompts in [[&known, &unknown], [&unknown, &known]] {
        let reply = vault.add(prompts).await?;
        reply.is_bad_request("a list with a deleted prompt")?.string("/details/promptIds")?;
    }
    vault.listing().await?.equals("/data", json!([])).map(drop)
}

/// S-57.
async fn impossible_ids(case: Case) -> Result<(), Failure> {
    let vault = case.vault().await?;
    for id in [0, -1, i64::MIN, i64::MAX] {
        let reply = vault.add([id]).await?;
        reply.is_bad_request(format!("promptIds [{id}]"))?.string("/details/promptIds")?;
    }
    Ok(())
}
