//! The things most scenarios start from, made over the wire in as few words
//! as the API allows. All of it is deleted when the case ends.

use futures::future::join_all;
use serde_json::{Value, json};

use crate::wire::{Reply, Wire};
use crate::{Case, Failure};

/// A prompt in a vault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The prompt's id.
    pub prompt: i64,
    /// Its membership in the vault.
    pub membership: i64,
}

/// A text prompt of the caller; its id.
pub async fn prompt(case: &Case, wire: &Wire) -> Result<i64, Failure> {
    prompt_with(case, wire, json!({})).await?.integer("/data/id")
}

/// A prompt with these fields besides a title and a text; the answer.
pub async fn prompt_with(case: &Case, wire: &Wire, fields: Value) -> Result<Reply, Failure> {
    // In both, as a scenario may need another text in one of them.
    let text = case.name("A lighthouse at dusk");
    let mut body = json!({ "title": case.name("prompt"), "prompt": text });
    merge(&mut body, fields);
    made(case, wire.post("/prompts", body).await?)
}

/// How many things of one scenario a quota has to leave room for.
const FEW: usize = 20;

/// The answer to a creation. A scenario that makes many things is skipped where an account may
/// not hold so many: quotas are open (S-62).
fn made(case: &Case, reply: Reply) -> Result<Reply, Failure> {
    let (status, count) = (reply.status_code(), case.created_count());
    if matches!(status, 402 | 403 | 409 | 422 | 507) && count >= FEW {
        return Err(Failure::blocked(format!(
            "the target refuses more after {count} things of this scenario (status {status})"
        )));
    }
    reply.status_in(200..=299)?;
    Ok(reply)
}

/// A private vault of the caller; its id.
pub async fn vault(case: &Case, wire: &Wire) -> Result<i64, Failure> {
    vault_with(case, wire, json!({})).await?.integer("/data/id")
}

/// A vault with these fields besides a name; the answer.
pub async fn vault_with(case: &Case, wire: &Wire, fields: Value) -> Result<Reply, Failure> {
    let mut body = json!({ "name": case.name("vault") });
    if fields.get("name").is_some() {
        // The name is the scenario's own, so the mark goes elsewhere.
        body["description"] = json!(case.name("made"));
    }
    merge(&mut body, fields);
    made(case, wire.post("/vaults", body).await?)
}

/// Puts prompts into a vault, one call each, in this order.
pub async fn fill(wire: &Wire, vault: i64, prompts: &[i64]) -> Result<(), Failure> {
    for prompt in prompts {
        let body = json!({ "promptIds": [prompt] });
        wire.post(&format!("/vaults/{vault}/prompts"), body).await?.status_in(200..=299)?;
    }
    Ok(())
}

/// `count` prompts in a vault, added one after the other: the first one first.
pub async fn members(
    case: &Case,
    wire: &Wire,
    vault: i64,
    count: usize,
) -> Result<Vec<Member>, Failure> {
    let mut prompts = Vec::with_capacity(count);
    for _ in 0..count {
        prompts.push(prompt(case, wire).await?);
    }
    fill(wire, vault, &prompts).await?;
    let listed = contents(wire, vault).await?;
    let find = |prompt: i64| listed.iter().copied().find(|member| member.prompt == prompt);
    let found: Option<Vec<_>> = prompts.into_iter().map(find).collect();
    found.ok_or_else(|| Failure::failed("every added prompt in the listing", "some are missing"))
}

/// A vault's prompts as they are listed.
pub async fn contents(wire: &Wire, vault: i64) -> Result<Vec<Member>, Failure> {
    let reply = wire.get(&format!("/vaults/{vault}/prompts")).await?;
    reply.status(200)?;
    let prompts = reply.integers("/data", "id")?;
    let memberships = reply.integers("/data", "vaultPromptId")?;
    let pairs = prompts.into_iter().zip(memberships);
    Ok(pairs.map(|(prompt, membership)| Member { prompt, membership }).collect())
}

/// The ids of a prompt's vaults.
pub async fn vaults_of(wire: &Wire, prompt: i64) -> Result<Vec<i64>, Failure> {
    vaults_in(&wire.get(&format!("/prompts/{prompt}")).await?)
}

/// The `vaultIds` of the prompt that this answers with.
pub fn vaults_in(reply: &Reply) -> Result<Vec<i64>, Failure> {
    let ids = reply.status(200)?.array("/data/vaultIds")?;
    let ids: Option<Vec<_>> = ids.iter().map(Value::as_i64).collect();
    ids.ok_or_else(|| reply.failure("integers in /data/vaultIds", "something else"))
}

/// A vault's `promptCount`.
pub async fn count_of(wire: &Wire, vault: i64) -> Result<i64, Failure> {
    let reply = wire.get(&format!("/vaults/{vault}")).await?;
    reply.status(200)?.integer("/data/promptCount")
}

fn merge(body: &mut Value, fields: Value) {
    if let (Value::Object(body), Value::Object(fields)) = (body, fields) {
        body.extend(fields);
    }
}

/// `count` text prompts, made side by side; their ids in no particular order.
pub async fn prompts(case: &Case, wire: &Wire, count: usize) -> Result<Vec<i64>, Failure> {
    let made = join_all((0..count).map(|_| prompt(case, wire))).await;
    made.into_iter().collect()
}

/// Which of these vaults `vaultIds` of a prompt names, ascending and as often as
/// it does. A server may put prompts into vaults of its own besides.
pub async fn vaults_among(wire: &Wire, prompt: i64, own: &[i64]) -> Result<Vec<i64>, Failure> {
    let mut vaults = vaults_of(wire, prompt).await?;
    vaults.retain(|vault| own.contains(vault));
    vaults.sort_unstable();
    Ok(vaults)
}
