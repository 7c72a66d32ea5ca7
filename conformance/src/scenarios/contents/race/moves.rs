//! Moves by many requests at once, and readers who look on: a move is one step
//! that is either done or not.

use std::time::Duration;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::{join, join_all};
use serde_json::json;

use super::super::{ask_move, path, prompts};
use super::{all, counts_what_it_lists, lists, won};
use crate::scenario::{core, reference};
use crate::wire::{Reply, Wire};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(in super::super) const ALL: &[Scenario] = &[
    core! { "contents.race.moves-to-one-vault" ["VC-21"] moves_to_one_vault,
        "Of many moves of one membership exactly one succeeds, and it is in the target once" },
    core! { "contents.race.moves-to-many-vaults" ["VC-21"] moves_to_many_vaults,
        "Of moves of one membership to different vaults exactly one succeeds" },
    core! { "contents.race.move-or-remove" ["VC-21"] move_or_remove,
        "Of moves and removals of one membership one move succeeds, or removals do" },
    core! { "contents.race.moves-cross" ["VC-20"] moves_cross,
        "Moves in both directions between two vaults all succeed" },
    core! { "contents.race.moves-counted" ["VA-10"] moves_counted,
        "The counts of both vaults are true after prompts were moved to and fro at once" },
    core! { "contents.race.seen-in-one-vault" ["VC-21"] seen_in_one_vault,
        "Whoever reads a prompt while it is moved sees it in exactly one of the two vaults" },
    core! { "contents.race.counted-in-one-vault" ["VA-10", "VC-21"] counted_in_one_vault,
        "Whoever lists the vaults while a prompt is moved sees it counted in exactly one" },
    core! { "contents.race.target-deleted" ["VC-21"] target_deleted,
        "A move to a vault that is being deleted is either done or changes nothing" },
    reference! { "contents.race.removal-after-move" ["VC-21"] removal_after_move,
        "Where a move succeeded no removal of the same membership does (S-31)" },
    reference! { "contents.race.moves-into-a-holder" ["VC-20"] moves_into_a_holder,
        "Moves of one prompt from many vaults into one leave it there once" },
    reference! { "contents.race.losers-404" ["VC-21"] losers_404,
        "The moves that lose answer 404" },
];

async fn vaults(case: &Case, count: usize) -> Result<Vec<i64>, Failure> {
    let wire = case.wire().under_contention();
    join_all((0..count).map(|_| make::vault(case, &wire))).await.into_iter().collect()
}

/// In how many vaults the prompt is, by the vaults' own listings.
async fn copies(wire: &Wire, vaults: &[i64], prompt: i64) -> Result<usize, Failure> {
    let mut copies = 0;
    for vault in vaults {
        copies += prompts(wire, *vault).await?.iter().filter(|id| **id == prompt).count();
    }
    Ok(copies)
}

async fn moves_to_one_vault(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let (source, target) = (make::vault(&case, &wire).await?, make::vault(&case, &wire).await?);
    let id = make::members(&case, &wire, source, 1).await?[0].membership;
    let replies = all(join_all((0..16).map(|_| ask_move(&wire, source, id, target))).await)?;
    check::equal("the number of moves that succeeded", &won(&replies), &1)?;
    lists(&wire, source, 0).await?;
    lists(&wire, target, 1).await
}

async fn moves_to_many_vaults(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let source = make::vault(&case, &wire).await?;
    let targets = vaults(&case, 8).await?;
    let member = make::members(&case, &wire, source, 1).await?[0];
    let moves = targets.iter().map(|target| ask_move(&wire, source, member.membership, *target));
    let replies = all(join_all(moves).await)?;
    check::equal("the number of moves that succeeded", &won(&replies), &1)?;
    lists(&wire, source, 0).await?;
    let copies = copies(&wire, &targets, member.prompt).await?;
    check::equal("the number of targets that list the prompt", &copies, &1)
}

async fn move_or_remove(case: Case) -> Result<(), Failure> {
    moved_or_removed(&case, false).await
}

