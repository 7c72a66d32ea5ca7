//! The form of ids and of timestamps, wherever they occur.

use serde_json::Value;

use crate::scenario::{core, reference};
use crate::scenarios::endpoints::successes;
use crate::wire::{Reply, Wire};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "envelope.ids.integers" ["EN-08"] ids,
        "The ids of prompts, vaults and memberships are JSON integers" },
    core! { "envelope.timestamps.iso" ["EN-09"] timestamps,
        "Every timestamp is a string in ISO 8601 form" },
    reference! { "envelope.timestamps.form" ["EN-09"] timestamp_form,
        "Timestamps are in UTC with six fractional digits and Z (S-63)" },
    reference! { "envelope.ids.ascending" ["EN-08"] ascending,
        "Ids are positive and ascend in the order of creation (S-64)" },
    reference! { "envelope.ids.across-accounts"
        ["EN-08", "PR-01", "VA-01"] [OtherAccount] across_accounts,
        "Ids ascend across the accounts of a server (S-64)" },
    reference! { "envelope.ids.never-again" ["EN-08", "PR-01", "VA-01"] never_again,
        "The id of what was deleted is not given out again (S-64)" },
];

const ID: &[&str] =
    &["id", "promptId", "vaultId", "sourceVaultId", "targetVaultId", "vaultPromptId"];
const TIMESTAMP: &[&str] = &["createdAt", "updatedAt"];

async fn ids(case: Case) -> Result<(), Failure> {
    for (_, reply) in successes(&case, &case.wire()).await? {
        let data = reply.at("/data")?;
        for id in found(data, ID) {
            reply.ensure(id.is_i64() || id.is_u64(), "an integer as an id", id)?;
        }
        for ids in found(data, &["vaultIds"]) {
            let integers = |ids: &Vec<Value>| ids.iter().all(|id| id.is_i64() || id.is_u64());
            reply.ensure(
                ids.as_array().is_some_and(integers),
                "an array of integers in vaultIds",
                ids,
            )?;
        }
    }
    Ok(())
}

async fn timestamps(case: Case) -> Result<(), Failure> {
    each_timestamp(&case, "a string in ISO 8601 form", |text| check::timestamp(text).is_some())
        .await
}

async fn timestamp_form(case: Case) -> Result<(), Failure> {
    each_timestamp(&case, "the form 2025-03-01T09:30:00.000000Z", |text| {
        let form = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c });
        form.eq("0000-00-00T00:00:00.000000Z".chars())
    })
    .await
}

async fn each_timestamp(
    case: &Case,
    expected: &str,
    holds: fn(&str) -> bool,
) -> Result<(), Failure> {
    let mut seen = 0;
    for (_, reply) in successes(case, &case.wire()).await? {
        for value in found(reply.at("/data")?, TIMESTAMP) {
            reply.ensure(value.as_str().is_some_and(holds), expected, value)?;
            seen += 1;
        }
    }
    check::ensure(seen > 0, "a timestamp in any success", "none")
}

/// The values under any of these keys in the API's own objects. What a server puts
/// into further members is its own affair (S-68).
fn found<'v>(value: &'v Value, keys: &[&str]) -> Vec<&'v Value> {
    match value {
        Value::Array(entries) => entries.iter().flat_map(|entry| found(entry, keys)).collect(),
        Value::Object(fields) => {
            let own = keys.iter().filter_map(|key| fields.get(*key));
            let images = fields.get("images").into_iter();
            own.chain(images.flat_map(|images| found(images, keys))).collect()
        }
        _ => Vec::new(),
    }
}

async fn ascending(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let members = make::members(&case, &wire, vault, 3).await?;
    let prompts = members.iter().map(|member| member.prompt);
    rising("prompts", &prompts.collect::<Vec<_>>())?;
    let memberships = members.iter().map(|member| member.membership);
    rising("memberships", &memberships.collect::<Vec<_>>())?;
    let next = make::vault(&case, &wire).await?;
    rising("vaults", &[vault, next])
}

fn rising(what: &str, ids: &[i64]) -> Result<(), Failure> {
    let positive = ids.iter().all(|id| *id > 0);
    check::ensure(
        positive && ids.is_sorted_by(|a, b| a < b),
        &format!("positive ids of {what} that ascend"),
        format!("{ids:?}"),
    )
}

async fn across_accounts(case: Case) -> Result<(), Failure> {
    let (mut prompts, mut vaults) = (Vec::new(), Vec::new());
    for wire in [case.wire(), case.other(), case.wire()] {
        prompts.push(make::prompt(&case, &wire).await?);
        vaults.push(make::vault(&case, &wire).await?);
    }
    rising("prompts", &prompts)?;
    rising("vaults", &vaults)
}

async fn never_again(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let prompt = make::prompt(&case, &wire).await?;
    let vault = make::vault(&case, &wire).await?;
    gone(&wire, &format!("/prompts/{prompt}")).await?;
    gone(&wire, &format!("/vaults/{vault}")).await?;
    let (later_prompt, later_vault) =
        (make::prompt(&case, &wire).await?, make::vault(&case, &wire).await?);
    rising("prompts", &[prompt, later_prompt])?;
    rising("vaults", &[vault, later_vault])
}

async fn gone(wire: &Wire, path: &str) -> Result<Reply, Failure> {
    let reply = wire.delete(path).await?;
    reply.status(200)?;
    Ok(reply)
}
