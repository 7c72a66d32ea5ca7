//! `/vaults`, and the prompts in them.

use futures::{StreamExt, TryStreamExt};
use http::{Method, StatusCode};
use promptarium::{VaultId, limits};
use serde_json::json;

use super::view::View;
use super::{Api, HandlerResult, Request};
use crate::domain::{Caller, Membership, NewVault, VaultPatch, VaultVisibility};
use crate::http::error::ApiError;
use crate::http::response;
use crate::http::validate::{Form, id, id_from_1, list as list_of, one_of, text};
use crate::limits::RESPONSE_BYTES_UNCOUNTED;

pub(crate) const FIELDS: &[&str] = &["name", "description", "visibility"];
pub(crate) const ADD_FIELDS: &[&str] = &["promptIds"];
pub(crate) const MOVE_FIELDS: &[&str] = &["targetVaultId"];

/// `GET /vaults` (VA-13 to VA-15).
pub(crate) async fn list(api: &Api, caller: &Caller, _: Request<'_>) -> HandlerResult {
    let vaults = api.store.vaults(caller).await?;
    let vaults: Vec<_> = vaults.into_iter().map(|vault| api.view(vault)).collect();
    Ok(response::record(StatusCode::OK, vaults.as_slice()))
}

/// `POST /vaults` (VA-16 to VA-20).
pub(crate) async fn create(api: &Api, caller: &Caller, mut request: Request<'_>) -> HandlerResult {
    let new = request.json(FIELDS, new_vault).await?;
    let vault = api.store.create_vault(caller, new).await?;
    Ok(response::record(StatusCode::CREATED, &api.view(vault)))
}

pub(crate) fn new_vault(form: &mut Form<'_>) -> Option<NewVault> {
    form.require("name");
    let VaultPatch { name, description, visibility, .. } = patch(form);
    let (description, visibility) = (description.flatten(), visibility.unwrap_or_default());
    Some(NewVault { name: name?, description, visibility })
}

/// `GET /vaults/{vaultId}` (VA-21).
pub(crate) async fn get(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let vault = api.store.vault(caller, request.id(0)?).await?;
    Ok(response::record(StatusCode::OK, &api.view(vault)))
}

/// `PATCH /vaults/{vaultId}` (VA-22 to VA-25).
pub(crate) async fn update(api: &Api, caller: &Caller, mut request: Request<'_>) -> HandlerResult {
    let patch = request.json(FIELDS, |form| Some(patch(form))).await?;
    let vault = api.store.update_vault(caller, request.id(0)?, patch).await?;
    Ok(response::record(StatusCode::OK, &api.view(vault)))
}

/// The fields of create and update.
fn patch(form: &mut Form<'_>) -> VaultPatch {
    VaultPatch {
        name: form.optional("name", text(limits::VAULT_NAME_CHARS)),
        description: form.nullable("description", text(0..=limits::VAULT_DESCRIPTION_CHARS_MAX)),
        visibility: form.optional("visibility", one_of(VaultVisibility::ALL)),
        cover_image: None,
    }
}

/// `DELETE /vaults/{vaultId}` (VA-26 to VA-28).
pub(crate) async fn delete(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let id: VaultId = request.id(0)?;
    api.store.delete_vault(caller, id).await?;
    Ok(response::data(StatusCode::OK, &json!({ "id": id, "deleted": true })))
}

/// `POST /vaults/{vaultId}/fork` (VA-29 to VA-34).
pub(crate) async fn fork(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let vault = api.store.fork_vault(caller, request.id(0)?).await?;
    Ok(response::record(StatusCode::CREATED, &api.view(vault)))
}

/// `GET /vaults/{vaultId}/prompts` (VC-04 to VC-09).
pub(crate) async fn contents(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let contents = api.store.contents(caller, request.id(0)?).await?;
    let reservation = match contents.bytes {
        ..=RESPONSE_BYTES_UNCOUNTED => None,
        bytes => Some(request.memory.reserve(bytes)?),
    };
    let assets = api.assets.clone();
    let views = contents.entries.map_ok(move |listed| View(listed, assets.clone()));
    response::listing(views.boxed(), reservation).await
}

/// `POST /vaults/{vaultId}/prompts` (VC-10 to VC-14).
pub(crate) async fn add(api: &Api, caller: &Caller, mut request: Request<'_>) -> HandlerResult {
    let ids = list_of(limits::ADDED_PROMPTS, id);
    let prompts = request.json(ADD_FIELDS, |form| form.required("promptIds", ids)).await?;
    let vault_id: VaultId = request.id(0)?;
    let (added, count) = api.store.add_prompts(caller, vault_id, &prompts).await?;
    let view = json!({ "added": added, "vaultId": vault_id, "promptCount": count });
    Ok(response::data(StatusCode::CREATED, &view))
}

/// `DELETE /vaults/{vaultId}/prompts/{vaultPromptId}` (VC-15, VC-16).
pub(crate) async fn remove(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let at = membership(&request)?;
    api.store.remove_membership(caller, at).await?;
    Ok(response::data(StatusCode::OK, &json!({ "vaultPromptId": at.id, "removed": true })))
}

/// `POST …/move` (VC-17 to VC-24).
pub(crate) async fn move_prompt(
    api: &Api,
    caller: &Caller,
    mut request: Request<'_>,
) -> HandlerResult {
    let target = request.json(MOVE_FIELDS, |form| form.required("targetVaultId", id_from_1));
    let (target, at) = (target.await?, membership(&request)?);
    let moved = api.store.move_membership(caller, at, target).await?;
    let view = json!({
        "promptId": moved.prompt,
        "sourceVaultId": at.vault,
        "targetVaultId": target,
        "vaultPromptId": moved.membership,
    });
    Ok(response::data(StatusCode::OK, &view))
}

/// `POST …/pin` and `DELETE …/pin` (VC-25 to VC-30).
pub(crate) async fn set_pinned(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let is_pinned = request.parts.method == Method::POST;
    let at = membership(&request)?;
    api.store.set_pinned(caller, at, is_pinned).await?;
    let view = json!({ "vaultPromptId": at.id, "isPinned": is_pinned });
    Ok(response::data(StatusCode::OK, &view))
}

fn membership(request: &Request<'_>) -> Result<Membership, ApiError> {
    Ok(Membership { vault: request.id(0)?, id: request.id(1)? })
}
