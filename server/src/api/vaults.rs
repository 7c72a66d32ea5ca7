//! `/vaults`. Their prompts are in `memberships`.

use http::StatusCode;
use promptarium::limits;

use super::view::{self, Deleted, VaultView, VaultsView};
use super::{Api, AuthedRequest};
use crate::domain::{NewVault, VaultPatch, VaultRecord, VaultVisibility};
use crate::http::error::ApiError;
use crate::http::response::{self, Response};
use crate::http::validate::{json_fields, one_of, text};

/// The body fields of create and update.
pub(crate) const FIELDS: &[&str] = &["name", "description", "visibility"];

/// The values of `visibility`.
pub(crate) const VISIBILITIES: &[(&str, VaultVisibility)] = &[
    ("private", VaultVisibility::Private),
    ("unlisted", VaultVisibility::Unlisted),
    ("public", VaultVisibility::Public),
];

/// `GET /vaults` (VA-13 to VA-15).
pub(crate) async fn list(api: &Api, request: AuthedRequest<'_>) -> Result<Response, ApiError> {
    let vaults = api.store.vaults(&request.caller).await?;
    let size = vaults.iter().map(view::vault_bytes).sum();
    Ok(response::data(StatusCode::OK, &VaultsView(&vaults), size)?)
}

/// `POST /vaults` (VA-16 to VA-20).
pub(crate) async fn create(
    api: &Api,
    mut request: AuthedRequest<'_>,
) -> Result<Response, ApiError> {
    let body = request.json().await?;
    let mut form = json_fields(&body, FIELDS)?;
    let name = form.required("name", text(limits::VAULT_NAME_CHARS));
    let description =
        form.nullable("description", text(0..=limits::VAULT_DESCRIPTION_CHARS_MAX)).flatten();
    let visibility = form.optional("visibility", one_of(VISIBILITIES)).unwrap_or_default();
    let Some(name) = name else {
        return Err(form.errors().into());
    };
    form.finish()?;

    let vault = api.store.create_vault(&request.caller, NewVault { name, description, visibility });
    vault_response(StatusCode::CREATED, &vault.await?)
}

/// `GET /vaults/{vaultId}` (VA-21).
pub(crate) async fn get(api: &Api, request: AuthedRequest<'_>) -> Result<Response, ApiError> {
    let vault = api.store.vault(&request.caller, request.vault()?).await?;
    vault_response(StatusCode::OK, &vault)
}

/// `PATCH /vaults/{vaultId}` (VA-22 to VA-25).
pub(crate) async fn update(
    api: &Api,
    mut request: AuthedRequest<'_>,
) -> Result<Response, ApiError> {
    let body = request.json().await?;
    let mut form = json_fields(&body, FIELDS)?;
    let patch = VaultPatch {
        name: form.optional("name", text(limits::VAULT_NAME_CHARS)),
        description: form.nullable("description", text(0..=limits::VAULT_DESCRIPTION_CHARS_MAX)),
        visibility: form.optional("visibility", one_of(VISIBILITIES)),
    };
    form.finish()?;

    let vault = api.store.update_vault(&request.caller, request.vault()?, patch).await?;
    vault_response(StatusCode::OK, &vault)
}

/// `DELETE /vaults/{vaultId}` (VA-26 to VA-28).
pub(crate) async fn delete(api: &Api, request: AuthedRequest<'_>) -> Result<Response, ApiError> {
    let id = request.vault()?;
    api.store.delete_vault(&request.caller, id).await?;
    Ok(response::data(StatusCode::OK, &Deleted::new(id), view::SMALL_BYTES)?)
}

/// `POST /vaults/{vaultId}/fork` (VA-29 to VA-34).
pub(crate) async fn fork(api: &Api, request: AuthedRequest<'_>) -> Result<Response, ApiError> {
    let vault = api.store.fork_vault(&request.caller, request.vault()?).await?;
    vault_response(StatusCode::CREATED, &vault)
}

fn vault_response(status: StatusCode, vault: &VaultRecord) -> Result<Response, ApiError> {
    Ok(response::data(status, &VaultView::new(vault), view::vault_bytes(vault))?)
}
