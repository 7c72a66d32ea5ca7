//! Changes of prompts. The parent module explains the order of locks and CTEs that lock.

use std::sync::Arc;

use const_format::formatcp;
use jiff::Timestamp;
use promptarium::VaultId;
use tokio_postgres::Row;

use super::db::{Statement, Values};
use super::rows::{self, CALLER, KEY_IS_VALID, NEW_MEMBER, PROMPT_COLUMNS, column, later};
use crate::domain::{PromptKind, PromptPatch, SharedPrompt};
use crate::store::{Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&LOCK_VAULTS, &LOCK_PROMPT, &UPDATE, &DELETE];

/// In a transaction before a statement that changes the counts of the vaults `$3`.
pub(super) static LOCK_VAULTS: Statement = Statement::idempotent(
    "vaults.lock",
    formatcp!(
        "SELECT FROM vault v WHERE v.account_id = $1 AND v.id = ANY ($3::bigint[])
         AND {KEY_IS_VALID} ORDER BY v.id FOR NO KEY UPDATE"
    ),
);

/// In a transaction before a statement that reads or changes the memberships of the prompt `$3`.
/// Nothing can add one meanwhile.
pub(super) static LOCK_PROMPT: Statement = Statement::idempotent(
    "prompts.lock_prompt",
    formatcp!(
        "SELECT FROM prompt p WHERE p.account_id = $1 AND p.id = $3 AND {KEY_IS_VALID} FOR UPDATE"
    ),
);

/// After the prompt `$3` and the vault `$15`, into which it is put, were locked. NULL parameters
/// leave their column unchanged; `$6` says whether the platform becomes `$7`. `$12` is the time of an
/// update, NULL if the prompt only comes into the vault. `$13` says that the update needs a model and
/// brings none. `$14` is the type. `has_model` is NULL if there is no such prompt.
pub(super) static UPDATE: Statement = Statement::non_idempotent(
    "prompts.update",
    formatcp!(
        "{CALLER}, target AS (
             SELECT v.id FROM vault v WHERE v.account_id = $1 AND v.id = $15
         ), changed AS (
             UPDATE prompt p SET
                 title = coalesce($4, p.title),
                 body = coalesce($5, p.body),
                 platform = CASE WHEN $6::boolean THEN $7 ELSE p.platform END,
                 model_id = coalesce($8, p.model_id),
                 aspect_ratio = coalesce($9, p.aspect_ratio),
                 image_url = coalesce($10, p.image_url),
                 reference_media_urls = coalesce($11, p.reference_media_urls),
                 kind = coalesce($14, p.kind),
                 updated_at = CASE WHEN $12::timestamptz IS NULL THEN p.updated_at ELSE {later} END
             WHERE p.account_id = $1 AND p.id = $3
                 AND (NOT $13::boolean OR p.model_id IS NOT NULL)
                 AND ($15::bigint IS NULL OR EXISTS (SELECT FROM target))
                 AND {KEY_IS_VALID}
             RETURNING p.*
         ), retyped AS (
             UPDATE vault_prompt m SET kind = changed.kind FROM changed
             WHERE m.account_id = $1 AND m.prompt_id = $3 AND m.kind <> changed.kind
         ), {NEW_MEMBER}, added AS (
             INSERT INTO vault_prompt (account_id, id, vault_id, prompt_id, kind)
             SELECT $1, new_member.id, target.id, changed.id, changed.kind
             FROM changed CROSS JOIN target CROSS JOIN new_member
             ON CONFLICT DO NOTHING
             RETURNING vault_id
         ), in_count AS (
             UPDATE vault v SET prompt_count = v.prompt_count + 1
             FROM added WHERE v.account_id = $1 AND v.id = added.vault_id
         )
         SELECT {PROMPT_COLUMNS}, target.id AS vault,
             (SELECT before.model_id IS NOT NULL FROM prompt before
              WHERE before.account_id = $1 AND before.id = $3) AS has_model
         FROM caller LEFT JOIN changed p ON true LEFT JOIN target ON true",
        later = later!("$12", "p.updated_at")
    ),
);

