//! Every vault call of the SDK beside what the wire shows.

use promptarium::{Vault, VaultId, Visibility};
use serde_json::{Value, json};

use super::{list, read, same_object};
use crate::scenario::core;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.sdk-create.fields" ["VA-16"] create,
        "The SDK creates a vault with the fields it was given" },
    core! { "vaults.sdk-create.name-only" ["VA-16"] create_from_name,
        "The SDK creates a vault from a name alone" },
    core! { "vaults.sdk-list.own" ["VA-13"] list_own,
        "The SDK lists what the wire lists" },
    core! { "vaults.sdk-get.fields" ["VA-21"] get,
        "The SDK reads a vault as the wire shows it" },
    core! { "vaults.sdk-update.fields" ["VA-23", "VA-24", "VA-25"] update,
        "The SDK sets, leaves and clears the fields of a vault" },
    core! { "vaults.sdk-delete.gone" ["VA-26", "VA-27"] delete,
        "The SDK deletes a vault" },
    core! { "vaults.sdk-fork.copies" ["VA-29"] [OtherAccount] fork,
        "The SDK forks a vault of another account" },
    core! { "vaults.sdk-create.refused" ["LI-06"] refused,
        "The SDK tells that a name beyond its limit is refused" },
    core! { "vaults.sdk-get.not-found" ["VA-27"] not_found,
        "The SDK tells that a deleted vault is not found" },
];

/// What the SDK gave is what the vault's address shows.
async fn same(case: &Case, vault: &Vault) -> Result<(), Failure> {
    let shown = read(&case.wire(), vault.id.get()).await?;
    same_object(&as_json(vault)?, shown.at("/data")?)?;
    check::equal("createdAt of the SDK", &vault.created_at, &shown.timestamp("/data/createdAt")?)?;
    check::equal("updatedAt of the SDK", &vault.updated_at, &shown.timestamp("/data/updatedAt")?)
}

fn as_json(vault: &Vault) -> Result<Value, Failure> {
    serde_json::to_value(vault)
        .map_err(|error| Failure::error("a vault of the SDK as JSON", error.to_string()))
}

async fn create(case: Case) -> Result<(), Failure> {
    let name = case.name("vault");
    let call = case.sdk()?.vaults().create(name.as_str());
    let vault = call.description("Boats").visibility(Visibility::Unlisted).await?;
    let shown = read(&case.wire(), vault.id.get()).await?;
    shown.equals("/data/name", name)?;
    shown.equals("/data/description", "Boats")?.equals("/data/visibility", "unlisted")?;
    same(&case, &vault).await
}

async fn create_from_name(case: Case) -> Result<(), Failure> {
    let vault = case.sdk()?.vaults().create(case.name("vault")).await?;
    same(&case, &vault).await
}

async fn list_own(case: Case) -> Result<(), Failure> {
    let fields = json!({ "description": "Boats", "visibility": "public" });
    let made = make::vault_with(&case, &case.wire(), fields).await?;
    let id = made.integer("/data/id")?;
    let vaults = case.sdk()?.vaults().list().await?;
    let found = vaults.iter().find(|vault| vault.id.get() == id);
    let found = found.ok_or_else(|| Failure::failed(format!("vault {id} in the list"), "none"))?;
    same_object(&as_json(found)?, &list(&case.wire()).await?.entry(id)?)
}

async fn get(case: Case) -> Result<(), Failure> {
    let fields = json!({ "description": "Boats", "visibility": "public" });
    let made = make::vault_with(&case, &case.wire(), fields).await?;
    let id = made.integer("/data/id")?;
    make::members(&case, &case.wire(), id, 2).await?;
    let vault = case.sdk()?.vaults().get(VaultId::new(id)).await?;
    same(&case, &vault).await
}

async fn update(case: Case) -> Result<(), Failure> {
    let fields = json!({ "description": "Boats", "visibility": "public" });
    let made = make::vault_with(&case, &case.wire(), fields).await?;
    let id = VaultId::new(made.integer("/data/id")?);
    let vaults = case.sdk()?.vaults();

    let name = case.name("renamed");
    let vault = vaults.update(id).name(name.as_str()).await?;
    let shown = read(&case.wire(), id.get()).await?;
    shown.equals("/data/name", name.as_str())?;
    shown.equals("/data/description", "Boats")?.equals("/data/visibility", "public")?;
    same(&case, &vault).await?;

    vaults.update(id).visibility(Visibility::Private).description("Cranes").await?;
    let shown = read(&case.wire(), id.get()).await?;
    shown.equals("/data/name", name)?;
    shown.equals("/data/description", "Cranes")?.equals("/data/visibility", "private")?;

    let vault = vaults.update(id).clear_description().await?;
    read(&case.wire(), id.get()).await?.equals("/data/description", Value::Null)?;
    same(&case, &vault).await
}

async fn delete(case: Case) -> Result<(), Failure> {
    let id = make::vault(&case, &case.wire()).await?;
    let deleted = case.sdk()?.vaults().delete(VaultId::new(id)).await?;
    check::equal("what the SDK says was deleted", &deleted.id.get(), &id)?;
    check::ensure(deleted.deleted, "deleted true of the SDK", "false")?;
    case.wire().get(&format!("/vaults/{id}")).await?.status(404)?;
    Ok(())
}

async fn fork(case: Case) -> Result<(), Failure> {
    let source = super::fork::source(&case, "public", 2).await?;
    let vault = case.sdk()?.vaults().fork(VaultId::new(source)).await?;
    check::ensure(vault.id.get() != source, "a vault of its own", "the source")?;
    same(&case, &vault).await
}

async fn refused(case: Case) -> Result<(), Failure> {
    match case.sdk()?.vaults().create("x".repeat(51)).await {
        Ok(_) => Err(Failure::failed("an error for a name of 51 characters", "a vault")),
        Err(error) => check::ensure(error.is_invalid(), "is_invalid", format!("{error:?}")),
    }
}

async fn not_found(case: Case) -> Result<(), Failure> {
    let id = make::vault(&case, &case.wire()).await?;
    case.wire().delete(&format!("/vaults/{id}")).await?.status(200)?;
    match case.sdk()?.vaults().get(VaultId::new(id)).await {
        Ok(_) => Err(Failure::failed("an error for a deleted vault", "a vault")),
        Err(error) => check::ensure(error.is_not_found(), "is_not_found", format!("{error:?}")),
    }
}
