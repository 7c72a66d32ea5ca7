//! Many calls at the same moment, on one membership or vault. Afterwards the vaults hold what the
//! responses say and what some order of the calls would have left, and the counts are right.

use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub const ALL: &[Scenario] = &[
    scenario! { "contents.race.adds" ["VA-10", "VC-10", "VC-11"] |case| adds(case.under_contention()),
        "Prompts added at the same time are all there, and added and promptCount say so" },
    scenario! { "contents.race.removes" ["VC-15", "VC-16"]
        |case| async move { race::expect_success(&many_removals(&case).await?) },
        "Of many removals of one membership at least one succeeds, and no other membership is removed" },
    scenario! { "contents.race.deleted-while-added" ["PR-42"] |case| deleted_while_added(case.under_contention()),
        "A prompt deleted while it is added is in no vault afterwards" },
    scenario! { "contents.race.pins" ["VC-27", "VC-29"] pins,
        "Pins of one prompt and of several at the same moment all answer 200, and each is pinned once" },
    scenario! { "contents.race.moves-to-one-vault" ["VC-21"] |case| moves_to_one_vault(case.under_contention()),
        "Of many moves of one membership exactly one succeeds, and it is in its target once" },
    scenario! { "contents.race.move-or-remove" ["VC-21"] |case| moved_or_removed(case, false),
        "Of moves and removals of one membership one move succeeds, or removals do" },
    scenario! { "contents.race.moves-cross" ["VC-20", "VA-10"] moves_cross,
        "Moves in both directions between two vaults all succeed, and the counts of both are true" },
    scenario! { "contents.race.seen-in-one-vault" ["VA-10", "VC-21"] |case| seen_in_one_vault(case.under_contention()),
        "A prompt is seen and counted in exactly one of two vaults while it is moved" },
    scenario! { "races.membership.four-ways" ["PR-42", "VA-10", "VC-21"] four_ways,
        "A prompt moved, removed, pinned and deleted at once is in no vault, and counts are true" },
    scenario! { "races.vault.deleted-while-moved" ["VA-28", "VC-21"]
        |case| moved_while_deleted(case, true),
        "A vault deleted while its prompts are moved away leaves each where its answer says" },
    scenario! { "contents.race.target-deleted" ["VC-21"] |case| moved_while_deleted(case, false),
        "A move to a vault that is being deleted is either done or changes nothing" },
    scenario! { "races.prompt.created-while-vault-goes" ["PR-27", "VA-28"] |case| created_while_vault_goes(case.under_contention()),
        "A prompt made into a vault that is being deleted is there without it, or was refused" },
];

async fn adds(case: Case) -> Result {
    let (vault, prompts) = (case.vault().await?, case.prompts(16).await?);
    for reply in race::all(prompts.chunks(2).map(|some| vault.add(some))).await? {
        reply.status(201)?.equals("/data/added", 2)?;
    }
    expect_count(&vault, prompts.len()).await
}

/// The replies to many removals of one membership at once; the other one of the vault stays.
pub async fn many_removals(case: &Case) -> Result<Vec<ApiResponse>> {
    let (vault, [member, other]) = case.under_contention().filled_vault().await?;
    let replies = race::times(16, || member.remove()).await?;
    vault.expect_prompts([&other]).await?;
    Ok(replies)
}

async fn deleted_while_added(case: Case) -> Result {
    let (vault, prompts) = (case.vault().await?, case.prompts(8).await?);
    let adds = race::all(prompts.iter().map(|prompt| vault.add([prompt])));
    let (_, deleted) = try_join(adds, race::all(prompts.iter().map(Prompt::delete))).await?;
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

async fn moves_to_one_vault(case: Case) -> Result {
    for count in [1, 8] {
        let (source, [member]) = case.filled_vault().await?;
        let targets = try_join_all((0..count).map(|_| case.vault())).await?;
        let moves = targets.iter().cycle().take(16).map(|target| member.move_to(target));
        race::expect_successes(&race::all(moves).await?, 1)?;
        source.expect_size(0).await?;
        let mut holders = 0;
        for target in &targets {
            holders += target.prompts().await?.len();
        }
        check::equal("the number of targets that list the prompt", &holders, &1)?;
    }
    Ok(())
}

/// Repeats until a move wins, with the removals sent a little later in each round. A removal that
/// finds nothing may succeed (S-31, S-76), unless `one_kind` of call alone may.
pub async fn moved_or_removed(case: Case, one_kind: bool) -> Result {
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
    let vaults: [Vault; 2] = case.vaults().await?;
    let [member] = vaults[0].filled().await?;
    let (prompt, wire) = (member.prompt.clone(), case.wire());
    let readers = try_join_all((0..8).map(|_| read_meanwhile(&prompt, &wire, &vaults)));
    tokio::select! {
        moved = to_and_fro(&vaults, member) => moved,
        read = readers => read.map(drop),
    }
}

/// Reads again and again, until the prompt is not in exactly one of the vaults.
async fn read_meanwhile(prompt: &Prompt, wire: &Wire, vaults: &[Vault; 2]) -> Result {
    loop {
        let reply = prompt.read().await?;
        let mut named = vault_ids(&reply)?;
        named.retain(|id| vaults.iter().any(|vault| vault.id == *id));
        reply.ensure(named.len() == 1, "vaultIds with one of the two vaults", json_text(&named))?;
        let reply = wire.get("/vaults").await?;
        let [left, right] = vaults.each_ref().map(|vault| reply.entry(vault.id));
        let counts = [left?, right?].map(|vault| vault["promptCount"].clone());
        let one = counts == [1, 0] || counts == [0, 1];
        reply.ensure(one, "promptCounts 1 and 0, or 0 and 1", json_text(&counts))?;
    }
}

async fn to_and_fro([left, right]: &[Vault; 2], mut member: Member) -> Result {
    for _ in 0..20 {
        member = member.moved_to(right).await?.moved_to(left).await?;
    }
    Ok(())
}

async fn expect_count(vault: &Vault, expected: usize) -> Result {
    let count = vault.counts_what_it_lists().await?;
    check::equal(&format!("the prompts of vault {}", vault.id), &count, &expected)
}

async fn four_ways(case: Case) -> Result {
    let (source, target, [member, _]) = case.under_contention().source_and_target().await?;
    let moves = race::times(4, || member.move_to(&target));
    let changes =
        try_join3(moves, race::times(4, || member.remove()), race::times(4, || member.pin()));
    let deletions = race::times(4, || member.prompt.delete());
    let ((moves, removals, pins), deletions) = try_join(changes, deletions).await?;
    for replies in [&moves, &removals, &pins] {
        race::expect_no_server_error(replies)?;
    }
    race::expect_one_success_at_most(&moves)?;
    race::expect_success(&deletions)?;
    member.prompt.get().await?.status(404)?;
    expect_count(&source, 1).await?;
    expect_count(&target, 0).await
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

async fn created_while_vault_goes(case: Case) -> Result {
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
