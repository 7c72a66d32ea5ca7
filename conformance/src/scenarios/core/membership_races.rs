//! Adding, removing, pinning and moving by many requests at once: afterwards the vault holds what
//! the answers promised, and the counts are true. Whoever reads meanwhile sees a move done or not.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    core! { "contents.race.adds" ["VA-10", "VC-10", "VC-11"] adds,
        "Prompts added at the same time are all there, and added and promptCount say so" },
    core! { "contents.race.removes" ["VC-15", "VC-16"]
        |case| async move { race::expect_success(&many_removals(&case).await?) },
        "Of many removals of one membership at least one succeeds, and it alone is gone" },
    core! { "contents.race.adds-and-removes" ["VA-10"] adds_and_removes,
        "The count is true after prompts were added and removed at the same time" },
    core! { "contents.race.deleted-while-added" ["PR-42"] deleted_while_added,
        "A prompt deleted while it is added is in no vault afterwards" },
    core! { "contents.race.pins" ["VC-27", "VC-29"] pins,
        "Pins of one prompt and of several at the same moment all answer 200, and each is pinned once" },
    core! { "contents.race.pins-and-unpins" ["VC-25", "VC-26"] pins_and_unpins,
        "Pins and unpins at the same time answer with their own state, and lose no prompt" },
    core! { "contents.race.moves-to-one-vault" ["VC-21"] moves_to_one_vault,
        "Of many moves of one membership exactly one succeeds, and it is in its target once" },
    core! { "contents.race.move-or-remove" ["VC-21"] |case| moved_or_removed(case, false),
        "Of moves and removals of one membership one move succeeds, or removals do" },
    core! { "contents.race.moves-cross" ["VC-20", "VA-10"] moves_cross,
        "Moves in both directions between two vaults all succeed, and the counts of both are true" },
    core! { "contents.race.seen-in-one-vault" ["VA-10", "VC-21"] seen_in_one_vault,
        "A prompt is seen and counted in exactly one of two vaults while it is moved" },
];

pub(crate) async fn adds(case: Case) -> Result {
    let case = case.under_contention();
    let (vault, prompts) = (case.vault().await?, case.prompts(16).await?);
    for reply in race::all(prompts.chunks(2).map(|some| vault.add(some))).await? {
        reply.status(201)?.equals("/data/added", 2)?;
    }
    vault.expect_size(prompts.len()).await?;
    vault.counts_what_it_lists().await.map(drop)
}

