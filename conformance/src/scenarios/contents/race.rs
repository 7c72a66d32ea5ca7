//! Adding, removing and pinning by many requests at once: afterwards the vault
//! holds what the answers promised, and the counts are true. Moves have a file
//! of their own.

pub(super) mod moves;

use std::collections::BTreeSet;

use futures::future::{join, join_all};
use serde_json::json;

use super::{entries, path, prompts};
use crate::scenario::{core, reference};
use crate::wire::{Reply, Wire};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "contents.race.adds" ["VA-10", "VC-10", "VC-11"] adds,
        "Prompts added at the same time are all there, and added and promptCount say so" },
    reference! { "contents.race.same-adds" ["VC-10"] same_adds,
        "Prompts added many times at once are in the vault once each" },
    reference! { "contents.race.adds-and-saves" ["VC-03"] adds_and_saves,
        "A prompt put into a vault in several ways at once is there once" },
    core! { "contents.race.removes" ["VC-15", "VC-16"] removes,
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
    reference! { "contents.race.one-removes" ["VC-15"] one_removes,
        "Of many removals of one membership exactly one succeeds (S-76)" },
    reference! { "contents.race.sum-of-added" ["VC-11"] sum_of_added,
        "The added of adds at the same time sum up to the prompts that were added" },
];

/// All replies, or the first failure to get one.
fn all(replies: Vec<Result<Reply, Failure>>) -> Result<Vec<Reply>, Failure> {
    replies.into_iter().collect()
}

fn won(replies: &[Reply]) -> usize {
    replies.iter().filter(|reply| (200..=299).contains(&reply.status_code())).count()
}

async fn lists(wire: &Wire, vault: i64, expected: usize) -> Result<(), Failure> {
    check::equal("the number of prompts listed", &prompts(wire, vault).await?.len(), &expected)
}

async fn counts_what_it_lists(wire: &Wire, vault: i64) -> Result<(), Failure> {
    let listed = prompts(wire, vault).await?.len();
    let count = make::count_of(wire, vault).await?;
    let what = format!("promptCount with {listed} prompts in the listing");
    check::equal(&what, &usize::try_from(count).ok(), &Some(listed))
}

async fn adds(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let vault = make::vault(&case, &wire).await?;
    let ids = make::prompts(&case, &wire, 16).await?;
    let into = format!("/vaults/{vault}/prompts");
    let calls = ids.chunks(2).map(|some| wire.post(&into, json!({ "promptIds": some })));
    for reply in all(join_all(calls).await)? {
        reply.status(201)?.equals("/data/added", 2)?;
    }
    lists(&wire, vault, ids.len()).await?;
    counts_what_it_lists(&wire, vault).await
}

async fn same_adds(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let vault = make::vault(&case, &wire).await?;
    let mut ids = make::prompts(&case, &wire, 8).await?;
    let into = format!("/vaults/{vault}/prompts");
    // Each request names them from another end.
    let calls = (0..16).map(|_| {
        ids.rotate_left(3);
        wire.post(&into, json!({ "promptIds": ids }))
    });
    all(join_all(calls).await)?;
    lists(&wire, vault, 8).await
}

async fn sum_of_added(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let vault = make::vault(&case, &wire).await?;
    let mut ids = make::prompts(&case, &wire, 8).await?;
    let into = format!("/vaults/{vault}/prompts");
    let calls = (0..16).map(|n: usize| {
        ids.rotate_left(3);
        wire.post(&into, json!({ "promptIds": ids[..1 + n % 8] }))
    });
    let mut sum = 0;
    for reply in all(join_all(calls).await)? {
        sum += reply.status(201)?.integer("/data/added")?;
    }
    let held = prompts(&wire, vault).await?.len();
    check::equal("the sum of added", &usize::try_from(sum).ok(), &Some(held))
}

async fn adds_and_saves(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let vault = make::vault(&case, &wire).await?;
    let prompt = make::prompt(&case, &wire).await?;
    let (into, one) = (format!("/vaults/{vault}/prompts"), format!("/prompts/{prompt}"));
    let save = format!("{one}/save");
    let adds = join_all((0..6).map(|_| wire.post(&into, json!({ "promptIds": [prompt] }))));
    let saves = join_all((0..6).map(|_| wire.post(&save, json!({ "vaultId": vault }))));
    let updates = join_all((0..6).map(|_| wire.patch(&one, json!({ "vaultId": vault }))));
    let (adds, (saves, updates)) = join(adds, join(saves, updates)).await;
    for replies in [adds, saves, updates] {
        all(replies)?;
    }
    let vaults = make::vaults_among(&wire, prompt, &[vault]).await?;
    check::equal("the vault in vaultIds", &vaults, &vec![vault])?;
    lists(&wire, vault, 1).await
}

