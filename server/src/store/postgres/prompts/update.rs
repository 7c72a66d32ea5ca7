//! Changing a prompt.

use promptarium::{PromptId, VaultId};
use tokio_postgres::Row;

use super::save::with_vault;
use crate::domain::{Caller, PromptKind, PromptPatch, SharedPrompt};
use crate::store::StoreError;
use crate::store::postgres::caller::caller;
use crate::store::postgres::db::{Db, Statement, column};
use crate::store::postgres::rows::{self, locked_prompt_columns};

/// What is NULL stays; `$6` says whether the platform becomes `$7`. `has_model` is
/// NULL if there is no such prompt.
pub(super) static UPDATE: Statement = Statement::writing(
    "prompts.update",
    concat!(
        "WITH caller AS MATERIALIZED ",
        caller!("$12::timestamptz"),
        ", target AS MATERIALIZED (
             SELECT v.id FROM caller
             JOIN vault v ON v.account_id = caller.account_id AND v.id = $13
             FOR NO KEY UPDATE OF v
         ), changed AS (
             UPDATE prompt p SET
                 kind = coalesce($3, p.kind),
                 title = coalesce($4, p.title),
                 body = coalesce($5, p.body),
                 platform = CASE WHEN $6::boolean THEN $7 ELSE p.platform END,
                 model_id = coalesce($8, p.model_id),
                 aspect_ratio = coalesce($9, p.aspect_ratio),
                 image_url = coalesce($10, p.image_url),
                 reference_media_urls = coalesce($11, p.reference_media_urls),
                 updated_at = greatest(caller.now, p.updated_at + interval '1 microsecond')
             FROM caller
             WHERE p.account_id = caller.account_id AND p.id = $2
                 AND ($13::bigint IS NULL OR EXISTS (SELECT FROM target))
                 AND (NOT $14::boolean OR p.model_id IS NOT NULL)
             RETURNING p.*
         ), joined AS (
             INSERT INTO membership (account_id, vault_id, prompt_id, kind)
             SELECT changed.account_id, target.id, changed.id, changed.kind
             FROM changed CROSS JOIN target
             ON CONFLICT DO NOTHING
         )
         SELECT ",
        locked_prompt_columns!(),
        ", target.id AS vault,
             (SELECT before.model_id IS NOT NULL FROM prompt before
              WHERE before.account_id = caller.account_id AND before.id = $2) AS has_model
         FROM caller LEFT JOIN changed p ON true LEFT JOIN target ON true"
    ),
);

/// See [`Store::update_prompt`](crate::store::Store::update_prompt).
pub(in crate::store::postgres) async fn update(
    db: &Db,
    caller: &Caller,
    id: PromptId,
    patch: PromptPatch,
) -> Result<SharedPrompt, StoreError> {
    if patch.is_empty() {
        return super::get(db, caller, id).await;
    }
    let lacks_model =
        patch.kind.is_some_and(PromptKind::needs_model) && patch.inputs.model_id.is_none();
    let row = send(db, caller, id, &patch, lacks_model).await?;
    match (rows::prompt(&row)?, patch.vault) {
        (Some(prompt), Some(vault)) => Ok(with_vault(prompt, vault)),
        (Some(prompt), None) => Ok(prompt),
        (None, vault) => Err(refusal(&row, vault.is_some(), lacks_model)?),
    }
}

async fn send(
    db: &Db,
    caller: &Caller,
    id: PromptId,
    patch: &PromptPatch,
    lacks_model: bool,
) -> Result<Row, StoreError> {
    let inputs = &patch.inputs;
    db.row_of_caller(
        &UPDATE,
        &[
            &caller.key.0,
            &id.get(),
            &patch.kind.map(PromptKind::as_str),
            &patch.title.as_deref(),
            &patch.text.as_deref(),
            &patch.platform.is_some(),
            &patch.platform.as_ref().and_then(Option::as_deref),
            &inputs.model_id.as_deref(),
            &inputs.aspect_ratio.as_deref(),
            &inputs.image_url.as_deref(),
            &inputs.reference_media_urls.as_deref(),
            &db.now(),
            &patch.vault.map(VaultId::get),
            &lacks_model,
        ],
    )
    .await
}

/// Why nothing was changed.
fn refusal(row: &Row, into_vault: bool, lacks_model: bool) -> Result<StoreError, StoreError> {
    let has_model: Option<bool> = column(row, "has_model")?;
    let vault: Option<i64> = column(row, "vault")?;
    Ok(match has_model {
        None => StoreError::NotFound,
        Some(_) if into_vault && vault.is_none() => StoreError::UnknownVault,
        Some(false) if lacks_model => StoreError::ModelRequired,
        // It was there when the statement began, and then somebody deleted it.
        Some(_) => StoreError::NotFound,
    })
}
