//! Moves by many requests at once, and readers who look on: a move is one step
//! that is either done or not.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::scenarios::prelude::*;
use futures::future::{join, join_all, try_join, try_join_all};

#[rustfmt::skip]
pub(in super::super) const ALL: &[Scenario] = &[
    core! { "contents.race.moves-to-one-vault" ["VC-21"] moves_to_one_vault,
        "Of many moves of one membership exactly one succeeds, and it is in the target once" },
    core! { "contents.race.moves-to-many-vaults" ["VC-21"] moves_to_many_vaults,
        "Of moves of one membership to different vaults exactly one succeeds" },
    core! { "contents.race.move-or-remove" ["VC-21"] |case| moved_or_removed(case, false),
        "Of moves and removals of one membership one move succeeds, or removals do" },
    core! { "contents.race.moves-cross" ["VC-20"] moves_cross,
        "Moves in both directions between two vaults all succeed" },
    core! { "contents.race.moves-counted" ["VA-10"] moves_counted,
        "The counts of both vaults are true after prompts were moved to and fro at once" },
    core! { "contents.race.seen-in-one-vault" ["VC-21"] seen_in_one_vault,
        "Whoever reads a prompt while it is moved sees it in exactly one of the two vaults" },
    core! { "contents.race.counted-in-one-vault" ["VA-10", "VC-21"] counted_in_one_vault,
        "Whoever lists the vaults while a prompt is moved sees it counted in exactly one" },
    reference! { "contents.race.removal-after-move" ["VC-21"] ("S-31")
        |case| moved_or_removed(case, true),
        "Where a move succeeded no removal of the same membership does" },
    reference! { "contents.race.moves-into-a-holder" ["VC-20"] ("S-28") moves_into_a_holder,
        "Moves of one prompt from many vaults into one leave it there once" },
    reference! { "contents.race.losers-404" ["VC-21"] ("S-31") losers_404,
        "The moves that lose answer 404" },
];

async fn moves_to_one_vault(case: Case) -> Result {
    let (source, target, [member]) = case.under_contention().source_and_target().await?;
    let moves = race::times(16, || member.move_to(&target)).await?;
    race::expect_successes(&moves, 1)?;
    source.expect_size(0).await?;
    target.expect_size(1).await
}

async fn moves_to_many_vaults(case: Case) -> Result {
    let case = case.under_contention();
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
async fn moved_or_removed(case: Case, one_kind: bool) -> Result {
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

/// Six prompts each of two vaults change places at once: the vaults, each with the members that
/// came to it, and the replies.
async fn crossed(case: &Case) -> Result<([(Vault, Vec<Member>); 2], Vec<ApiResponse>)> {
    let [left, right] = case.under_contention().vaults().await?;
    let (there, back) = (left.fill(6).await?, right.fill(6).await?);
    let rightward = there.iter().map(|member| (member, &right));
    let moves = rightward.chain(back.iter().map(|member| (member, &left)));
    let replies = race::all(moves.map(|(member, target)| member.move_to(target))).await?;
    Ok(([(left, back), (right, there)], replies))
}

async fn moves_counted(case: Case) -> Result {
    for (vault, _) in crossed(&case).await?.0 {
        vault.counts_what_it_lists().await?;
    }
    Ok(())
}

async fn moves_cross(case: Case) -> Result {
    let (vaults, replies) = crossed(&case).await?;
    race::expect_status(&replies, 200)?;
    for (vault, members) in vaults {
        vault.expect_prompts_in_any_order(&members).await?;
    }
    Ok(())
}

/// Moves a prompt to and fro between two vaults while several readers look.
async fn moved_and_seen<F>(case: &Case, look: impl Fn(Prompt, [Vault; 2]) -> F) -> Result
where
    F: Future<Output = Result>,
{
    let vaults: [Vault; 2] = case.under_contention().vaults().await?;
    let [member] = vaults[0].filled().await?;
    let (prompt, done) = (member.prompt.clone(), AtomicBool::new(false));
    let moving = async {
        let moved = to_and_fro(&vaults, member).await;
        done.store(true, Ordering::Relaxed);
        moved
    };
    let looking = join_all((0..4).map(|_| async {
        while !done.load(Ordering::Relaxed) {
            look(prompt.clone(), vaults.clone()).await?;
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

async fn seen_in_one_vault(case: Case) -> Result {
    let look = |prompt: Prompt, vaults: [Vault; 2]| async move {
        let reply = prompt.read().await?;
        let named = vault_ids(&reply)?;
        let own = named.iter().filter(|id| vaults.iter().any(|vault| vault.id == **id));
        let one = own.count() == 1;
        reply.ensure(one, "vaultIds with one of the two vaults", json_text(&named)).map(drop)
    };
    moved_and_seen(&case, look).await
}

async fn counted_in_one_vault(case: Case) -> Result {
    let wire = case.wire().under_contention();
    let look = |_, vaults: [Vault; 2]| {
        let wire = wire.clone();
        async move {
            let reply = wire.get("/vaults").await?;
            let mut counts = Vec::new();
            for vault in vaults {
                counts.push(reply.entry(vault.id)?["promptCount"].clone());
            }
            let one = counts == [1, 0] || counts == [0, 1];
            let what = "promptCounts 1 and 0, or 0 and 1";
            reply.ensure(one, what, json_text(&counts)).map(drop)
        }
    };
    moved_and_seen(&case, look).await
}

async fn moves_into_a_holder(case: Case) -> Result {
    let case = case.under_contention();
    let (target, sources) = (case.vault().await?, case.vaults::<8>().await?);
    let prompt = case.prompt().await?;
    for source in &sources {
        source.add_in_turn([&prompt]).await?;
    }
    let members = try_join_all(sources.iter().map(Vault::members)).await?.concat();
    let moves = race::all(members.iter().map(|member| member.move_to(&target))).await?;
    race::expect_status(&moves, 200)?;
    prompt.expect_vaults(sources.iter().chain([&target]), [&target]).await?;
    target.expect_size(1).await
}

async fn losers_404(case: Case) -> Result {
    let (_, target, [member]) = case.under_contention().source_and_target().await?;
    let replies = race::times(16, || member.move_to(&target)).await?;
    for reply in replies.iter().filter(|reply| reply.status_code() != 200) {
        reply.has_status(404, "a move that came too late")?;
    }
    Ok(())
}
