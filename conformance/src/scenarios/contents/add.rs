//! `POST /vaults/{vaultId}/prompts`: what it takes, answers and refuses. A prompt that is in the
//! vault already, and ids that come twice.

use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "contents.add.puts-in" ["VC-10", "VC-11"] puts_in,
        "The prompts of promptIds are in the vault, and the answer counts them and names it" },
    core! { "contents.add.unknown-prompt" ["VC-14"]
        |case| async move { not_added(&case, &deleted_prompt(&case).await?).await },
        "A request with the id of a deleted prompt is no success and does not add it" },
    core! { "contents.add.foreign-prompt" ["VC-14"] [OtherAccount]
        |case| async move { not_added(&case, &case.other_account().prompt().await?).await },
        "A request with the id of another account's prompt is no success and does not add it" },
    reference! { "contents.add.all-or-nothing" ["VC-14"] ("S-27") all_or_nothing,
        "One id that cannot be added keeps the whole list out" },
    core! { "contents.add-again.vault-ids" ["PR-08"] names_the_vault_once,
        "vaultIds names a vault once, however often the prompt was put into it" },
    reference! { "contents.add-again.changes-nothing" ["PR-38", "PR-44", "VC-03"] ("S-26")
        changes_nothing,
        "Putting a prompt into its vault again leaves membership, place and pin as they are" },
    reference! { "contents.add-again.counts-new" ["VC-11", "LI-08"] ("S-26") counts_new,
        "added counts each prompt that was not in the vault once; entries as sent have the limit" },
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

async fn deleted_prompt(case: &Case) -> Result<Prompt> {
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

async fn all_or_nothing(case: Case) -> Result {
    let (vault, known) = (case.vault().await?, case.prompt().await?);
    let unknown = deleted_prompt(&case).await?;
    for prompts in [[&known, &unknown], [&unknown, &known]] {
        let reply = vault.add(prompts).await?;
        reply.is_bad_request("a list with a deleted prompt")?.string("/details/promptIds")?;
    }
    vault.listing().await?.equals("/data", json!([])).map(drop)
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

async fn changes_nothing(case: Case) -> Result {
    let (vault, members) = case.filled_vault::<4>().await?;
    members[0].pinned().await?;
    members[1].pinned().await?;
    let before = vault.entries().await?;
    for member in [&members[0], &members[2]] {
        vault.add([member]).await?.status(201)?;
        for way in [Way::Save, Way::Update] {
            let reply = vault.put(&member.prompt, way).await?;
            reply.status(200)?.equals("/data/vaultIds", json!([vault.id]))?;
        }
        vault.expect_entries(&before).await?;
    }
    Ok(())
}

async fn counts_new(case: Case) -> Result {
    let (vault, prompts) = (case.vault().await?, case.prompts(4).await?);
    for (some, added, count) in
        [(&prompts[..2], 2, 2), (&prompts[..2], 0, 2), (&prompts[1..], 2, 4)]
    {
        let reply = vault.add(some).await?;
        reply.status(201)?.equals("/data/added", added)?.equals("/data/promptCount", count)?;
    }
    let vault = case.vault().await?;
    let [a, b] = [&prompts[0], &prompts[1]];
    let reply = vault.add([a, b, a, a]).await?;
    reply.status(201)?.equals("/data/added", 2)?.equals("/data/promptCount", 2)?;
    vault.expect_size(2).await?;
    vault.add([a; 51]).await?.is_bad_request("one id 51 times")?;
    let reply = vault.add([&prompts[2]; 50]).await?;
    reply.has_status(201, "one id 50 times")?.equals("/data/added", 1).map(drop)
}
