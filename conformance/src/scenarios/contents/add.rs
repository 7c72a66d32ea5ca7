//! `POST /vaults/{vaultId}/prompts`: what it takes and answers, what it
//! refuses. How the reference server refuses is in `choices`.

pub(super) mod choices;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::prompts;
use crate::scenario::core;
use crate::wire::{Reply, Wire};
use crate::{Case, Failure, Scenario, check, make};

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
];

async fn add(wire: &Wire, vault: i64, ids: impl Into<Value>) -> Result<Reply, Failure> {
    let body = json!({ "promptIds": ids.into() });
    wire.post(&format!("/vaults/{vault}/prompts"), body).await
}

/// A refusal may come after the good ids of the list were added (S-27).
async fn not_added(wire: &Wire, vault: i64, prompt: i64) -> Result<(), Failure> {
    let listed = prompts(wire, vault).await?;
    check::ensure(!listed.contains(&prompt), "a listing without the prompt", format!("{listed:?}"))
}

async fn adds_nothing(wire: &Wire, vault: i64) -> Result<(), Failure> {
    check::equal("the listing after refusals", &prompts(wire, vault).await?, &vec![])
}

async fn puts_in(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let ids = make::prompts(&case, &wire, 4).await?;
    for some in [&ids[..1], &ids[1..]] {
        add(&wire, vault, some).await?.status(201)?;
    }
    let listed: BTreeSet<_> = prompts(&wire, vault).await?.into_iter().collect();
    check::equal("the prompts of the vault", &listed, &ids.into_iter().collect())
}

async fn answer(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let ids = make::prompts(&case, &wire, 6).await?;
    for (some, count) in [(&ids[..1], 1), (&ids[1..3], 3), (&ids[3..], 6)] {
        let reply = add(&wire, vault, some).await?;
        reply.equals("/data/added", some.len())?.equals("/data/vaultId", vault)?;
        reply.equals("/data/promptCount", count)?;
    }
    Ok(())
}

async fn deleted_prompt(case: &Case) -> Result<i64, Failure> {
    let prompt = make::prompt(case, &case.wire()).await?;
    case.wire().delete(&format!("/prompts/{prompt}")).await?.status(200)?;
    Ok(prompt)
}

async fn unknown_prompt(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let (known, unknown) = (make::prompt(&case, &wire).await?, deleted_prompt(&case).await?);
    for ids in [vec![unknown], vec![known, unknown], vec![unknown, known]] {
        let reply = add(&wire, vault, ids).await?;
        reply.is_client_error("promptIds with a deleted prompt")?;
    }
    not_added(&wire, vault, unknown).await
}

async fn foreign_prompt(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let known = make::prompt(&case, &wire).await?;
    let foreign = make::prompt(&case, &case.other()).await?;
    for ids in [vec![foreign], vec![known, foreign], vec![foreign, known]] {
        let reply = add(&wire, vault, ids).await?;
        reply.is_client_error("promptIds with a prompt of another account")?;
    }
    not_added(&wire, vault, foreign).await
}
