//! Different calls on one thing at the same moment. Whichever comes first, what is
//! there afterwards is what some order of them would have left.

mod fields;
mod jobs;

use futures::future::{join, join_all, join3};
use serde_json::json;

use crate::scenario::core;
use crate::wire::{Reply, Wire};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[&[Scenario]] = &[MEMBERSHIPS, fields::ALL, jobs::ALL];

#[rustfmt::skip]
const MEMBERSHIPS: &[Scenario] = &[
    core! { "races.membership.four-ways" ["PR-42", "VA-10", "VC-21"] four_ways,
        "While a prompt is moved, removed, pinned and deleted at once it ends in no vault, and \
         counts are true" },
    core! { "races.membership.moved-or-gone" ["VC-20", "VC-21"] moved_or_gone,
        "Of moves, removals and pins at once, the prompt is in the target if a move succeeded and \
         nowhere else" },
    core! { "races.vault.deleted-while-moved" ["VA-28", "VC-21"] deleted_while_moved,
        "A vault deleted while its prompts are moved away leaves each where its answer says" },
    core! { "races.vault.source-and-target" ["VA-28", "VC-21"] source_and_target,
        "Two vaults deleted while prompts move between them leave no membership and all prompts" },
    core! { "races.prompt.created-while-vault-goes" ["PR-27", "VA-28"] created_while_vault_goes,
        "A prompt made into a vault that is being deleted is there without it, or was refused" },
];

fn all(replies: Vec<Result<Reply, Failure>>) -> Result<Vec<Reply>, Failure> {
    replies.into_iter().collect()
}

fn won(replies: &[Reply]) -> usize {
    replies.iter().filter(|reply| (200..300).contains(&reply.status_code())).count()
}

/// Nobody meets a fault of the server. 503 is none: it may be busy with the others (S-59).
fn sound(replies: &[Reply]) -> Result<(), Failure> {
    replies.iter().filter(|reply| reply.status_code() != 503).try_for_each(|reply| {
        reply.status_in(200..=499)?;
        Ok(())
    })
}

async fn counts_what_it_lists(wire: &Wire, vault: i64) -> Result<usize, Failure> {
    let listed = make::contents(wire, vault).await?.len();
    let counted = make::count_of(wire, vault).await?;
    check::equal("promptCount", &usize::try_from(counted).unwrap_or_default(), &listed)?;
    Ok(listed)
}

/// Calls of three kinds on one membership, four of each at once.
async fn at_once(wire: &Wire, membership: &str, target: i64) -> Result<[Vec<Reply>; 3], Failure> {
    let (go, pin) = (format!("{membership}/move"), format!("{membership}/pin"));
    let moves = join_all((0..4).map(|_| wire.post(&go, json!({ "targetVaultId": target }))));
    let removals = join_all((0..4).map(|_| wire.delete(membership)));
    let pins = join_all((0..4).map(|_| wire.post_empty(&pin)));
    let (moves, removals, pins) = join3(moves, removals, pins).await;
    let [moves, removals, pins] = [all(moves)?, all(removals)?, all(pins)?];
    for replies in [&moves, &removals, &pins] {
        sound(replies)?;
    }
    Ok([moves, removals, pins])
}

async fn four_ways(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let (source, target) = (make::vault(&case, &wire).await?, make::vault(&case, &wire).await?);
    let member = make::members(&case, &wire, source, 2).await?[0];
    let membership = format!("/vaults/{source}/prompts/{}", member.membership);
    let prompt = format!("/prompts/{}", member.prompt);
    let deletes = join_all((0..4).map(|_| wire.delete(&prompt)));
    let (others, deletes) = join(at_once(&wire, &membership, target), deletes).await;
    let [moves, ..] = others?;
    let moved = won(&moves);
    check::ensure(moved <= 1, "one move at most to succeed", format!("{moved} did"))?;
    check::ensure(won(&all(deletes)?) >= 1, "a deletion to succeed", "none did")?;
    wire.get(&prompt).await?.status(404)?;
    check::equal("the source", &counts_what_it_lists(&wire, source).await?, &1)?;
    check::equal("the target", &counts_what_it_lists(&wire, target).await?, &0)
}

