//! `POST /vaults/{vaultId}/prompts`: what it takes, answers and refuses. A prompt that is in the
//! vault already, and ids that come twice.

use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    core! { "contents.add.puts-in" ["VC-10", "VC-11"] puts_in,
        "The prompts of promptIds are in the vault, and the answer counts them and names it" },
    core! { "contents.add.unknown-prompt" ["VC-14"]
        |case| async move { not_added(&case, &deleted_prompt(&case).await?).await },
        "A request with the id of a deleted prompt is no success and does not add it" },
    core! { "contents.add.foreign-prompt" ["VC-14"] [OtherAccount]
        |case| async move { not_added(&case, &case.other_account().prompt().await?).await },
        "A request with the id of another account's prompt is no success and does not add it" },
    core! { "contents.add-again.vault-ids" ["PR-08"] names_the_vault_once,
        "vaultIds names a vault once, however often the prompt was put into it" },
];

async fn puts_in(case: Case) -> Result {
    let (vault, prompts) = (case.vault().await?, case.prompts(6).await?);
    for (some, count) in [(&prompts[..1], 1), (&prompts[1..3], 3), (&prompts[3..], 6)] {
        let reply = vault.add(some).await?;
        reply.status(201)?.equals("/data/added", some.len())?;
        reply.equals("/data/vaultId", vault.id)?.equals("/data/promptCount", count)?;
    }
    vault.expect_prompts_in_any_order(&prompts).await
}

pub(crate) async fn deleted_prompt(case: &Case) -> Result<Prompt> {
    let prompt = case.prompt().await?;
    prompt.delete().await?.status(200)?;
    Ok(prompt)
}

/// A refusal may come after the good ids of the list were added (S-27).
async fn not_added(case: &Case, prompt: &Prompt) -> Result {
    let (vault, known) = (case.vault().await?, case.prompt().await?);
    for prompts in [vec![prompt], vec![&known, prompt], vec![prompt, &known]] {
        vault.add(prompts).await?.is_client_error("promptIds with one that cannot be added")?;
    }
    vault.listing().await?.lacks("id", prompt.id)
}

/// S-26: a server may refuse the second time.
async fn names_the_vault_once(case: Case) -> Result {
    let (vault, prompt) = (case.vault().await?, case.prompt().await?);
    prompt.save_into(&vault).await?.status(200)?;
    vault.add([&prompt]).await?;
    let again = [prompt.save_into(&vault).await?, vault.put(&prompt, Way::Update).await?];
    let shown = again.into_iter().filter(|reply| reply.status_code() == 200);
    for reply in shown.chain([prompt.read().await?]) {
        let named = vault_ids(&reply)?;
        let times = named.iter().filter(|id| **id == vault.id).count();
        reply.ensure(times == 1, format!("vaultIds with {} once", vault.id), json_text(&named))?;
    }
    Ok(())
}
