//! The fields of a vault, one fact each, as the vault's own address shows
//! them. The slug has a file of its own, and so has the count of prompts.

use std::collections::BTreeSet;

use futures::future::try_join_all;
use serde_json::{Value, json};

use super::list;
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.object.id" ["VA-01"] id,
        "Every vault has an integer id of its own" },
    core! { "vaults.object.name" ["VA-02"] name,
        "A vault shows its name" },
    core! { "vaults.object.description" ["VA-03"] description,
        "A vault shows its description, a string or null" },
    core! { "vaults.object.visibility" ["VA-05"]
        |case| shows(case, "visibility", "private, unlisted or public", is_visibility),
        "A vault's visibility is private, unlisted or public" },
    core! { "vaults.object.access-type" ["VA-06"]
        |case| shows(case, "accessType", "a string or null", is_string_or_null),
        "A vault's accessType is a string or null" },
    core! { "vaults.object.is-locked" ["VA-07"]
        |case| shows(case, "isLocked", "a boolean", Value::is_boolean),
        "A vault's isLocked is a boolean" },
    core! { "vaults.object.cover-image" ["VA-08"]
        |case| shows(case, "coverImageUrl", "a string or null", is_string_or_null),
        "A vault's coverImageUrl is a string or null" },
    core! { "vaults.object.is-system" ["VA-09"]
        |case| shows(case, "isSystem", "false", |value| *value == false),
        "A vault that the caller made is no system vault" },
    core! { "vaults.object.timestamps" ["VA-11"] timestamps,
        "A vault's createdAt and updatedAt are timestamps" },
    reference! { "vaults.object.plain" ["VA-06", "VA-07", "VA-08"] plain,
        "A vault has no access type, no lock and no cover image" },
    reference! { "vaults.object.no-description" ["VA-03"]
        |case| shows(case, "description", "null", Value::is_null),
        "A vault made without a description shows null" },
];

/// A new vault shows a value that fits in this field, in every answer.
async fn shows(
    case: Case,
    field: &str,
    what: &str,
    fits: impl Fn(&Value) -> bool,
) -> Result<(), Failure> {
    let (vault, created) = case.vault_with(json!({})).await?;
    let updated = vault.update(json!({ "visibility": "private" })).await?;
    for reply in [created, vault.read().await?, updated] {
        let value = reply.at(&format!("/data/{field}"))?;
        reply.ensure(fits(value), format!("{field} to be {what}"), value)?;
    }
    let listed = list(&case).await?;
    let entry = listed.entry(vault.id)?;
    let holds = entry.get(field).is_some_and(fits);
    listed.ensure(holds, format!("{field} to be {what}"), entry).map(drop)
}

fn is_string_or_null(value: &Value) -> bool {
    value.is_string() || value.is_null()
}

fn is_visibility(value: &Value) -> bool {
    ["private", "unlisted", "public"].iter().any(|it| value == it)
}

async fn id(case: Case) -> Result<(), Failure> {
    let vaults = try_join_all((0..8).map(|_| case.vault())).await?;
    let mut distinct = BTreeSet::new();
    for vault in &vaults {
        vault.read().await?.equals("/data/id", vault.id)?;
        distinct.insert(vault.id);
    }
    check::equal("the number of distinct ids of 8 vaults", &distinct.len(), &8)
}

async fn name(case: Case) -> Result<(), Failure> {
    let name = case.name("named");
    let (vault, _) = case.vault_with(json!({ "name": name })).await?;
    vault.read().await?.equals("/data/name", name).map(drop)
}

async fn description(case: Case) -> Result<(), Failure> {
    // A text stays a text, whatever it looks like.
    let texts = ["Boats, cranes, gulls", "7", "1e3", "true", "null", "{}"].map(Value::from);
    for description in texts.into_iter().chain([Value::Null]) {
        let (vault, _) = case.vault_with(json!({ "description": description })).await?;
        vault.read().await?.equals("/data/description", description)?;
    }
    Ok(())
}

async fn timestamps(case: Case) -> Result<(), Failure> {
    let vault = case.vault().await?.read().await?;
    vault.timestamp("/data/createdAt")?;
    vault.timestamp("/data/updatedAt").map(drop)
}

/// S-13, S-14 and S-15.
async fn plain(case: Case) -> Result<(), Failure> {
    let vault = case.vault().await?.read().await?;
    vault.equals("/data/accessType", Value::Null)?;
    vault.equals("/data/isLocked", false)?;
    vault.equals("/data/coverImageUrl", Value::Null).map(drop)
}
