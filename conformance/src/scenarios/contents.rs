//! What is in a vault: the listing, and the calls that put prompts in, take
//! them out, move them and pin them.

mod listing;
mod membership;
mod order;

mod add;
mod add_again;
mod moves;
mod pins;
mod remove;

mod race;

use serde_json::Value;

use crate::wire::{Reply, Wire};
use crate::{Case, Failure, Scenario, make};

pub(super) const ALL: &[&[Scenario]] = &[
    membership::ALL,
    listing::ALL,
    order::ALL,
    add::ALL,
    add::choices::ALL,
    add_again::ALL,
    remove::ALL,
    moves::ALL,
    moves::refusals::ALL,
    moves::choices::ALL,
    pins::ALL,
    race::ALL,
    race::moves::ALL,
];

/// A prompt as a vault lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    prompt: i64,
    membership: i64,
    pinned: bool,
}

/// The answer of a vault's listing.
async fn listing(wire: &Wire, vault: i64) -> Result<Reply, Failure> {
    let reply = wire.get(&format!("/vaults/{vault}/prompts")).await?;
    reply.status(200)?;
    Ok(reply)
}

/// All that memberships are about, in the order of the listing.
async fn entries(wire: &Wire, vault: i64) -> Result<Vec<Entry>, Failure> {
    let reply = listing(wire, vault).await?;
    let entry = |entry: &Value| {
        Some(Entry {
            prompt: entry["id"].as_i64()?,
            membership: entry["vaultPromptId"].as_i64()?,
            pinned: entry["isPinned"].as_bool()?,
        })
    };
    let entries: Option<Vec<_>> = reply.array("/data")?.iter().map(entry).collect();
    entries.ok_or_else(|| {
        reply.failure("id, vaultPromptId and isPinned in every entry", "an entry without one")
    })
}

/// The prompts of a vault, in the order of the listing.
async fn prompts(wire: &Wire, vault: i64) -> Result<Vec<i64>, Failure> {
    listing(wire, vault).await?.integers("/data", "id")
}

/// A new vault with prompts. The id of no membership is that of its prompt: where
/// both are the same number, one that is taken for the other does not show.
async fn apart(
    case: &Case,
    wire: &Wire,
    count: usize,
) -> Result<(i64, Vec<make::Member>), Failure> {
    let mut tries = 0;
    loop {
        let vault = make::vault(case, wire).await?;
        let members = make::members(case, wire, vault, count).await?;
        tries += 1;
        if tries == 8 || members.iter().all(|member| member.membership != member.prompt) {
            return Ok((vault, members));
        }
        // Prompts are ahead of memberships by one more the next time.
        make::prompt(case, wire).await?;
    }
}

fn path(vault: i64, membership: i64) -> String {
    format!("/vaults/{vault}/prompts/{membership}")
}

/// Pins a prompt, for scenarios that are about something else.
async fn pin(wire: &Wire, vault: i64, membership: i64) -> Result<(), Failure> {
    wire.post_empty(&format!("{}/pin", path(vault, membership))).await?.status(200)?;
    Ok(())
}

/// Asks for a move.
async fn ask_move(
    wire: &Wire,
    source: i64,
    membership: i64,
    target: i64,
) -> Result<Reply, Failure> {
    let body = serde_json::json!({ "targetVaultId": target });
    wire.post(&format!("{}/move", path(source, membership)), body).await
}
