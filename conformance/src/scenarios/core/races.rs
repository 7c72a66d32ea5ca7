//! Different calls on one thing at the same moment. Whichever comes first, what is there afterwards
//! is what some order of them would have left. No reader and no copy meets the fields of two updates
//! (S-76), and generations under one clientJobId are one job (S-36).

use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    core! { "races.membership.four-ways" ["PR-42", "VA-10", "VC-21"] four_ways,
        "A prompt moved, removed, pinned and deleted at once is in no vault, and counts are true" },
    core! { "races.membership.moved-or-gone" ["VC-20", "VC-21"] moved_or_gone,
        "After moves, removals and pins at once a prompt is in the target if a move succeeded" },
    core! { "races.vault.deleted-while-moved" ["VA-28", "VC-21"]
        |case| moved_while_deleted(case, true),
        "A vault deleted while its prompts are moved away leaves each where its answer says" },
    core! { "contents.race.target-deleted" ["VC-21"] 
        |case| moved_while_deleted(case, false),
        "A move to a vault that is being deleted is either done or changes nothing" },
    core! { "races.vault.source-and-target" ["VA-28", "VC-21"] source_and_target,
        "Two vaults deleted while prompts move between them leave no membership and all prompts" },
    core! { "races.prompt.created-while-vault-goes" ["PR-27", "VA-28"] created_while_vault_goes,
        "A prompt made into a vault that is being deleted is there without it, or was refused" },
];

/// Four moves, removals and pins of one membership at once; the replies to the first two.
async fn moved_removed_and_pinned(
    member: &Member,
    target: &Vault,
) -> Result<[Vec<ApiResponse>; 2]> {
    let moves = race::times(4, || member.move_to(target));
    let removals = race::times(4, || member.remove());
    let pins = race::times(4, || member.pin());
    let (moves, removals, pins) = try_join3(moves, removals, pins).await?;
    for replies in [&moves, &removals, &pins] {
        race::expect_no_server_error(replies)?;
    }
    Ok([moves, removals])
}

async fn expect_count(vault: &Vault, expected: usize) -> Result {
    let count = vault.counts_what_it_lists().await?;
    check::equal(&format!("the prompts of vault {}", vault.id), &count, &expected)
}

async fn four_ways(case: Case) -> Result {
    let (source, target, [member, _]) = case.under_contention().source_and_target().await?;
    let deletions = race::times(4, || member.prompt.delete());
    let ([moves, _], deletions) =
        try_join(moved_removed_and_pinned(&member, &target), deletions).await?;
    race::expect_one_success_at_most(&moves)?;
    race::expect_success(&deletions)?;
    member.prompt.get().await?.status(404)?;
    expect_count(&source, 1).await?;
    expect_count(&target, 0).await
}

async fn moved_or_gone(case: Case) -> Result {
    for _ in 0..4 {
        let (source, target, [member]) = case.under_contention().source_and_target().await?;
        let [moves, removals] = moved_removed_and_pinned(&member, &target).await?;
        let moved = race::expect_one_success_at_most(&moves)?;
        // A removal that finds nothing may be told of success (S-31).
        if moved == 0 {
            race::expect_success(&removals)?;
        }
        expect_count(&source, 0).await?;
        expect_count(&target, moved).await?;
        let holder = (moved == 1).then_some(&target);
        member.prompt.expect_vaults([&source, &target], holder).await?;
    }
    Ok(())
}

/// The source is deleted while its prompts are moved, or the target is.
async fn moved_while_deleted(case: Case, source_goes: bool) -> Result {
    let (source, target, members) = case.under_contention().source_and_target::<8>().await?;
    let moves = race::all(members.iter().map(|member| member.move_to(&target)));
    let (gone, kept) = if source_goes { (&source, &target) } else { (&target, &source) };
    let (moves, deletion) = try_join(moves, gone.delete()).await?;
    deletion.status(200)?;
    for (member, reply) in members.iter().zip(moves) {
        let moved = reply.status_code() == 200;
        let holder = (moved == source_goes).then_some(kept);
        let vaults = member.prompt.expect_vaults([&source, &target], holder).await;
        check::with_context(format!("after a move with status {}", reply.status_code()), vaults)?;
    }
    kept.counts_what_it_lists().await.map(drop)
}

async fn source_and_target(case: Case) -> Result {
    let vaults: [Vault; 2] = case.under_contention().vaults().await?;
    let mut moves = Vec::new();
    for (from, to) in [(0, 1), (1, 0)] {
        let members = vaults[from].fill(4).await?;
        moves.extend(members.into_iter().map(|member| (member, &vaults[to])));
    }
    let replies = race::all(moves.iter().map(|(member, target)| member.move_to(target)));
    let deletions = race::all(vaults.iter().map(Vault::delete));
    let (replies, deletions) = try_join(replies, deletions).await?;
    race::expect_no_server_error(&replies)?;
    race::expect_status(&deletions, 200)?;
    for (member, _) in &moves {
        member.prompt.expect_vaults(&vaults, []).await?;
    }
    Ok(())
}

async fn created_while_vault_goes(case: Case) -> Result {
    let case = case.under_contention();
    let vault = case.vault().await?;
    let creations = race::times(12, || case.create_prompt(json!({ "vaultId": vault.id })));
    let (creations, deleted) = try_join(creations, vault.delete()).await?;
    deleted.status(200)?;
    race::expect_no_server_error(&creations)?;
    for reply in creations.iter().filter(|reply| reply.status_code() == 201) {
        case.prompt_of(reply)?.expect_vaults([&vault], []).await?;
    }
    Ok(())
}
