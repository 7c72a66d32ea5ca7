//! Values out of their range, and ids that name nothing, in queries and bodies.

use serde_json::json;

use crate::scenario::{core, reference};
use crate::scenarios::endpoints::{Ids, absent};
use crate::wire::{Reply, Wire};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "errors.unknown-id.no-success" ["VC-14", "VC-21"] unknown_no_success,
        "An id in a body that names nothing is no success and changes nothing" },
    reference! { "errors.unknown-id.named" ["ER-03"] unknown_named,
        "An id in a body or query that names nothing, 0 and less too, is 400 naming the field \
         (S-57)" },
];

async fn unknown_no_success(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let ids = Ids::make(&case, &wire).await?;
    let before = ids.state(&wire).await?;
    let gone = make::vault(&case, &wire).await?;
    wire.delete(&format!("/vaults/{gone}")).await?.status(200)?;
    for unknown in [gone, absent(ids.vault)] {
        let replies = naming(&case, &wire, &ids, unknown, absent(ids.prompt)).await?;
        for (name, _, reply) in replies {
            check::about(name, reply.status_in(400..=499))?;
        }
    }
    check::equal("what was there", &ids.state(&wire).await?, &before)?;
    // Beside a right one it is no success either; what becomes of that one is open.
    let mixed = json!({ "promptIds": [ids.loose, absent(ids.prompt)] });
    let reply = wire.post(&format!("/vaults/{}/prompts", ids.vault), mixed).await?;
    reply.status_in(400..=499)?;
    Ok(())
}

async fn unknown_named(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let ids = Ids::make(&case, &wire).await?;
    for unknown in [absent(ids.vault), i64::MAX, i64::MIN, 0, -1] {
        let mut replies = naming(&case, &wire, &ids, unknown, unknown).await?;
        let list = wire.get(&format!("/prompts?vaultId={unknown}")).await?;
        replies.push(("GET /prompts", "vaultId", list));
        for (name, field, reply) in replies {
            let named = || reply.status(400)?.string(&format!("/details/{field}"));
            check::about(format!("{name} with {unknown}"), named())?;
        }
    }
    Ok(())
}

/// Calls with a right path and this vault or prompt in the body, each with
/// the field that names it.
async fn naming(
    case: &Case,
    wire: &Wire,
    ids: &Ids,
    vault: i64,
    prompt: i64,
) -> Result<Vec<(&'static str, &'static str, Reply)>, Failure> {
    let of_prompt = format!("/prompts/{}", ids.prompt);
    let contents = format!("/vaults/{}/prompts", ids.vault);
    let create = json!({ "title": case.name("prompt"), "prompt": "p", "vaultId": vault });
    let change = json!({ "title": "changed", "vaultId": vault });
    let add = json!({ "promptIds": [prompt] });
    let target = json!({ "targetVaultId": vault });
    let go = format!("{contents}/{}/move", ids.membership);
    let save = format!("{of_prompt}/save");
    Ok(vec![
        ("create", "vaultId", wire.post("/prompts", create).await?),
        ("update", "vaultId", wire.patch(&of_prompt, change).await?),
        ("save", "vaultId", wire.post(&save, json!({ "vaultId": vault })).await?),
        ("add", "promptIds", wire.post(&contents, add).await?),
        ("move", "targetVaultId", wire.post(&go, target).await?),
    ])
}
