//! A prompt that is in the vault already, and ids that come twice.

use serde_json::json;

use super::{entries, pin};
use crate::scenario::{core, reference};
use crate::wire::Wire;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "contents.add-again.vault-ids" ["PR-08"] vault_ids,
        "vaultIds names a vault once, however often the prompt was put into it" },
    reference! { "contents.add-again.changes-nothing" ["VC-03"] changes_nothing,
        "Putting a prompt into its vault again leaves membership, place and pin as they are" },
    reference! { "contents.add-again.counts-new" ["VC-11"] counts_new,
        "added counts the prompts that were not in the vault before" },
    reference! { "contents.add-again.twice-in-one" ["VC-11"] twice_in_one,
        "An id that is in promptIds twice counts once" },
    reference! { "contents.add-again.limit-as-sent" ["LI-08"] limit_as_sent,
        "The limit of 50 is on the entries as sent" },
];

/// Each way to put a prompt into a vault it may be in; whatever the answer is.
async fn put_in_every_way(wire: &Wire, vault: i64, prompt: i64) -> Result<[u16; 3], Failure> {
    let into = json!({ "vaultId": vault });
    let body = json!({ "promptIds": [prompt] });
    let added = wire.post(&format!("/vaults/{vault}/prompts"), body).await?;
    let saved = wire.post(&format!("/prompts/{prompt}/save"), into.clone()).await?;
    let updated = wire.patch(&format!("/prompts/{prompt}"), into).await?;
    Ok([added.status_code(), saved.status_code(), updated.status_code()])
}

/// S-26: a server may refuse the second time.
async fn vault_ids(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let prompt = make::prompt(&case, &wire).await?;
    make::fill(&wire, vault, &[prompt]).await?;
    put_in_every_way(&wire, vault, prompt).await?;
    let vaults = make::vaults_among(&wire, prompt, &[vault]).await?;
    check::equal("the vault in vaultIds", &vaults, &vec![vault])
}

/// S-26.
async fn changes_nothing(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let members = make::members(&case, &wire, vault, 4).await?;
    pin(&wire, vault, members[0].membership).await?;
    pin(&wire, vault, members[1].membership).await?;
    let before = entries(&wire, vault).await?;
    for member in [members[0], members[2]] {
        let statuses = put_in_every_way(&wire, vault, member.prompt).await?;
        check::equal("the statuses of add, save and update", &statuses, &[201, 200, 200])?;
        let after = entries(&wire, vault).await?;
        check::equal("the listing afterwards", &after, &before)?;
    }
    Ok(())
}

/// S-26.
async fn counts_new(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let path = format!("/vaults/{}/prompts", make::vault(&case, &wire).await?);
    let ids = make::prompts(&case, &wire, 4).await?;
    for (some, added, count) in [(&ids[..2], 2, 2), (&ids[..2], 0, 2), (&ids[1..], 2, 4)] {
        let reply = wire.post(&path, json!({ "promptIds": some })).await?;
        reply.status(201)?.equals("/data/added", added)?.equals("/data/promptCount", count)?;
    }
    Ok(())
}

/// S-26.
async fn twice_in_one(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let (a, b) = (make::prompt(&case, &wire).await?, make::prompt(&case, &wire).await?);
    let body = json!({ "promptIds": [a, b, a, a] });
    let reply = wire.post(&format!("/vaults/{vault}/prompts"), body).await?;
    reply.status(201)?.equals("/data/added", 2)?.equals("/data/promptCount", 2)?;
    check::equal("the number of entries", &entries(&wire, vault).await?.len(), &2)
}

/// S-26.
async fn limit_as_sent(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let path = format!("/vaults/{}/prompts", make::vault(&case, &wire).await?);
    let prompt = make::prompt(&case, &wire).await?;
    let reply = wire.post(&path, json!({ "promptIds": vec![prompt; 51] })).await?;
    reply.refused("one id 51 times")?;
    let reply = wire.post(&path, json!({ "promptIds": vec![prompt; 50] })).await?;
    reply.accepted(201, "one id 50 times")?.equals("/data/added", 1)?;
    Ok(())
}
