//! Moves that fail, and that they change nothing.

use futures::future::try_join_all;
use serde_json::json;

use super::super::{ask_move, entries, path};
use super::{Two, two};
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(in super::super) const ALL: &[Scenario] = &[
    core! { "contents.move.refused-changes-nothing" ["VC-21"] refused_changes_nothing,
        "A move that is refused leaves the membership as it is" },
    core! { "contents.move.deleted-target" ["VC-21", "VC-24"] deleted_target,
        "A move to a deleted vault does not succeed and changes nothing" },
    core! { "contents.move.foreign-target" ["VC-24"] [OtherAccount] foreign_target,
        "A move to a vault of another account does not succeed and changes nothing" },
    reference! { "contents.move.wrong-vault" ["VC-20", "VC-21"] wrong_vault,
        "A membership of another vault than the path's is not moved" },
    core! { "contents.move.foreign-source" ["VC-23"] [OtherAccount] foreign_source,
        "A move out of a vault of another account does not succeed and changes nothing" },
    reference! { "contents.move.target-named" ["VC-24"] [OtherAccount] target_named,
        "A target that is not the caller's is refused with 400 naming targetVaultId, in one text" },
];

async fn refused_changes_nothing(case: Case) -> Result<(), Failure> {
    let Two { wire, source, members, .. } = two(&case, 3).await?;
    super::pin(&wire, source, members[1].membership).await?;
    let before = entries(&wire, source).await?;
    let path = format!("{}/move", path(source, members[1].membership));
    for body in [json!({}), json!({ "targetVaultId": "x" }), json!({ "targetVaultId": 0 })] {
        wire.post(&path, body).await?.status(400)?;
        check::equal("the source", &entries(&wire, source).await?, &before)?;
    }
    Ok(())
}

async fn deleted_target(case: Case) -> Result<(), Failure> {
    let Two { wire, source, target, members } = two(&case, 2).await?;
    wire.delete(&format!("/vaults/{target}")).await?.status(200)?;
    let before = entries(&wire, source).await?;
    let reply = ask_move(&wire, source, members[0].membership, target).await?;
    reply.refused_somehow("a move to a deleted vault")?;
    check::equal("the source", &entries(&wire, source).await?, &before)?;
    let vaults = make::vaults_among(&wire, members[0].prompt, &[source, target]).await?;
    check::equal("vaultIds", &vaults, &vec![source])
}

async fn foreign_target(case: Case) -> Result<(), Failure> {
    let Two { wire, source, members, .. } = two(&case, 2).await?;
    let before = entries(&wire, source).await?;
    for visibility in ["private", "public"] {
        let fields = json!({ "visibility": visibility });
        let foreign = make::vault_with(&case, &case.other(), fields).await?;
        let foreign = foreign.integer("/data/id")?;
        let reply = ask_move(&wire, source, members[0].membership, foreign).await?;
        reply.refused_somehow(format!("a move to a {visibility} vault of another account"))?;
        check::equal("the source", &entries(&wire, source).await?, &before)?;
        let there = entries(&case.other(), foreign).await?;
        check::equal("the vault of the other account", &there, &vec![])?;
    }
    Ok(())
}

async fn wrong_vault(case: Case) -> Result<(), Failure> {
    let Two { wire, source, target, members } = two(&case, 1).await?;
    let second = make::vault(&case, &wire).await?;
    make::fill(&wire, second, &[members[0].prompt]).await?;
    let vaults = [source, second, target];
    let before = try_join_all(vaults.map(|vault| entries(&wire, vault))).await?;
    let reply = ask_move(&wire, second, members[0].membership, target).await?;
    reply.refused_somehow("the move of a membership of another vault")?;
    let after = try_join_all(vaults.map(|vault| entries(&wire, vault))).await?;
    check::equal("the three vaults", &after, &before)
}

async fn foreign_source(case: Case) -> Result<(), Failure> {
    let (wire, other) = (case.wire(), case.other());
    let target = make::vault(&case, &wire).await?;
    for visibility in ["private", "public"] {
        let fields = json!({ "visibility": visibility });
        let foreign = make::vault_with(&case, &other, fields).await?.integer("/data/id")?;
        let member = make::members(&case, &other, foreign, 1).await?[0];
        let before = entries(&other, foreign).await?;
        let reply = ask_move(&wire, foreign, member.membership, target).await?;
        reply.refused_somehow(format!("a move out of a {visibility} vault of another account"))?;
        check::equal("the source", &entries(&other, foreign).await?, &before)?;
        check::equal("the target", &entries(&wire, target).await?, &vec![])?;
    }
    Ok(())
}

/// S-57. A text may name the id itself.
async fn target_named(case: Case) -> Result<(), Failure> {
    let Two { wire, source, target, members } = two(&case, 1).await?;
    let foreign = make::vault(&case, &case.other()).await?;
    wire.delete(&format!("/vaults/{target}")).await?.status(200)?;
    let mut first = None;
    for target in [target, foreign, i64::MAX] {
        let reply = ask_move(&wire, source, members[0].membership, target).await?;
        reply.status(400)?;
        let texts = [reply.string("/error")?, reply.string("/details/targetVaultId")?];
        let texts = texts.map(|text| text.replace(&target.to_string(), "<id>"));
        let expected = first.get_or_insert_with(|| texts.clone());
        reply.ensure(
            texts == *expected,
            format!("the texts {expected:?}"),
            format!("{texts:?}"),
        )?;
    }
    Ok(())
}