async fn removes(case: Case) -> Result<(), Failure> {
    let won = removed_by_many(&case).await?;
    check::ensure(won > 0, "a removal that succeeds", "none")
}

async fn one_removes(case: Case) -> Result<(), Failure> {
    let won = removed_by_many(&case).await?;
    check::equal("the number of removals that succeeded", &won, &1)
}

/// How many of many removals of one membership at once succeed; the other one of
/// the vault stays.
async fn removed_by_many(case: &Case) -> Result<usize, Failure> {
    let wire = case.wire().under_contention();
    let vault = make::vault(case, &wire).await?;
    let members = make::members(case, &wire, vault, 2).await?;
    let path = path(vault, members[0].membership);
    let replies = all(join_all((0..16).map(|_| wire.delete(&path))).await)?;
    lists(&wire, vault, 1).await?;
    Ok(won(&replies))
}

async fn adds_and_removes(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let vault = make::vault(&case, &wire).await?;
    let members = make::members(&case, &wire, vault, 8).await?;
    let ids = make::prompts(&case, &wire, 8).await?;
    let into = format!("/vaults/{vault}/prompts");
    let paths = members[..6].iter().map(|member| path(vault, member.membership));
    let paths: Vec<_> = paths.collect();
    let adds = ids.iter().map(|id| wire.post(&into, json!({ "promptIds": [id] })));
    let removes = paths.iter().map(|path| wire.delete(path));
    let (added, removed) = join(join_all(adds), join_all(removes)).await;
    let (added, removed) = (won(&all(added)?), won(&all(removed)?));
    lists(&wire, vault, members.len() + added - removed).await?;
    counts_what_it_lists(&wire, vault).await
}

async fn deleted_while_added(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let vault = make::vault(&case, &wire).await?;
    let ids = make::prompts(&case, &wire, 8).await?;
    let into = format!("/vaults/{vault}/prompts");
    let paths: Vec<_> = ids.iter().map(|id| format!("/prompts/{id}")).collect();
    let adds = ids.iter().map(|id| wire.post(&into, json!({ "promptIds": [id] })));
    let deletes = paths.iter().map(|path| wire.delete(path));
    let (added, deleted) = join(join_all(adds), join_all(deletes)).await;
    all(added)?;
    for reply in all(deleted)? {
        reply.status(200)?;
    }
    lists(&wire, vault, 0).await
}

async fn pins(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let vault = make::vault(&case, &wire).await?;
    let member = make::members(&case, &wire, vault, 4).await?[1];
    let pin = format!("{}/pin", path(vault, member.membership));
    for reply in all(join_all((0..16).map(|_| wire.post_empty(&pin))).await)? {
        reply.status(200)?;
    }
    let listed = entries(&wire, vault).await?;
    let pinned = listed.iter().filter(|entry| entry.pinned).map(|entry| entry.prompt);
    check::equal("the pinned prompts", &pinned.collect(), &vec![member.prompt])?;
    let top = listed.first().map(|entry| entry.prompt);
    check::equal("the prompt on top", &top, &Some(member.prompt))
}

async fn pins_and_unpins(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let vault = make::vault(&case, &wire).await?;
    let members = make::members(&case, &wire, vault, 3).await?;
    let pin = format!("{}/pin", path(vault, members[1].membership));
    let pins = join_all((0..12).map(|_| wire.post_empty(&pin)));
    let unpins = join_all((0..12).map(|_| wire.delete(&pin)));
    let (pins, unpins) = join(pins, unpins).await;
    for (replies, state) in [(pins, true), (unpins, false)] {
        for reply in all(replies)? {
            reply.status(200)?.equals("/data/isPinned", state)?;
        }
    }
    lists(&wire, vault, members.len()).await
}

async fn many_pins(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let vault = make::vault(&case, &wire).await?;
    let members = make::members(&case, &wire, vault, 8).await?;
    let paths = members[..6].iter().map(|member| path(vault, member.membership));
    let paths: Vec<_> = paths.map(|path| format!("{path}/pin")).collect();
    for reply in all(join_all(paths.iter().map(|path| wire.post_empty(path))).await)? {
        reply.status(200)?;
    }
    let listed = entries(&wire, vault).await?;
    let pinned: BTreeSet<_> =
        listed.iter().filter(|entry| entry.pinned).map(|entry| entry.membership).collect();
    let expected = members[..6].iter().map(|member| member.membership).collect();
    check::equal("the pinned memberships", &pinned, &expected)
}
