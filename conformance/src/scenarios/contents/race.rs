//! Adding, removing and pinning by many requests at once: afterwards the vault
//! holds what the answers promised, and the counts are true. Moves have a file
//! of their own.

pub(super) mod moves;

use std::collections::BTreeSet;

use crate::scenarios::prelude::*;
use futures::future::{try_join, try_join3};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "contents.race.adds" ["VA-10", "VC-10", "VC-11"] adds,
        "Prompts added at the same time are all there, and added and promptCount say so" },
    reference! { "contents.race.same-adds" ["VC-10"]
        |case| async move { overlapping_adds(&case, |_| 8).await?.0.expect_size(8).await },
        "Prompts added many times at once are in the vault once each" },
    reference! { "contents.race.adds-and-saves" ["VC-03"] adds_and_saves,
        "A prompt put into a vault in several ways at once is there once" },
    core! { "contents.race.removes" ["VC-15", "VC-16"]
        |case| async move { race::expect_success(&many_removals(&case).await?) },
        "Of many removals of one membership at least one succeeds, and it alone is gone" },
    core! { "contents.race.adds-and-removes" ["VA-10"] adds_and_removes,
        "The count is true after prompts were added and removed at the same time" },
    core! { "contents.race.deleted-while-added" ["PR-42"] deleted_while_added,
        "A prompt deleted while it is added is in no vault afterwards" },
    core! { "contents.race.pins" ["VC-27", "VC-29"] pins,
        "Pins of one prompt at the same time all answer 200, and it is pinned once" },
    core! { "contents.race.pins-and-unpins" ["VC-25", "VC-26"] pins_and_unpins,
        "Pins and unpins at the same time answer with their own state, and lose no prompt" },
    core! { "contents.race.many-pins" ["VC-27"] many_pins,
        "Different prompts pinned at the same time are all pinned" },
    reference! { "contents.race.one-removes" ["VC-15"] ("S-76")
        |case| async move { race::expect_successes(&many_removals(&case).await?, 1) },
        "Of many removals of one membership exactly one succeeds" },
    reference! { "contents.race.sum-of-added" ["VC-11"] sum_of_added,
        "The added of adds at the same time sum up to the prompts that were added" },
];

async fn adds(case: Case) -> Result {
    let case = case.under_contention();
    let (vault, prompts) = (case.vault().await?, case.prompts(16).await?);
    for reply in race::all(prompts.chunks(2).map(|some| vault.add(some))).await? {
        reply.status(201)?.equals("/data/added", 2)?;
    }
    vault.expect_size(prompts.len()).await?;
    vault.counts_what_it_lists().await.map(drop)
}

/// Requests at once that each add so many of the same eight prompts, each from another end.
async fn overlapping_adds(
    case: &Case,
    size: impl Fn(usize) -> usize,
) -> Result<(Vault, Vec<ApiResponse>)> {
    let case = case.under_contention();
    let (vault, mut prompts) = (case.vault().await?, case.prompts(8).await?);
    let calls = (0..16).map(|n| {
        prompts.rotate_left(3);
        vault.add(prompts[..size(n)].to_vec())
    });
    let replies = race::all(calls).await?;
    Ok((vault, replies))
}

async fn sum_of_added(case: Case) -> Result {
    let (vault, replies) = overlapping_adds(&case, |n| 1 + n % 8).await?;
    let mut sum = 0;
    for reply in replies {
        sum += reply.status(201)?.integer("/data/added")?;
    }
    let held = vault.prompts().await?.len();
    check::equal("the sum of added", &usize::try_from(sum).ok(), &Some(held))
}

async fn adds_and_saves(case: Case) -> Result {
    let case = case.under_contention();
    let (vault, prompt) = (case.vault().await?, case.prompt().await?);
    let adds = race::times(6, || vault.add([&prompt]));
    let saves = race::times(6, || prompt.save_into(&vault));
    let updates = race::times(6, || prompt.update(json!({ "vaultId": vault.id })));
    try_join3(adds, saves, updates).await?;
    prompt.expect_vaults([&vault], [&vault]).await?;
    vault.expect_size(1).await
}

/// The replies to many removals of one membership at once; the other one of the vault stays.
async fn many_removals(case: &Case) -> Result<Vec<ApiResponse>> {
    let (vault, [member, other]) = case.under_contention().filled_vault().await?;
    let replies = race::times(16, || member.remove()).await?;
    vault.expect_prompts([&other]).await?;
    Ok(replies)
}

async fn adds_and_removes(case: Case) -> Result {
    let case = case.under_contention();
    let vault = case.vault().await?;
    let (members, prompts) = (vault.fill(8).await?, case.prompts(8).await?);
    let adds = race::all(prompts.iter().map(|prompt| vault.add([prompt])));
    let removals = race::all(members[..6].iter().map(Member::remove));
    let (added, removed) = try_join(adds, removals).await?;
    let (added, removed) = (race::successes(&added), race::successes(&removed));
    vault.expect_size(members.len() + added - removed).await?;
    vault.counts_what_it_lists().await.map(drop)
}

async fn deleted_while_added(case: Case) -> Result {
    let case = case.under_contention();
    let (vault, prompts) = (case.vault().await?, case.prompts(8).await?);
    let adds = race::all(prompts.iter().map(|prompt| vault.add([prompt])));
    let deletions = race::all(prompts.iter().map(Prompt::delete));
    let (_, deleted) = try_join(adds, deletions).await?;
    race::expect_status(&deleted, 200)?;
    vault.expect_size(0).await
}

async fn pins(case: Case) -> Result {
    let (vault, [_, member, _, _]) = case.under_contention().filled_vault().await?;
    race::expect_status(&race::times(16, || member.pin()).await?, 200)?;
    let listed = vault.entries().await?;
    let pinned: Vec<_> = listed.iter().map(|entry| (entry.membership, entry.pinned)).collect();
    let only_this = pinned.iter().filter(|(_, pinned)| *pinned).count() == 1;
    let on_top = pinned.first() == Some(&(member.id, true));
    check::ensure(only_this && on_top, "one pin, on top", json_text(&pinned))
}

async fn pins_and_unpins(case: Case) -> Result {
    let (vault, [_, member, _]) = case.under_contention().filled_vault().await?;
    let pins = race::times(12, || member.pin());
    let unpins = race::times(12, || member.unpin());
    let (pins, unpins) = try_join(pins, unpins).await?;
    for (replies, state) in [(pins, true), (unpins, false)] {
        for reply in replies {
            reply.status(200)?.equals("/data/isPinned", state)?;
        }
    }
    vault.expect_size(3).await
}

async fn many_pins(case: Case) -> Result {
    let (vault, members) = case.under_contention().filled_vault::<8>().await?;
    let pins = members[..6].iter().map(Member::pin);
    race::expect_status(&race::all(pins).await?, 200)?;
    let listed = vault.entries().await?;
    let pinned = listed.iter().filter(|entry| entry.pinned).map(|entry| entry.membership);
    let expected: BTreeSet<_> = members[..6].iter().map(|member| member.id).collect();
    check::equal("the pinned memberships", &pinned.collect(), &expected)
}
