//! Fixtures by their ids, for scenarios that call through a wire; [`crate::fixture`] has more.

use serde_json::Value;

use crate::wire::{ApiResponse, Wire};
use crate::{Case, Failure, fixture};

/// A prompt in a vault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The prompt's id.
    pub prompt: i64,
    /// Its membership in the vault.
    pub membership: i64,
}

fn ids(members: Vec<fixture::Member>) -> Vec<Member> {
    let ids = |member: fixture::Member| Member { prompt: member.prompt.id, membership: member.id };
    members.into_iter().map(ids).collect()
}

/// A text prompt of the caller; its id.
pub async fn prompt(case: &Case, wire: &Wire) -> Result<i64, Failure> {
    Ok(case.on(wire.clone()).prompt().await?.id)
}

/// A prompt with these fields besides a title and a text; the answer.
pub async fn prompt_with(case: &Case, wire: &Wire, fields: Value) -> Result<ApiResponse, Failure> {
    Ok(case.on(wire.clone()).prompt_with(fields).await?.1)
}

/// `count` text prompts, made side by side; their ids in no particular order.
pub async fn prompts(case: &Case, wire: &Wire, count: usize) -> Result<Vec<i64>, Failure> {
    Ok(fixture::ids(case.on(wire.clone()).prompts(count).await?))
}

/// A private vault of the caller; its id.
pub async fn vault(case: &Case, wire: &Wire) -> Result<i64, Failure> {
    Ok(case.on(wire.clone()).vault().await?.id)
}

/// A vault with these fields besides a name; the answer.
pub async fn vault_with(case: &Case, wire: &Wire, fields: Value) -> Result<ApiResponse, Failure> {
    Ok(case.on(wire.clone()).vault_with(fields).await?.1)
}

/// `count` prompts in a vault, added one after the other: the first one first.
pub async fn members(
    case: &Case,
    wire: &Wire,
    vault: i64,
    count: usize,
) -> Result<Vec<Member>, Failure> {
    Ok(ids(case.on(wire.clone()).vault_at(vault).fill(count).await?))
}

/// A vault's prompts as they are listed.
pub async fn contents(wire: &Wire, vault: i64) -> Result<Vec<Member>, Failure> {
    let reply = wire.get(&format!("/vaults/{vault}/prompts")).await?;
    let prompts = reply.status(200)?.integers("/data", "id")?.into_iter();
    let memberships = reply.integers("/data", "vaultPromptId")?;
    let member = |(prompt, membership)| Member { prompt, membership };
    Ok(prompts.zip(memberships).map(member).collect())
}

/// The ids of a prompt's vaults.
pub async fn vaults_of(wire: &Wire, prompt: i64) -> Result<Vec<i64>, Failure> {
    fixture::vault_ids(&wire.get(&format!("/prompts/{prompt}")).await?)
}