async fn removal_after_move(case: Case) -> Result<(), Failure> {
    moved_or_removed(&case, true).await
}

/// Until a move wins, for which the removals come a little later in each round. A removal that
/// finds nothing may be told of success (S-31, S-76), unless only `one_kind` may.
async fn moved_or_removed(case: &Case, one_kind: bool) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    for later in 0..8 {
        let (source, target) = (make::vault(case, &wire).await?, make::vault(case, &wire).await?);
        let id = make::members(case, &wire, source, 1).await?[0].membership;
        let path = path(source, id);
        let moves = join_all((0..8).map(|_| ask_move(&wire, source, id, target)));
        let removals = async {
            tokio::time::sleep(Duration::from_millis(later)).await;
            join_all((0..8).map(|_| wire.delete(&path))).await
        };
        let (moves, removals) = join(moves, removals).await;
        let (moved, removed) = (won(&all(moves)?), won(&all(removals)?));
        check::ensure(moved <= 1, "one move at most to succeed", format!("{moved} did"))?;
        let found = format!("{moved} moves and {removed} removals");
        let holds = moved + removed > 0 && !(one_kind && moved > 0 && removed > 0);
        check::ensure(holds, "a move or removals to succeed", found)?;
        lists(&wire, source, 0).await?;
        lists(&wire, target, moved).await?;
        if moved == 1 {
            break;
        }
    }
    Ok(())
}

/// Two vaults whose six prompts each have changed places.
struct Crossed {
    /// The vaults, each with the members that came to it.
    vaults: [(i64, Vec<make::Member>); 2],
    replies: Vec<Reply>,
}

async fn crossed(case: &Case) -> Result<Crossed, Failure> {
    let wire = case.wire().under_contention();
    let (left, right) = (make::vault(case, &wire).await?, make::vault(case, &wire).await?);
    let there = make::members(case, &wire, left, 6).await?;
    let back = make::members(case, &wire, right, 6).await?;
    let rightward = there.iter().map(|member| ask_move(&wire, left, member.membership, right));
    let leftward = back.iter().map(|member| ask_move(&wire, right, member.membership, left));
    let (rightward, leftward) = join(join_all(rightward), join_all(leftward)).await;
    let mut replies = all(rightward)?;
    replies.extend(all(leftward)?);
    Ok(Crossed { vaults: [(left, back), (right, there)], replies })
}

async fn moves_counted(case: Case) -> Result<(), Failure> {
    for (vault, _) in crossed(&case).await?.vaults {
        counts_what_it_lists(&case.wire().under_contention(), vault).await?;
    }
    Ok(())
}

async fn moves_cross(case: Case) -> Result<(), Failure> {
    let (wire, crossed) = (case.wire().under_contention(), crossed(&case).await?);
    for reply in crossed.replies {
        reply.status(200)?;
    }
    for (vault, expected) in crossed.vaults {
        let mut listed = prompts(&wire, vault).await?;
        let mut expected: Vec<_> = expected.iter().map(|member| member.prompt).collect();
        listed.sort_unstable();
        expected.sort_unstable();
        check::equal("the prompts of a vault after all moves", &listed, &expected)?;
    }
    Ok(())
}

/// Moves a prompt to and fro between two vaults while several readers look.
async fn moved_and_seen<F>(
    case: &Case,
    look: impl Fn(Wire, i64, [i64; 2]) -> F,
) -> Result<(), Failure>
where
    F: Future<Output = Result<(), Failure>>,
{
    let wire = case.wire().under_contention();
    let both = [make::vault(case, &wire).await?, make::vault(case, &wire).await?];
    let member = make::members(case, &wire, both[0], 1).await?[0];
    let done = AtomicBool::new(false);
    let moving = async {
        let moved = to_and_fro(&wire, both, member.membership).await;
        done.store(true, Ordering::Relaxed);
        moved
    };
    let looking = join_all((0..4).map(|_| async {
        while !done.load(Ordering::Relaxed) {
            look(wire.clone(), member.prompt, both).await?;
        }
        Ok(())
    }));
    let (moved, seen) = join(moving, looking).await;
    moved?;
    seen.into_iter().collect()
}