/// Its memberships change the counts of its vaults, so the vaults are locked first, then the
/// prompt. If it came into another vault while this waited, that membership is not in the
/// snapshot: it stays, violates its foreign key, and the statement is sent again.
pub(super) static DELETE: Statement = Statement::non_idempotent(
    "prompts.delete",
    formatcp!(
        "{CALLER}, locked_vaults AS MATERIALIZED (
             SELECT v.id FROM vault_prompt m
             JOIN vault v ON v.account_id = $1 AND v.id = m.vault_id
             WHERE m.account_id = $1 AND m.prompt_id = $3 AND {KEY_IS_VALID}
             ORDER BY v.id FOR NO KEY UPDATE OF v
         ), locked AS MATERIALIZED (
             SELECT p.id FROM prompt p
             WHERE p.account_id = $1 AND p.id = $3 AND (SELECT count(*) FROM locked_vaults) >= 0
                 AND {KEY_IS_VALID}
             FOR UPDATE
         ), removed AS (
             DELETE FROM vault_prompt m USING locked
             WHERE m.account_id = $1 AND m.prompt_id = locked.id
             RETURNING m.vault_id
         ), in_count AS (
             UPDATE vault v SET prompt_count = v.prompt_count - 1
             FROM removed WHERE v.account_id = $1 AND v.id = removed.vault_id
         ), deleted AS (
             DELETE FROM prompt p USING locked
             WHERE p.account_id = $1 AND p.id = locked.id
                 AND (SELECT count(*) FROM removed) >= 0
             RETURNING p.id
         )
         SELECT deleted.id FROM caller LEFT JOIN deleted ON true"
    ),
);

/// The parameters of [`UPDATE`].
pub(super) fn update_values(id: i64, patch: &PromptPatch, now: Option<Timestamp>) -> Values<'_> {
    let inputs = &patch.inputs;
    vec![
        Box::new(id),
        Box::new(patch.title.as_deref()),
        Box::new(patch.text.as_deref()),
        Box::new(patch.platform.is_some()),
        Box::new(patch.platform.as_ref().and_then(Option::as_deref)),
        Box::new(inputs.model_id.as_deref()),
        Box::new(inputs.aspect_ratio.as_deref()),
        Box::new(&inputs.image_url),
        Box::new(inputs.reference_media_urls.as_deref()),
        Box::new(now),
        Box::new(lacks_model(patch)),
        Box::new(patch.kind.map(PromptKind::as_str)),
        Box::new(patch.vault.map(VaultId::get)),
    ]
}

fn lacks_model(patch: &PromptPatch) -> bool {
    patch.kind.is_some_and(PromptKind::needs_model) && patch.inputs.model_id.is_none()
}

/// The result of [`UPDATE`].
pub(super) fn updated(row: &Row, patch: &PromptPatch) -> Result<SharedPrompt> {
    if let Some(prompt) = rows::prompt(row)? {
        return Ok(in_vault(prompt, patch.vault));
    }
    let target: Option<i64> = column(row, "vault")?;
    Err(match column::<Option<bool>>(row, "has_model")? {
        Some(_) if patch.vault.is_some() && target.is_none() => StoreError::UnknownVault,
        Some(false) if lacks_model(patch) => StoreError::ModelRequired,
        _ => StoreError::NotFound,
    })
}

/// Adds `vault` to the vaults of a prompt that the statement read before it inserted the
/// membership.
fn in_vault(mut prompt: SharedPrompt, vault: Option<VaultId>) -> SharedPrompt {
    if let Some(vault) = vault
        && let Err(index) = prompt.vault_ids.binary_search(&vault)
    {
        Arc::make_mut(&mut prompt).vault_ids.insert(index, vault);
    }
    prompt
}
