//! `/vaults` and single vaults; what they hold is in `contents`.

use http::StatusCode;
use promptarium::limits;

use super::view::{self, Deleted, VaultView, VaultsView};
use super::{Api, Call};
use crate::domain::{NewVault, VaultPatch, VaultRecord, VaultVisibility};
use crate::http::error::ApiError;
use crate::http::response::{self, Reply};
use crate::http::validate::{fields_of, text, word};

/// The body fields of create and update.
pub const FIELDS: &[&str] = &["name", "description", "visibility"];

/// Who may see a vault.
pub const VISIBILITIES: &[(&str, VaultVisibility)] = &[
    ("private", VaultVisibility::Private),
    ("unlisted", VaultVisibility::Unlisted),
    ("public", VaultVisibility::Public),
];

/// `GET /vaults` (VA-13 to VA-15).
pub async fn list(api: &Api, call: Call<'_>) -> Result<Reply, ApiError> {
    let vaults = api.store.vaults(&call.caller).await?;
    let size = vaults.iter().map(view::vault_bytes).sum();
    Ok(response::data(StatusCode::OK, &VaultsView(&vaults), size)?)
}

/// `POST /vaults` (VA-16 to VA-20).
pub async fn create(api: &Api, mut call: Call<'_>) -> Result<Reply, ApiError> {
    let body = call.json().await?;
    let mut form = fields_of(&body, FIELDS)?;
    let name = form.required("name", text(limits::VAULT_NAME_CHARS));
    let description =
        form.nullable("description", text(0..=limits::VAULT_DESCRIPTION_CHARS_MAX)).flatten();
    let visibility = form.optional("visibility", word(VISIBILITIES)).unwrap_or_default();
    let Some(name) = name else {
        return Err(form.refusals().into());
    };
    form.finish()?;

    let vault = api.store.create_vault(&call.caller, NewVault { name, description, visibility });
    whole(StatusCode::CREATED, &vault.await?)
}

/// `GET /vaults/{vaultId}` (VA-21).
pub async fn get(api: &Api, call: Call<'_>) -> Result<Reply, ApiError> {
    let vault = api.store.vault(&call.caller, call.vault()?).await?;
    whole(StatusCode::OK, &vault)
}

/// `PATCH /vaults/{vaultId}` (VA-22 to VA-25).
pub async fn update(api: &Api, mut call: Call<'_>) -> Result<Reply, ApiError> {
    let body = call.json().await?;
    let mut form = fields_of(&body, FIELDS)?;
    let patch = VaultPatch {
        name: form.optional("name", text(limits::VAULT_NAME_CHARS)),
        description: form.nullable("description", text(0..=limits::VAULT_DESCRIPTION_CHARS_MAX)),
        visibility: form.optional("visibility", word(VISIBILITIES)),
    };
    form.finish()?;

    let vault = api.store.update_vault(&call.caller, call.vault()?, patch).await?;
    whole(StatusCode::OK, &vault)
}

/// `DELETE /vaults/{vaultId}` (VA-26 to VA-28).
pub async fn delete(api: &Api, call: Call<'_>) -> Result<Reply, ApiError> {
    let id = call.vault()?;
    api.store.delete_vault(&call.caller, id).await?;
    Ok(response::data(StatusCode::OK, &Deleted::of(id), view::SMALL_BYTES)?)
}

/// `POST /vaults/{vaultId}/fork` (VA-29 to VA-34).
pub async fn fork(api: &Api, call: Call<'_>) -> Result<Reply, ApiError> {
    let vault = api.store.fork_vault(&call.caller, call.vault()?).await?;
    whole(StatusCode::CREATED, &vault)
}

fn whole(status: StatusCode, vault: &VaultRecord) -> Result<Reply, ApiError> {
    Ok(response::data(status, &VaultView::of(vault), view::vault_bytes(vault))?)
}
