//! `DELETE /vaults/{vaultId}/prompts/{vaultPromptId}`, and memberships that
//! the path names in vain.

use serde_json::json;

use super::vault_with_distinct_ids;
use crate::fixture::vault_ids;
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "contents.remove.answer" ["VC-15"] answer,
        "A removal answers 200 with the membership's id and removed true" },
    core! { "contents.remove.takes-out" ["VC-15", "VC-16"] takes_out,
        "A removal takes the prompt out of the vault, and the prompt stays in the account" },
    core! { "contents.remove.other-vaults-stay" ["VC-16"] other_vaults_stay,
        "A removed prompt stays in its other vaults" },
    core! { "contents.remove.others-stay" ["VC-16"] others_stay,
        "A removal leaves the other prompts of the vault as they are" },
    reference! { "contents.remove.again" ["VC-15"] again,
        "A membership that was removed is not found" },
    reference! { "contents.remove.impossible-ids" ["VC-15"] impossible_ids,
        "An id that no membership can have is not found" },
];

async fn answer(case: Case) -> Result<(), Failure> {
    let (_, members) = vault_with_distinct_ids(&case, 2).await?;
    let reply = members[0].remove().await?;
    reply.status(200)?.equals("/data/vaultPromptId", members[0].id)?;
    reply.equals("/data/removed", true).map(drop)
}

async fn takes_out(case: Case) -> Result<(), Failure> {
    let vault = case.vault().await?;
    let [member] = vault.filled().await?;
    member.remove().await?.status(200)?;
    vault.expect_size(0).await?;
    member.prompt.expect_vaults([&vault], []).await
}

async fn other_vaults_stay(case: Case) -> Result<(), Failure> {
    let [vault, second] = case.vaults().await?;
    let [member] = vault.filled().await?;
    second.add_in_turn([&member]).await?;
    let before = second.entries().await?;
    member.remove().await?.status(200)?;
    second.expect_entries(&before).await?;
    let reply = member.prompt.read().await?;
    let named = vault_ids(&reply)?;
    let what = format!("vaultIds with {}", second.id);
    reply.ensure(named.contains(&second.id), what, format!("{named:?}")).map(drop)
}

async fn others_stay(case: Case) -> Result<(), Failure> {
    let vault = case.vault().await?;
    let [pinned, removed, _, _] = vault.filled().await?;
    pinned.pinned().await?;
    let mut expected = vault.entries().await?;
    removed.remove().await?.status(200)?;
    expected.retain(|entry| entry.membership != removed.id);
    vault.expect_entries(&expected).await
}

/// S-31.
async fn again(case: Case) -> Result<(), Failure> {
    let [vault, target] = case.vaults().await?;
    let [removed] = vault.filled().await?;
    removed.remove().await?.status(200)?;
    let replies = [
        ("pin", removed.pin().await?),
        ("unpin", removed.unpin().await?),
        ("move", removed.move_to(&target).await?),
        ("removal", removed.remove().await?),
    ];
    for (call, reply) in replies {
        reply.has_status(404, format!("the {call} of a removed membership"))?;
    }
    Ok(())
}

/// S-31 and S-58.
async fn impossible_ids(case: Case) -> Result<(), Failure> {
    let (wire, vault) = (case.wire(), case.vault().await?);
    vault.fill(1).await?;
    for id in ["0", "-1", "1.0", "+1", "%20", "one", "9223372036854775807", "9223372036854775808"] {
        let path = format!("{}/prompts/{id}", vault.path());
        wire.delete(&path).await?.has_status(404, format!("removing {id}"))?;
        wire.post_empty(&format!("{path}/pin")).await?.has_status(404, format!("pinning {id}"))?;
        let body = json!({ "targetVaultId": vault.id });
        let reply = wire.post(&format!("{path}/move"), body).await?;
        reply.has_status(404, format!("moving {id}"))?;
    }
    Ok(())
}