/// The replies to many removals of one membership at once; the other one of the vault stays.
pub(crate) async fn many_removals(case: &Case) -> Result<Vec<ApiResponse>> {
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
    let (vault, members) = case.under_contention().filled_vault::<8>().await?;
    for pinned in [&members[1..2], &members[..6]] {
        let pins = pinned.iter().cycle().take(16).map(Member::pin);
        race::expect_status(&race::all(pins).await?, 200)?;
        let mut listed = vault.entries().await?;
        let unpinned = listed.split_off(pinned.len());
        let got: BTreeSet<_> = listed.iter().map(|entry| entry.membership).collect();
        let expected = pinned.iter().map(|member| member.id).collect();
        check::equal("the memberships on top", &got, &expected)?;
        let right = listed.iter().all(|entry| entry.pinned) && !unpinned.iter().any(|it| it.pinned);
        check::ensure(right, "those pinned and no other", json_text(&listed))?;
    }
    Ok(())
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

async fn moves_to_one_vault(case: Case) -> Result {
    let case = case.under_contention();
    let (source, target, [member]) = case.source_and_target().await?;
    let moves = race::times(16, || member.move_to(&target)).await?;
    race::expect_successes(&moves, 1)?;
    source.expect_size(0).await?;
    target.expect_size(1).await?;
    let (source, targets) = (case.vault().await?, case.vaults::<8>().await?);
    let [member] = source.filled().await?;
    let moves = race::all(targets.iter().map(|target| member.move_to(target))).await?;
    race::expect_successes(&moves, 1)?;
    source.expect_size(0).await?;
    let mut holders = 0;
    for target in &targets {
        holders += target.prompts().await?.len();
    }
    check::equal("the number of targets that list the prompt", &holders, &1)
}

/// Until a move wins, for which the removals come a little later in each round. A removal that
/// finds nothing may be told of success (S-31, S-76), unless only `one_kind` may.
pub(crate) async fn moved_or_removed(case: Case, one_kind: bool) -> Result {
    for later in 0..8 {
        let (source, target, [member]) = case.under_contention().source_and_target().await?;
        let removals = async {
            tokio::time::sleep(Duration::from_millis(later)).await;
            race::times(8, || member.remove()).await
        };
        let moves = race::times(8, || member.move_to(&target));
        let (moves, removals) = try_join(moves, removals).await?;
        let moved = race::expect_one_success_at_most(&moves)?;
        if moved == 0 {
            race::expect_success(&removals)?;
        } else if one_kind {
            race::expect_successes(&removals, 0)?;
        }
        source.expect_size(0).await?;
        target.expect_size(moved).await?;
        if moved == 1 {
            break;
        }
    }
    Ok(())
}

async fn moves_cross(case: Case) -> Result {
    let [left, right] = case.under_contention().vaults().await?;
    let (there, back) = (left.fill(6).await?, right.fill(6).await?);
    let rightward = there.iter().map(|member| (member, &right));
    let moves = rightward.chain(back.iter().map(|member| (member, &left)));
    let replies = race::all(moves.map(|(member, target)| member.move_to(target))).await?;
    race::expect_status(&replies, 200)?;
    for (vault, members) in [(&left, back), (&right, there)] {
        vault.expect_prompts_in_any_order(&members).await?;
        vault.counts_what_it_lists().await?;
    }
    Ok(())
}

async fn seen_in_one_vault(case: Case) -> Result {
    let case = case.under_contention();
    let vaults: [Vault; 2] = case.vaults().await?;
    let [member] = vaults[0].filled().await?;
    let (prompt, done) = (member.prompt.clone(), AtomicBool::new(false));
    let moving = async {
        let moved = to_and_fro(&vaults, member).await;
        done.store(true, Ordering::Relaxed);
        moved
    };
    let (prompt, vaults, wire, done) = (&prompt, &vaults, &case.wire(), &done);
    let looking = join_all((0..8).map(|reader| async move {
        while !done.load(Ordering::Relaxed) {
            match reader % 2 {
                0 => named_once(prompt, vaults).await?,
                _ => counted_once(wire, vaults).await?,
            }
        }
        Ok(())
    }));
    let (moved, seen) = join(moving, looking).await;
    moved?;
    seen.into_iter().collect()
}

async fn to_and_fro([left, right]: &[Vault; 2], mut member: Member) -> Result {
    for _ in 0..20 {
        member = member.moved_to(right).await?.moved_to(left).await?;
    }
    Ok(())
}

async fn named_once(prompt: &Prompt, vaults: &[Vault; 2]) -> Result {
    let reply = prompt.read().await?;
    let named = vault_ids(&reply)?;
    let own = named.iter().filter(|id| vaults.iter().any(|vault| vault.id == **id));
    let one = own.count() == 1;
    reply.ensure(one, "vaultIds with one of the two vaults", json_text(&named)).map(drop)
}

async fn counted_once(wire: &Wire, vaults: &[Vault; 2]) -> Result {
    let reply = wire.get("/vaults").await?;
    let [left, right] = vaults.each_ref().map(|vault| reply.entry(vault.id));
    let counts = [left?, right?].map(|vault| vault["promptCount"].clone());
    let one = counts == [1, 0] || counts == [0, 1];
    reply.ensure(one, "promptCounts 1 and 0, or 0 and 1", json_text(&counts)).map(drop)
}
