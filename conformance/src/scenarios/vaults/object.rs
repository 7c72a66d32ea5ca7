//! The fields of a vault, one fact each, as the vault's own address shows
//! them. The slug has a file of its own, and so has the count of prompts.

use std::collections::BTreeSet;

use futures::future::join_all;
use serde_json::{Value, json};

use super::read;
use crate::scenario::{core, reference};
use crate::wire::Reply;
use crate::{Case, Failure, Scenario, check, make};

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
    let wire = case.wire();
    let made = join_all((0..8).map(|_| make::vault(&case, &wire))).await;
    let ids = made.into_iter().collect::<Result<Vec<_>, _>>()?;
    for id in &ids {
        read(&wire, *id).await?.equals("/data/id", *id)?;
    }
    let distinct: BTreeSet<_> = ids.iter().collect();
    check::equal("the number of distinct ids of 8 vaults", &distinct.len(), &ids.len())
}

async fn name(case: Case) -> Result<(), Failure> {
    let name = case.name("named");
    let vault = make::vault_with(&case, &case.wire(), json!({ "name": name })).await?;
    read(&case.wire(), vault.integer("/data/id")?).await?.equals("/data/name", name)?;
    Ok(())
}

async fn description(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    // A text stays a text, whatever it looks like.
    let texts = ["Boats, cranes, gulls", "7", "1e3", "true", "null", "{}"].map(Value::from);
    for description in texts.into_iter().chain([Value::Null]) {
        let made = make::vault_with(&case, &wire, json!({ "description": description })).await?;
        let vault = read(&wire, made.integer("/data/id")?).await?;
        vault.equals("/data/description", description)?;
    }
    Ok(())
}

async fn visibility(case: Case) -> Result<(), Failure> {
    let vault = new_vault(&case).await?;
    let visibility = vault.string("/data/visibility")?;
    vault.ensure(
        ["private", "unlisted", "public"].contains(&visibility),
        "/data/visibility to be private, unlisted or public",
        visibility,
    )?;
    Ok(())
}

async fn access_type(case: Case) -> Result<(), Failure> {
    string_or_null(&new_vault(&case).await?, "/data/accessType")
}

async fn cover_image(case: Case) -> Result<(), Failure> {
    string_or_null(&new_vault(&case).await?, "/data/coverImageUrl")
}

async fn is_locked(case: Case) -> Result<(), Failure> {
    new_vault(&case).await?.boolean("/data/isLocked")?;
    Ok(())
}

async fn is_system(case: Case) -> Result<(), Failure> {
    new_vault(&case).await?.equals("/data/isSystem", false)?;
    Ok(())
}

async fn timestamps(case: Case) -> Result<(), Failure> {
    let vault = new_vault(&case).await?;
    vault.timestamp("/data/createdAt")?;
    vault.timestamp("/data/updatedAt")?;
    Ok(())
}

/// S-13, S-14 and S-15.
async fn plain(case: Case) -> Result<(), Failure> {
    let vault = new_vault(&case).await?;
    vault.equals("/data/accessType", Value::Null)?;
    vault.equals("/data/isLocked", false)?;
    vault.equals("/data/coverImageUrl", Value::Null)?;
    Ok(())
}

async fn no_description(case: Case) -> Result<(), Failure> {
    new_vault(&case).await?.equals("/data/description", Value::Null)?;
    Ok(())
}

async fn new_vault(case: &Case) -> Result<Reply, Failure> {
    let wire = case.wire();
    let vault = make::vault(case, &wire).await?;
    read(&wire, vault).await
}

fn string_or_null(vault: &Reply, place: &str) -> Result<(), Failure> {
    let value = vault.at(place)?;
    let fits = value.is_string() || value.is_null();
    vault.ensure(fits, format!("a string or null at {place}"), value)?;
    Ok(())
}