async fn to_and_fro(wire: &Wire, both: [i64; 2], membership: i64) -> Result<(), Failure> {
    let [mut from, mut to] = both;
    let mut membership = membership;
    for _ in 0..40 {
        let reply = ask_move(wire, from, membership, to).await?;
        membership = reply.status(200)?.integer("/data/vaultPromptId")?;
        (from, to) = (to, from);
    }
    Ok(())
}

async fn seen_in_one_vault(case: Case) -> Result<(), Failure> {
    let look = |wire: Wire, prompt: i64, both: [i64; 2]| async move {
        let seen = make::vaults_among(&wire, prompt, &both).await?;
        let expected = format!("vaultIds with exactly one of {both:?}");
        check::ensure(seen.len() == 1, &expected, format!("{seen:?}"))
    };
    moved_and_seen(&case, look).await
}

async fn counted_in_one_vault(case: Case) -> Result<(), Failure> {
    let look = |wire: Wire, _, both: [i64; 2]| async move {
        let reply = wire.get("/vaults").await?;
        let ids = reply.status(200)?.integers("/data", "id")?;
        let counts = reply.integers("/data", "promptCount")?;
        let counts: BTreeMap<_, _> = ids.into_iter().zip(counts).collect();
        let counts = both.map(|vault| counts.get(&vault).copied());
        let one = counts == [Some(1), Some(0)] || counts == [Some(0), Some(1)];
        reply.ensure(one, "promptCounts 1 and 0, or 0 and 1", format!("{counts:?}"))?;
        Ok(())
    };
    moved_and_seen(&case, look).await
}

async fn target_deleted(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let (source, target) = (make::vault(&case, &wire).await?, make::vault(&case, &wire).await?);
    let members = make::members(&case, &wire, source, 8).await?;
    let path = format!("/vaults/{target}");
    let moves = members.iter().map(|member| ask_move(&wire, source, member.membership, target));
    let (moves, deleted) = join(join_all(moves), wire.delete(&path)).await;
    deleted?.status(200)?;
    for (member, reply) in members.iter().zip(all(moves)?) {
        let expected = match reply.status_code() {
            200 => vec![],
            _ => vec![source],
        };
        let vaults = make::vaults_among(&wire, member.prompt, &[source, target]).await?;
        let what = format!("vaultIds after a move that answered {}", reply.status_code());
        check::equal(&what, &vaults, &expected)?;
    }
    Ok(())
}

/// S-28.
async fn moves_into_a_holder(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let target = make::vault(&case, &wire).await?;
    let sources = vaults(&case, 8).await?;
    let prompt = make::prompt(&case, &wire).await?;
    let mut memberships = Vec::new();
    for source in &sources {
        make::fill(&wire, *source, &[prompt]).await?;
        let listed = make::contents(&wire, *source).await?;
        memberships.extend(listed.iter().map(|member| (*source, member.membership)));
    }
    let moves = memberships.iter().map(|(source, id)| ask_move(&wire, *source, *id, target));
    for reply in all(join_all(moves).await)? {
        reply.status(200)?;
    }
    let mut all_vaults = sources;
    all_vaults.push(target);
    let vaults = make::vaults_among(&wire, prompt, &all_vaults).await?;
    check::equal("vaultIds", &vaults, &vec![target])?;
    lists(&wire, target, 1).await
}

/// S-31.
async fn losers_404(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let (source, target) = (make::vault(&case, &wire).await?, make::vault(&case, &wire).await?);
    let id = make::members(&case, &wire, source, 1).await?[0].membership;
    let body = json!({ "targetVaultId": target });
    let path = format!("{}/move", path(source, id));
    let replies = all(join_all((0..16).map(|_| wire.post(&path, body.clone()))).await)?;
    for reply in replies.iter().filter(|reply| reply.status_code() != 200) {
        reply.accepted(404, "a move that came too late")?;
    }
    Ok(())
}
