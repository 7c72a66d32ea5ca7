//! `DELETE /vaults/{vaultId}/prompts/{vaultPromptId}`, and memberships that
//! the path names in vain.

use super::{apart, entries, path};
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "contents.remove.answer" ["VC-15"] answer,
        "A removal answers 200 with the membership's id and removed true" },
    core! { "contents.remove.takes-out" ["VC-15"] takes_out,
        "A removal takes the prompt out of the vault" },
    core! { "contents.remove.prompt-stays" ["VC-16"] prompt_stays,
        "A removed prompt stays in the account" },
    core! { "contents.remove.other-vaults-stay" ["VC-16"] other_vaults_stay,
        "A removed prompt stays in its other vaults" },
    core! { "contents.remove.others-stay" ["VC-16"] others_stay,
        "A removal leaves the other prompts of the vault as they are" },
    reference! { "contents.remove.wrong-vault" ["VC-15"] wrong_vault,
        "A membership of another vault than the path's is not removed" },
    reference! { "contents.remove.again" ["VC-15"] again,
        "A membership that was removed is not found" },
    reference! { "contents.remove.wrong-vault-404" ["VC-15"] wrong_vault_404,
        "A membership of another vault than the path's is not found" },
    reference! { "contents.remove.impossible-ids" ["VC-15"] impossible_ids,
        "An id that no membership can have is not found" },
];

async fn answer(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, members) = apart(&case, &wire, 2).await?;
    let id = members[0].membership;
    let reply = wire.delete(&path(vault, id)).await?;
    reply.status(200)?.equals("/data/vaultPromptId", id)?.equals("/data/removed", true)?;
    Ok(())
}

async fn takes_out(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let member = make::members(&case, &wire, vault, 1).await?[0];
    wire.delete(&path(vault, member.membership)).await?.status(200)?;
    check::equal("the listing", &super::prompts(&wire, vault).await?, &vec![])?;
    let vaults = make::vaults_among(&wire, member.prompt, &[vault]).await?;
    check::equal("the vault in vaultIds", &vaults, &vec![])
}

async fn prompt_stays(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let member = make::members(&case, &wire, vault, 1).await?[0];
    wire.delete(&path(vault, member.membership)).await?.status(200)?;
    let reply = wire.get(&format!("/prompts/{}", member.prompt)).await?;
    reply.accepted(200, "the prompt that was removed from a vault")?;
    Ok(())
}

async fn other_vaults_stay(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, second) = (make::vault(&case, &wire).await?, make::vault(&case, &wire).await?);
    let member = make::members(&case, &wire, vault, 1).await?[0];
    make::fill(&wire, second, &[member.prompt]).await?;
    let before = entries(&wire, second).await?;
    wire.delete(&path(vault, member.membership)).await?.status(200)?;
    check::equal("the other vault", &entries(&wire, second).await?, &before)?;
    let vaults = make::vaults_of(&wire, member.prompt).await?;
    check::ensure(vaults.contains(&second), "the other vault in vaultIds", format!("{vaults:?}"))
}

async fn others_stay(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let members = make::members(&case, &wire, vault, 4).await?;
    super::pin(&wire, vault, members[0].membership).await?;
    let mut expected = entries(&wire, vault).await?;
    wire.delete(&path(vault, members[1].membership)).await?.status(200)?;
    expected.retain(|entry| entry.membership != members[1].membership);
    check::equal("the listing", &entries(&wire, vault).await?, &expected)
}

async fn wrong_vault(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, second) = (make::vault(&case, &wire).await?, make::vault(&case, &wire).await?);
    let member = make::members(&case, &wire, vault, 1).await?[0];
    make::fill(&wire, second, &[member.prompt]).await?;
    let before = [entries(&wire, vault).await?, entries(&wire, second).await?];
    let reply = wire.delete(&path(second, member.membership)).await?;
    reply.is_client_error("the removal of a membership of another vault")?;
    let after = [entries(&wire, vault).await?, entries(&wire, second).await?];
    check::equal("the two vaults", &after, &before)
}

/// S-31.
async fn again(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let target = make::vault(&case, &wire).await?;
    let removed = make::members(&case, &wire, vault, 1).await?[0].membership;
    wire.delete(&path(vault, removed)).await?.status(200)?;
    not_found(&case, vault, removed, target, "a removed membership").await
}

/// S-31.
async fn wrong_vault_404(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, second) = (make::vault(&case, &wire).await?, make::vault(&case, &wire).await?);
    let id = make::members(&case, &wire, vault, 1).await?[0].membership;
    not_found(&case, second, id, vault, "a membership of another vault").await
}

/// S-31.
async fn not_found(
    case: &Case,
    vault: i64,
    membership: i64,
    target: i64,
    what: &str,
) -> Result<(), Failure> {
    let wire = case.wire();
    let path = path(vault, membership);
    let replies = [
        ("pin", wire.post_empty(&format!("{path}/pin")).await?),
        ("unpin", wire.delete(&format!("{path}/pin")).await?),
        ("move", super::ask_move(&wire, vault, membership, target).await?),
        ("remove", wire.delete(&path).await?),
    ];
    for (call, reply) in replies {
        reply.accepted(404, format!("{call} of {what}"))?;
    }
    Ok(())
}

/// S-31 and S-58.
async fn impossible_ids(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    make::members(&case, &wire, vault, 1).await?;
    for id in ["0", "-1", "1.0", "+1", "%20", "one", "9223372036854775807", "9223372036854775808"] {
        let path = format!("/vaults/{vault}/prompts/{id}");
        wire.delete(&path).await?.accepted(404, format!("removing {id}"))?;
        wire.post_empty(&format!("{path}/pin")).await?.accepted(404, format!("pinning {id}"))?;
        let body = serde_json::json!({ "targetVaultId": vault });
        let reply = wire.post(&format!("{path}/move"), body).await?;
        reply.accepted(404, format!("moving {id}"))?;
    }
    Ok(())
}
