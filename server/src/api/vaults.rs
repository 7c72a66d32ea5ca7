//! `/vaults`. Their prompts are in `memberships`.

use http::StatusCode;
use promptarium::{VaultId, limits};

use super::view::{Deleted, VaultView};
use super::{Api, HandlerResult, Request};
use crate::domain::{Caller, NewVault, VaultPatch, VaultRecord, VaultVisibility};
use crate::http::response;
use crate::http::validate::{json_fields, one_of, text};

pub(crate) const FIELDS: &[&str] = &["name", "description", "visibility"];

pub(crate) const VISIBILITIES: &[(&str, VaultVisibility)] = &[
    ("private", VaultVisibility::Private),
    ("unlisted", VaultVisibility::Unlisted),
    ("public", VaultVisibility::Public),
];

/// `GET /vaults` (VA-13 to VA-15).
pub(crate) async fn list(api: &Api, caller: &Caller, _: Request<'_>) -> HandlerResult {
    let vaults = api.store.vaults(caller).await?;
    let views: Vec<_> = vaults.iter().map(VaultView::new).collect();
    Ok(response::data(StatusCode::OK, &views)?)
}

/// `POST /vaults` (VA-16 to VA-20).
pub(crate) async fn create(api: &Api, caller: &Caller, mut request: Request<'_>) -> HandlerResult {
    let body = request.json().await?;
    let mut form = json_fields(&body, FIELDS)?;
    let name = form.required("name", text(limits::VAULT_NAME_CHARS));
    let description =
        form.nullable("description", text(0..=limits::VAULT_DESCRIPTION_CHARS_MAX)).flatten();
    let visibility = form.optional("visibility", one_of(VISIBILITIES)).unwrap_or_default();
    let name = form.finish_with(name)?;

    let vault = api.store.create_vault(caller, NewVault { name, description, visibility });
    vault_response(StatusCode::CREATED, &vault.await?)
}

/// `GET /vaults/{vaultId}` (VA-21).
pub(crate) async fn get(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let vault = api.store.vault(caller, request.id(0)?).await?;
    vault_response(StatusCode::OK, &vault)
}

/// `PATCH /vaults/{vaultId}` (VA-22 to VA-25).
pub(crate) async fn update(api: &Api, caller: &Caller, mut request: Request<'_>) -> HandlerResult {
    let body = request.json().await?;
    let mut form = json_fields(&body, FIELDS)?;
    let patch = VaultPatch {
        name: form.optional("name", text(limits::VAULT_NAME_CHARS)),
        description: form.nullable("description", text(0..=limits::VAULT_DESCRIPTION_CHARS_MAX)),
        visibility: form.optional("visibility", one_of(VISIBILITIES)),
    };
    form.finish()?;

    let vault = api.store.update_vault(caller, request.id(0)?, patch).await?;
    vault_response(StatusCode::OK, &vault)
}

/// `DELETE /vaults/{vaultId}` (VA-26 to VA-28).
pub(crate) async fn delete(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let id: VaultId = request.id(0)?;
    api.store.delete_vault(caller, id).await?;
    Ok(response::data(StatusCode::OK, &Deleted { id, deleted: true })?)
}

/// `POST /vaults/{vaultId}/fork` (VA-29 to VA-34).
pub(crate) async fn fork(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let vault = api.store.fork_vault(caller, request.id(0)?).await?;
    vault_response(StatusCode::CREATED, &vault)
}

fn vault_response(status: StatusCode, vault: &VaultRecord) -> HandlerResult {
    Ok(response::data(status, &VaultView::new(vault))?)
}
