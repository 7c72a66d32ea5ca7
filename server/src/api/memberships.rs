//! `/vaults/{vaultId}/prompts`: the prompts of a vault and their memberships.

use http::StatusCode;
use promptarium::limits;

use super::view::{self, Added, ListedPromptView, Moved, Pinned, Removed};
use super::{Api, AuthedRequest};
use crate::http::error::ApiError;
use crate::http::response::{self, Response};
use crate::http::validate::{id, id_from_1, json_fields, list as list_of};

/// The body field of add.
pub(crate) const ADD_FIELDS: &[&str] = &["promptIds"];

/// The body field of move.
pub(crate) const MOVE_FIELDS: &[&str] = &["targetVaultId"];

/// `GET /vaults/{vaultId}/prompts` (VC-04 to VC-09).
pub(crate) async fn list(api: &Api, request: AuthedRequest<'_>) -> Result<Response, ApiError> {
    let contents = api.store.contents(&request.caller, request.vault()?).await?;
    response::listing(contents, |prompt, json| {
        serde_json::to_writer(json, &ListedPromptView::new(prompt))
    })
    .await
}

/// `POST /vaults/{vaultId}/prompts` (VC-10 to VC-14).
pub(crate) async fn add(api: &Api, mut request: AuthedRequest<'_>) -> Result<Response, ApiError> {
    let body = request.json().await?;
    let mut form = json_fields(&body, ADD_FIELDS)?;
    let prompts = form.required("promptIds", list_of(limits::ADDED_PROMPTS, id));
    let Some(prompts) = prompts else {
        return Err(form.errors().into());
    };

    let vault_id = request.vault()?;
    let added = api.store.add_prompts(&request.caller, vault_id, &prompts).await?;
    let added = Added { added: added.added, vault_id, prompt_count: added.prompt_count };
    Ok(response::data(StatusCode::CREATED, &added, view::SMALL_BYTES)?)
}

/// `DELETE /vaults/{vaultId}/prompts/{vaultPromptId}` (VC-15, VC-16).
pub(crate) async fn remove(api: &Api, request: AuthedRequest<'_>) -> Result<Response, ApiError> {
    let (vault, vault_prompt_id) = request.membership()?;
    api.store.remove_membership(&request.caller, vault, vault_prompt_id).await?;
    let removed = Removed { vault_prompt_id, removed: true };
    Ok(response::data(StatusCode::OK, &removed, view::SMALL_BYTES)?)
}

/// `POST …/move` (VC-17 to VC-24).
pub(crate) async fn move_to(
    api: &Api,
    mut request: AuthedRequest<'_>,
) -> Result<Response, ApiError> {
    let body = request.json().await?;
    let mut form = json_fields(&body, MOVE_FIELDS)?;
    let target = form.required("targetVaultId", id_from_1);
    let Some(target_vault_id) = target else {
        return Err(form.errors().into());
    };

    let (source_vault_id, membership) = request.membership()?;
    let moved = api
        .store
        .move_membership(&request.caller, source_vault_id, membership, target_vault_id)
        .await?;
    let moved = Moved {
        prompt_id: moved.prompt,
        source_vault_id,
        target_vault_id,
        vault_prompt_id: moved.membership,
    };
    Ok(response::data(StatusCode::OK, &moved, view::SMALL_BYTES)?)
}

/// `POST …/pin` (VC-25, VC-27, VC-29).
pub(crate) async fn pin(api: &Api, request: AuthedRequest<'_>) -> Result<Response, ApiError> {
    set_pinned(api, request, true).await
}

/// `DELETE …/pin` (VC-26, VC-28, VC-30).
pub(crate) async fn unpin(api: &Api, request: AuthedRequest<'_>) -> Result<Response, ApiError> {
    set_pinned(api, request, false).await
}

async fn set_pinned(
    api: &Api,
    request: AuthedRequest<'_>,
    is_pinned: bool,
) -> Result<Response, ApiError> {
    let (vault, vault_prompt_id) = request.membership()?;
    api.store.set_pinned(&request.caller, vault, vault_prompt_id, is_pinned).await?;
    Ok(response::data(StatusCode::OK, &Pinned { vault_prompt_id, is_pinned }, view::SMALL_BYTES)?)
}