async fn moved_or_gone(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    for _ in 0..4 {
        let (source, target) = (make::vault(&case, &wire).await?, make::vault(&case, &wire).await?);
        let member = make::members(&case, &wire, source, 1).await?[0];
        let membership = format!("/vaults/{source}/prompts/{}", member.membership);
        let [moves, removals, _] = at_once(&wire, &membership, target).await?;
        let (moved, removed) = (won(&moves), won(&removals));
        check::ensure(moved <= 1, "one move at most to succeed", format!("{moved} did"))?;
        // A removal that finds nothing may be told of success (S-31).
        check::ensure(moved == 1 || removed >= 1, "a move or a removal to succeed", "neither")?;
        check::equal("the source", &counts_what_it_lists(&wire, source).await?, &0)?;
        check::equal("the target", &counts_what_it_lists(&wire, target).await?, &moved)?;
        let expected = if moved == 1 { vec![target] } else { vec![] };
        let vaults = make::vaults_among(&wire, member.prompt, &[source, target]).await?;
        check::equal("the vaults of the prompt", &vaults, &expected)?;
    }
    Ok(())
}

async fn deleted_while_moved(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let (source, target) = (make::vault(&case, &wire).await?, make::vault(&case, &wire).await?);
    let members = make::members(&case, &wire, source, 8).await?;
    let paths =
        members.iter().map(|one| format!("/vaults/{source}/prompts/{}/move", one.membership));
    let paths: Vec<_> = paths.collect();
    let moves =
        join_all(paths.iter().map(|path| wire.post(path, json!({ "targetVaultId": target }))));
    let gone = format!("/vaults/{source}");
    let (moves, deleted) = join(moves, wire.delete(&gone)).await;
    deleted?.status(200)?;
    for (member, reply) in members.iter().zip(all(moves)?) {
        let moved = reply.status_code() == 200;
        let expected = if moved { vec![target] } else { vec![] };
        let vaults = make::vaults_among(&wire, member.prompt, &[source, target]).await?;
        reply.ensure(
            vaults == expected,
            format!("the vaults {expected:?}"),
            format!("{vaults:?}"),
        )?;
    }
    counts_what_it_lists(&wire, target).await.map(drop)
}

async fn source_and_target(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let vaults = [make::vault(&case, &wire).await?, make::vault(&case, &wire).await?];
    let [one, two] = vaults;
    let mut moves = Vec::new();
    let mut prompts = Vec::new();
    for (from, to) in [(one, two), (two, one)] {
        for member in make::members(&case, &wire, from, 4).await? {
            prompts.push(member.prompt);
            moves.push((format!("/vaults/{from}/prompts/{}/move", member.membership), to));
        }
    }
    let moves = moves.iter().map(|(path, to)| wire.post(path, json!({ "targetVaultId": to })));
    let paths = vaults.map(|vault| format!("/vaults/{vault}"));
    let deletes = join_all(paths.iter().map(|path| wire.delete(path)));
    let (moves, deletes) = join(join_all(moves), deletes).await;
    sound(&all(moves)?)?;
    for reply in all(deletes)? {
        reply.status(200)?;
    }
    for prompt in prompts {
        let left = make::vaults_among(&wire, prompt, &vaults).await?;
        check::equal("the deleted vaults of a prompt", &left, &vec![])?;
    }
    Ok(())
}

async fn created_while_vault_goes(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let vault = make::vault(&case, &wire).await?;
    let bodies = (0..12).map(
        |_| json!({ "title": case.name("prompt"), "prompt": "A lighthouse", "vaultId": vault }),
    );
    let creates = join_all(bodies.map(|body| wire.post("/prompts", body)));
    let path = format!("/vaults/{vault}");
    let (creates, deleted) = join(creates, wire.delete(&path)).await;
    deleted?.status(200)?;
    let creates = all(creates)?;
    sound(&creates)?;
    for reply in creates.iter().filter(|reply| reply.status_code() == 201) {
        let left = make::vaults_among(&wire, reply.integer("/data/id")?, &[vault]).await?;
        check::equal("the deleted vault of a prompt", &left, &vec![])?;
    }
    Ok(())
}
