//! The fields of a vault, one fact each, as the vault's own address shows
//! them. The slug has a file of its own, and so has the count of prompts.

use std::collections::BTreeSet;

use futures::future::try_join_all;
use serde_json::{Value, json};

use crate::scenario::{core, reference};
use crate::wire::Reply;
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.object.id" ["VA-01"] id,
        "Every vault has an integer id of its own" },
    core! { "vaults.object.name" ["VA-02"] name,
        "A vault shows its name" },
    core! { "vaults.object.description" ["VA-03"] description,
        "A vault shows its description, a string or null" },
    core! { "vaults.object.visibility" ["VA-05"] visibility,
        "A vault's visibility is private, unlisted or public" },
    core! { "vaults.object.access-type" ["VA-06"] access_type,
        "A vault's accessType is a string or null" },
    core! { "vaults.object.is-locked" ["VA-07"] is_locked,
        "A vault's isLocked is a boolean" },
    core! { "vaults.object.cover-image" ["VA-08"] cover_image,
        "A vault's coverImageUrl is a string or null" },
    core! { "vaults.object.is-system" ["VA-09"] is_system,
        "A vault that the caller made is no system vault" },
    core! { "vaults.object.timestamps" ["VA-11"] timestamps,
        "A vault's createdAt and updatedAt are timestamps" },
    reference! { "vaults.object.plain" ["VA-06", "VA-07", "VA-08"] plain,
        "A vault has no access type, no lock and no cover image" },
    reference! { "vaults.object.no-description" ["VA-03"] no_description,
        "A vault made without a description shows null" },
];

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

async fn visibility(case: Case) -> Result<(), Failure> {
    let vault = new_vault(&case).await?;
    let visibility = vault.string("/data/visibility")?;
    let known = ["private", "unlisted", "public"].contains(&visibility);
    vault.ensure(known, "a visibility of private, unlisted or public", visibility).map(drop)
}

async fn access_type(case: Case) -> Result<(), Failure> {
    string_or_null(&new_vault(&case).await?, "/data/accessType")
}

async fn cover_image(case: Case) -> Result<(), Failure> {
    string_or_null(&new_vault(&case).await?, "/data/coverImageUrl")
}

async fn is_locked(case: Case) -> Result<(), Failure> {
    new_vault(&case).await?.boolean("/data/isLocked").map(drop)
}

async fn is_system(case: Case) -> Result<(), Failure> {
    new_vault(&case).await?.equals("/data/isSystem", false).map(drop)
}

async fn timestamps(case: Case) -> Result<(), Failure> {
    let vault = new_vault(&case).await?;
    vault.timestamp("/data/createdAt")?;
    vault.timestamp("/data/updatedAt").map(drop)
}

/// S-13, S-14 and S-15.
async fn plain(case: Case) -> Result<(), Failure> {
    let vault = new_vault(&case).await?;
    vault.equals("/data/accessType", Value::Null)?;
    vault.equals("/data/isLocked", false)?;
    vault.equals("/data/coverImageUrl", Value::Null).map(drop)
}

async fn no_description(case: Case) -> Result<(), Failure> {
    new_vault(&case).await?.equals("/data/description", Value::Null).map(drop)
}

async fn new_vault(case: &Case) -> Result<Reply, Failure> {
    case.vault().await?.read().await
}

fn string_or_null(vault: &Reply, place: &str) -> Result<(), Failure> {
    let value = vault.at(place)?;
    let fits = value.is_string() || value.is_null();
    vault.ensure(fits, format!("a string or null at {place}"), value).map(drop)
}
