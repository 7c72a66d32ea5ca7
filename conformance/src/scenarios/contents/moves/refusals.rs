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
    reference! { "contents.move.wrong-vault" ["VC-20", "VC-21"] wrong_vault,
        "A membership of another vault than the path's is not moved" },
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

async fn wrong_vault(case: Case) -> Result<(), Failure> {
    let Two { wire, source, target, members } = two(&case, 1).await?;
    let second = make::vault(&case, &wire).await?;
    make::fill(&wire, second, &[members[0].prompt]).await?;
    let vaults = [source, second, target];
    let before = try_join_all(vaults.map(|vault| entries(&wire, vault))).await?;
    let reply = ask_move(&wire, second, members[0].membership, target).await?;
    reply.is_client_error("the move of a membership of another vault")?;
    let after = try_join_all(vaults.map(|vault| entries(&wire, vault))).await?;
    check::equal("the three vaults", &after, &before)
}
