//! `DELETE /prompts/{promptId}`: its answer, and where the prompt is gone from.

use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.delete.answer" ["PR-40"] answer,
        "A delete answers 200 with the id and deleted true" },
    core! { "prompts.delete.gone" ["PR-41"] gone,
        "A prompt that was deleted cannot be read any more" },
    core! { "prompts.delete.not-listed" ["PR-41", "PR-13"] not_listed,
        "A prompt that was deleted is not in the list of prompts" },
    core! { "prompts.delete.in-no-vault" ["PR-42"] |case| gone_from(case, Place::Listing),
        "A prompt that was deleted is in none of the vaults it was in" },
    core! { "prompts.delete.not-counted" ["PR-42", "VA-10"] |case| gone_from(case, Place::Count),
        "A prompt that was deleted does not count in the vaults it was in" },
    core! { "prompts.delete.not-by-vault" ["PR-42", "PR-15"]
        |case| gone_from(case, Place::FilteredList),
        "The list with vaultId does not hold a prompt that was deleted" },
    core! { "prompts.delete.others-stay" ["PR-42"] others_stay,
        "A delete leaves the other prompts of the vault" },
    reference! { "prompts.delete.at-once" ["PR-40", "PR-41"] at_once,
        "Of several deletes of one prompt at the same moment exactly one succeeds" },
    reference! { "prompts.delete.exact-answer" ["PR-40"] ("S-68") exact_answer,
        "The data of a delete is the id and deleted, and nothing else" },
];

/// Where a vault shows a prompt.
enum Place {
    Listing,
    Count,
    FilteredList,
}

async fn answer(case: Case) -> Result {
    let prompt = case.prompt().await?;
    let reply = prompt.delete().await?;
    reply.status(200)?.equals("/data/id", prompt.id)?.equals("/data/deleted", true).map(drop)
}

async fn gone(case: Case) -> Result {
    let prompt = case.prompt().await?;
    prompt.delete().await?;
    prompt.get().await?.status(404).map(drop)
}

async fn not_listed(case: Case) -> Result {
    let prompt = case.prompt().await?;
    case.list().find(&case, [&prompt]).await?;
    prompt.delete().await?;
    case.list().limit(100).walk().await?.expect_none([&prompt])
}

/// A deleted prompt is not in one of these places of any vault it was in.
async fn gone_from(case: Case, place: Place) -> Result {
    let (vaults, prompt) = (case.vaults::<2>().await?, case.prompt().await?);
    for vault in &vaults {
        vault.add_in_turn([&prompt]).await?;
    }
    prompt.delete().await?;
    for vault in vaults {
        match place {
            Place::Listing => vault.expect_size(0).await?,
            Place::Count => vault.read().await?.equals("/data/promptCount", 0).map(drop)?,
            Place::FilteredList => vault.list().walk().await?.expect_none([&prompt])?,
        }
    }
    Ok(())
}

async fn others_stay(case: Case) -> Result {
    let (vault, [_, deleted, _, _]) = case.filled_vault().await?;
    let others = |ids: Vec<i64>| ids.into_iter().filter(|id| *id != deleted.prompt.id);
    let expected: Vec<_> = others(vault.prompts().await?).collect();
    deleted.prompt.delete().await?;
    let left: Vec<_> = others(vault.prompts().await?).collect();
    check::equal("the other prompts of the vault", &left, &expected)
}

async fn at_once(case: Case) -> Result {
    let prompt = case.prompt().await?;
    let replies = race::times(16, || prompt.delete()).await?;
    race::expect_successes(&replies, 1)?;
    for reply in &replies {
        reply.status(if reply.is_success() { 200 } else { 404 })?;
    }
    Ok(())
}

async fn exact_answer(case: Case) -> Result {
    let prompt = case.prompt().await?;
    let expected = json!({ "id": prompt.id, "deleted": true });
    prompt.delete().await?.equals("/data", expected).map(drop)
}
