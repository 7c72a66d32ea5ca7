//! `POST …/move`: what a move does and answers. What it refuses is in
//! `refusals`, what the reference server chose in `choices`.

pub(super) mod choices;
pub(super) mod refusals;

use super::{apart, ask_move, entries, path, pin, prompts};
use crate::scenario::core;
use crate::wire::Wire;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "contents.move.answer-integers" ["VC-17"] answer_integers,
        "A move answers 200 with four integers" },
    core! { "contents.move.answer-values" ["VC-18"] answer_values,
        "The answer of a move names the prompt, the source and the target" },
    core! { "contents.move.new-membership" ["VC-19"] new_membership,
        "The vaultPromptId a move answers with is new and is the one the target lists" },
    core! { "contents.move.new-membership-works" ["VC-19"] new_membership_works,
        "The new membership can be pinned, moved and removed in the target" },
    core! { "contents.move.from-source-to-target" ["VC-20"] from_source_to_target,
        "A moved prompt is in the target and no more in the source" },
    core! { "contents.move.old-membership-ends" ["VC-20"] old_membership_ends,
        "The membership in the source is good for nothing after a move" },
    core! { "contents.move.others-stay" ["VC-20"] others_stay,
        "A move leaves the other prompts of both vaults, and the prompt's other vaults" },
];

/// Two vaults, the first with prompts, the first added first.
struct Two {
    wire: Wire,
    source: i64,
    target: i64,
    members: Vec<make::Member>,
}

async fn two(case: &Case, prompts: usize) -> Result<Two, Failure> {
    let wire = case.wire();
    let (source, target) = (make::vault(case, &wire).await?, make::vault(case, &wire).await?);
    let members = make::members(case, &wire, source, prompts).await?;
    Ok(Two { wire, source, target, members })
}

async fn answer_integers(case: Case) -> Result<(), Failure> {
    let Two { wire, source, target, members } = two(&case, 1).await?;
    let reply = ask_move(&wire, source, members[0].membership, target).await?;
    reply.status(200)?;
    for key in ["promptId", "sourceVaultId", "targetVaultId", "vaultPromptId"] {
        reply.integer(&format!("/data/{key}"))?;
    }
    Ok(())
}

async fn answer_values(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let target = make::vault(&case, &wire).await?;
    let (source, members) = apart(&case, &wire, 2).await?;
    let reply = ask_move(&wire, source, members[1].membership, target).await?;
    reply.equals("/data/promptId", members[1].prompt)?;
    reply.equals("/data/sourceVaultId", source)?.equals("/data/targetVaultId", target)?;
    Ok(())
}

async fn new_membership(case: Case) -> Result<(), Failure> {
    let Two { wire, source, target, members } = two(&case, 2).await?;
    for member in members {
        let reply = ask_move(&wire, source, member.membership, target).await?;
        let new = reply.integer("/data/vaultPromptId")?;
        reply.ensure(new != member.membership, "a new vaultPromptId", "the old one")?;
        let listed = entries(&wire, target).await?;
        let listed = listed.iter().find(|entry| entry.prompt == member.prompt);
        let listed = listed.map(|entry| entry.membership);
        check::equal("the vaultPromptId in the target's listing", &listed, &Some(new))?;
    }
    Ok(())
}

async fn new_membership_works(case: Case) -> Result<(), Failure> {
    let Two { wire, source, target, members } = two(&case, 1).await?;
    let reply = ask_move(&wire, source, members[0].membership, target).await?;
    let new = reply.integer("/data/vaultPromptId")?;
    let pin = wire.post_empty(&format!("{}/pin", path(target, new))).await?;
    pin.accepted(200, "the pin of the new membership")?;
    let back = ask_move(&wire, target, new, source).await?;
    let new = back.accepted(200, "the move of it")?.integer("/data/vaultPromptId")?;
    let removed = wire.delete(&path(source, new)).await?;
    removed.accepted(200, "the removal of it")?;
    Ok(())
}

async fn from_source_to_target(case: Case) -> Result<(), Failure> {
    let Two { wire, source, target, members } = two(&case, 1).await?;
    ask_move(&wire, source, members[0].membership, target).await?.status(200)?;
    check::equal("the source", &prompts(&wire, source).await?, &vec![])?;
    check::equal("the target", &prompts(&wire, target).await?, &vec![members[0].prompt])?;
    let vaults = make::vaults_among(&wire, members[0].prompt, &[source, target]).await?;
    check::equal("vaultIds", &vaults, &vec![target])
}

async fn old_membership_ends(case: Case) -> Result<(), Failure> {
    let Two { wire, source, target, members } = two(&case, 2).await?;
    let old = members[0].membership;
    ask_move(&wire, source, old, target).await?.status(200)?;
    let before = entries(&wire, target).await?;
    for vault in [source, target] {
        let path = path(vault, old);
        let replies = [
            ("pin", wire.post_empty(&format!("{path}/pin")).await?),
            ("move", ask_move(&wire, vault, old, source).await?),
            ("removal", wire.delete(&path).await?),
        ];
        // Removing what is not there may be a success (S-31).
        for (call, reply) in replies.iter().filter(|(call, _)| *call != "removal") {
            reply.is_client_error(format!("the {call} of a membership that was moved away"))?;
        }
    }
    check::equal("the target", &entries(&wire, target).await?, &before)
}

async fn others_stay(case: Case) -> Result<(), Failure> {
    let Two { wire, source, target, members } = two(&case, 3).await?;
    let third = make::vault(&case, &wire).await?;
    make::fill(&wire, third, &[members[1].prompt]).await?;
    make::members(&case, &wire, target, 2).await?;
    pin(&wire, source, members[0].membership).await?;
    let vaults = [source, target, third];
    let mut expected = Vec::new();
    for vault in vaults {
        let mut listed = entries(&wire, vault).await?;
        listed.retain(|entry| entry.membership != members[1].membership);
        expected.push(listed);
    }
    ask_move(&wire, source, members[1].membership, target).await?.status(200)?;
    for (vault, expected) in vaults.into_iter().zip(expected) {
        let mut listed = entries(&wire, vault).await?;
        listed.retain(|entry| vault != target || entry.prompt != members[1].prompt);
        check::equal("what was not moved", &listed, &expected)?;
    }
    Ok(())
}
