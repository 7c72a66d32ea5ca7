//! `POST /prompts/{promptId}/save`.

use serde_json::json;

use super::object::whole;
use crate::fixture::race;
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.save.answer" ["PR-44"] answer,
        "A save answers 200 with the whole prompt object" },
    core! { "prompts.save.adds" ["PR-44", "VC-03"] adds,
        "A save puts the prompt into the vault" },
    core! { "prompts.save.shows" ["PR-45"] shows,
        "The prompt that a save answers with has the vault in vaultIds" },
    core! { "prompts.save.keeps-others" ["PR-46"] keeps_others,
        "A save leaves the prompt in every vault it was in" },
    core! { "prompts.save.at-once" ["PR-44", "PR-46"] at_once,
        "Saves into several vaults at the same moment all hold" },
    reference! { "prompts.save.again-at-once" ["PR-44", "VC-03"] again_at_once,
        "Saves into one vault at the same moment make one membership (S-26)" },
];

async fn answer(case: Case) -> Result<(), Failure> {
    let (prompt, vault) = (case.prompt().await?, case.vault().await?);
    let reply = prompt.save_into(&vault).await?;
    whole(reply.status(200)?.equals("/data/id", prompt.id)?, "/data")
}

async fn adds(case: Case) -> Result<(), Failure> {
    let (prompt, vault) = (case.prompt().await?, case.vault().await?);
    prompt.save_into(&vault).await?;
    vault.expect_prompts([&prompt]).await
}

async fn shows(case: Case) -> Result<(), Failure> {
    let (prompt, vault) = (case.prompt().await?, case.vault().await?);
    let reply = prompt.save_into(&vault).await?;
    let shown = reply.array("/data/vaultIds")?.contains(&json!(vault.id));
    let what = format!("vaultIds with {}", vault.id);
    reply.ensure(shown, what, reply.at("/data/vaultIds")?).map(drop)
}

async fn keeps_others(case: Case) -> Result<(), Failure> {
    let (prompt, [vault, first, second]) = (case.prompt().await?, case.vaults().await?);
    for other in [&first, &second] {
        other.add_in_turn([&prompt]).await?;
    }
    prompt.save_into(&vault).await?;
    for other in [first, second] {
        let listing = other.listing().await?;
        let kept = listing.integers("/data", "id")?.contains(&prompt.id);
        listing.ensure(kept, "the prompt in a vault it was in before", "it is gone")?;
    }
    Ok(())
}

async fn at_once(case: Case) -> Result<(), Failure> {
    let case = case.under_contention();
    let (prompt, vaults) = (case.prompt().await?, case.vaults::<8>().await?);
    let saves = race::all(vaults.iter().map(|vault| prompt.save_into(vault))).await?;
    race::expect_status(&saves, 200)?;
    prompt.expect_vaults(&vaults, &vaults).await
}

async fn again_at_once(case: Case) -> Result<(), Failure> {
    let (prompt, vault) = (case.prompt().await?, case.vault().await?);
    for reply in race::times(16, || prompt.save_into(&vault)).await? {
        reply.status(200)?.equals("/data/vaultIds", json!([vault.id]))?;
    }
    check::equal("memberships and promptCount", &vault.counts_what_it_lists().await?, &1)
}
