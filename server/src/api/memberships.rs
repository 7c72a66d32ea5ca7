//! `/vaults/{vaultId}/prompts`: the prompts of a vault and their memberships.

use http::StatusCode;
use promptarium::{PromptId, VaultId, VaultPromptId, limits};
use serde::Serialize;

use super::view::ListedPromptView;
use super::{Api, HandlerResult, Request};
use crate::domain::Caller;
use crate::http::response;
use crate::http::validate::{id, id_from_1, json_fields, list as list_of};

pub(crate) const ADD_FIELDS: &[&str] = &["promptIds"];
pub(crate) const MOVE_FIELDS: &[&str] = &["targetVaultId"];

/// The response to adding (VC-11). `added` counts those that were not in the vault before.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Added {
    added: usize,
    vault_id: VaultId,
    prompt_count: u64,
}

/// The response to removing (VC-15).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Removed {
    vault_prompt_id: VaultPromptId,
    removed: bool,
}

/// The response to moving (VC-17), with the new membership.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Moved {
    prompt_id: PromptId,
    source_vault_id: VaultId,
    target_vault_id: VaultId,
    vault_prompt_id: VaultPromptId,
}

/// The response to pinning and unpinning (VC-25, VC-26).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Pinned {
    vault_prompt_id: VaultPromptId,
    is_pinned: bool,
}

/// `GET /vaults/{vaultId}/prompts` (VC-04 to VC-09).
pub(crate) async fn list(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let contents = api.store.contents(caller, request.id(0)?).await?;
    response::listing(contents, |prompt, json| {
        serde_json::to_writer(json, &ListedPromptView::new(prompt))
    })
    .await
}

/// `POST /vaults/{vaultId}/prompts` (VC-10 to VC-14).
pub(crate) async fn add(api: &Api, caller: &Caller, mut request: Request<'_>) -> HandlerResult {
    let body = request.json().await?;
    let mut form = json_fields(&body, ADD_FIELDS)?;
    let prompts = form.required("promptIds", list_of(limits::ADDED_PROMPTS, id));
    let prompts = form.finish_with(prompts)?;

    let vault_id = request.id(0)?;
    let added = api.store.add_prompts(caller, vault_id, &prompts).await?;
    let added = Added { added: added.added, vault_id, prompt_count: added.prompt_count };
    Ok(response::data(StatusCode::CREATED, &added)?)
}

/// `DELETE /vaults/{vaultId}/prompts/{vaultPromptId}` (VC-15, VC-16).
pub(crate) async fn remove(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let (vault, vault_prompt_id) = (request.id(0)?, request.id(1)?);
    api.store.remove_membership(caller, vault, vault_prompt_id).await?;
    let removed = Removed { vault_prompt_id, removed: true };
    Ok(response::data(StatusCode::OK, &removed)?)
}

/// `POST …/move` (VC-17 to VC-24).
pub(crate) async fn move_to(api: &Api, caller: &Caller, mut request: Request<'_>) -> HandlerResult {
    let body = request.json().await?;
    let mut form = json_fields(&body, MOVE_FIELDS)?;
    let target = form.required("targetVaultId", id_from_1);
    let target_vault_id = form.finish_with(target)?;

    let (source_vault_id, membership) = (request.id(0)?, request.id(1)?);
    let moved =
        api.store.move_membership(caller, source_vault_id, membership, target_vault_id).await?;
    let moved = Moved {
        prompt_id: moved.prompt,
        source_vault_id,
        target_vault_id,
        vault_prompt_id: moved.membership,
    };
    Ok(response::data(StatusCode::OK, &moved)?)
}

/// `POST …/pin` (VC-25, VC-27, VC-29).
pub(crate) async fn pin(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    set_pinned(api, caller, request, true).await
}

/// `DELETE …/pin` (VC-26, VC-28, VC-30).
pub(crate) async fn unpin(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    set_pinned(api, caller, request, false).await
}

async fn set_pinned(
    api: &Api,
    caller: &Caller,
    request: Request<'_>,
    is_pinned: bool,
) -> HandlerResult {
    let (vault, vault_prompt_id) = (request.id(0)?, request.id(1)?);
    api.store.set_pinned(caller, vault, vault_prompt_id, is_pinned).await?;
    Ok(response::data(StatusCode::OK, &Pinned { vault_prompt_id, is_pinned })?)
}
