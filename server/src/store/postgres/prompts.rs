//! Prompts. The parent module explains the order of locks and CTEs that lock.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use promptarium::{PromptId, VaultId};

use super::db::{Params, Statement};
use super::rows::{self, caller, column, prompt_columns};
use super::{PostgresStore, listing};
use crate::domain::{
    Caller, NewPrompt, PromptKind, PromptPage, PromptPatch, PromptQuery, PromptRecord, SharedPrompt,
};
use crate::store::{PromptStore, Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&CREATE, &CREATE_IN_VAULT, &GET, &UPDATE, &SAVE, &DELETE];

/// Inserts the prompt with the values `$2` to `$9` and selects from `$from`.
macro_rules! insert {
    ($from:literal) => {
        concat!(
            "INSERT INTO prompt AS p (
                 account_id, kind, title, body, platform, model_id, aspect_ratio, image_url,
                 reference_media_urls, created_at, updated_at
             )
             SELECT caller.account_id, $2, $3, $4, $5, $6, $7, $8, $9, caller.now, caller.now
             FROM ",
            $from,
            " RETURNING p.account_id, p.id, p.kind, p.created_at"
        )
    };
}

/// The CTE `target`: the caller's vault with this id, locked because its prompt count
/// changes, and so that it is not deleted meanwhile.
macro_rules! locked_vault {
    ($id:literal) => {
        concat!(
            "target AS MATERIALIZED (
                 SELECT v.id FROM caller
                 JOIN vault v ON v.account_id = caller.account_id AND v.id = ",
            $id,
            " FOR NO KEY UPDATE OF v
             )"
        )
    };
}

/// The most frequent write has a statement of its own: just the insert.
static CREATE: Statement = Statement::non_idempotent(
    "prompts.create",
    concat!(caller!("$10::timestamptz"), " ", insert!("caller")),
)
.pipelined();

static CREATE_IN_VAULT: Statement = Statement::non_idempotent(
    "prompts.create_in_vault",
    concat!(
        caller!("$10::timestamptz"),
        ", ",
        locked_vault!("$11"),
        ", created AS (",
        insert!("caller CROSS JOIN target"),
        "), added AS (
             INSERT INTO membership (account_id, vault_id, prompt_id, kind)
             SELECT created.account_id, target.id, created.id, created.kind
             FROM created CROSS JOIN target
         )
         SELECT created.account_id, created.id, created.kind, created.created_at
         FROM caller LEFT JOIN created ON true"
    ),
);

/// The prompts of a batch of reads.
static GET: Statement = Statement::read_only(
    "prompts.get",
    concat!(
        caller!(),
        " SELECT ",
        prompt_columns!(),
        " FROM caller
         LEFT JOIN prompt p ON p.account_id = caller.account_id AND p.id = ANY($2::bigint[])"
    ),
);

/// NULL parameters leave their column unchanged; `$6` says whether the platform becomes
/// `$7`. `$14` says that the update needs a model and brings none. `has_model` is NULL if
/// there is no such prompt.
static UPDATE: Statement = Statement::non_idempotent(
    "prompts.update",
    concat!(
        caller!("$12::timestamptz"),
        ", ",
        locked_vault!("$13"),
        ", changed AS (
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
         ), added AS (
             INSERT INTO membership (account_id, vault_id, prompt_id, kind)
             SELECT changed.account_id, target.id, changed.id, changed.kind
             FROM changed CROSS JOIN target
             ON CONFLICT DO NOTHING
         )
         SELECT ",
        prompt_columns!(locked),
        ", target.id AS vault,
             (SELECT before.model_id IS NOT NULL FROM prompt before
              WHERE before.account_id = caller.account_id AND before.id = $2) AS has_model
         FROM caller LEFT JOIN changed p ON true LEFT JOIN target ON true"
    ),
);

/// The prompt is locked too, so that of two concurrent changes to one prompt the later
/// response shows both.
static SAVE: Statement = Statement::non_idempotent(
    "prompts.save",
    concat!(
        caller!(),
        ", ",
        locked_vault!("$3"),
        ", locked AS MATERIALIZED (
             SELECT p.* FROM caller
             JOIN prompt p ON p.account_id = caller.account_id AND p.id = $2
             WHERE (SELECT count(*) FROM target) >= 0
             FOR NO KEY UPDATE OF p
         ), added AS (
             INSERT INTO membership (account_id, vault_id, prompt_id, kind)
             SELECT locked.account_id, target.id, locked.id, locked.kind
             FROM locked CROSS JOIN target
             ON CONFLICT DO NOTHING
         )
         SELECT ",
        prompt_columns!(locked),
        ", target.id AS vault
         FROM caller LEFT JOIN locked p ON true LEFT JOIN target ON true"
    ),
);

/// Its memberships change the counts of its vaults, so the vaults are locked first.
static DELETE: Statement = Statement::non_idempotent(
    "prompts.delete",
    concat!(
        caller!(),
        ", locked AS MATERIALIZED (
             SELECT v.id FROM caller
             JOIN membership m ON m.account_id = caller.account_id AND m.prompt_id = $2
             JOIN vault v ON v.account_id = m.account_id AND v.id = m.vault_id
             ORDER BY v.id FOR NO KEY UPDATE OF v
         ), deleted AS (
             DELETE FROM prompt p USING caller
             WHERE p.account_id = caller.account_id AND p.id = $2
                 AND (SELECT count(*) FROM locked) >= 0
             RETURNING p.id
         )
         SELECT deleted.id FROM caller LEFT JOIN deleted ON true",
    ),
);

#[async_trait]
impl PromptStore for PostgresStore {
    async fn create_prompt(&self, caller: &Caller, new: NewPrompt) -> Result<SharedPrompt> {
        let inputs = &new.inputs;
        let params: Params<'_> = &[
            &caller.key.0,
            &new.kind.as_str(),
            &&*new.title,
            &&*new.text,
            &new.platform.as_deref(),
            &inputs.model_id.as_deref(),
            &inputs.aspect_ratio.as_deref(),
            &inputs.image_url.as_deref(),
            &inputs.reference_media_urls.as_deref(),
            &self.db.now(),
            &new.vault.map(VaultId::get),
        ];
        let row = match new.vault {
            None => self.db.row_of_caller(caller, &CREATE, &params[..10]).await?,
            Some(_) => self.db.row_of_caller(caller, &CREATE_IN_VAULT, params).await?,
        };
        let id = column::<Option<i64>>(&row, "id")?.ok_or(StoreError::UnknownVault)?;
        let created_at: Timestamp = column(&row, "created_at")?;
        Ok(Arc::new(PromptRecord {
            id: PromptId::new(id),
            title: new.title,
            text: new.text,
            kind: new.kind,
            platform: new.platform,
            inputs: new.inputs,
            images: Arc::default(),
            vault_ids: new.vault.into_iter().collect(),
            created_at,
            updated_at: created_at,
        }))
    }

    async fn prompt(&self, caller: &Caller, id: PromptId) -> Result<SharedPrompt> {
        let send = |ids: Vec<i64>| async move {
            let rows = self.db.rows_of_caller(caller, &GET, &[&caller.key.0, &ids]).await?;
            let prompts = rows.iter().filter_map(|row| rows::prompt(row).transpose());
            prompts.map(|prompt| prompt.map(|prompt| (prompt.id.get(), prompt))).collect()
        };
        let prompt = self.prompt_reads.load(caller.key, id.get(), send).await?;
        prompt.ok_or(StoreError::NotFound)
    }

    async fn list_prompts(&self, caller: &Caller, query: PromptQuery) -> Result<PromptPage> {
        listing::page(&self.db, caller, query).await
    }

    async fn update_prompt(
        &self,
        caller: &Caller,
        id: PromptId,
        patch: PromptPatch,
    ) -> Result<SharedPrompt> {
        if patch.is_empty() {
            return self.prompt(caller, id).await;
        }
        let inputs = &patch.inputs;
        let lacks_model =
            patch.kind.is_some_and(PromptKind::needs_model) && inputs.model_id.is_none();
        let params: Params<'_> = &[
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
            &self.db.now(),
            &patch.vault.map(VaultId::get),
            &lacks_model,
        ];
        let row = self.db.row_of_caller(caller, &UPDATE, params).await?;
        if let Some(prompt) = rows::prompt(&row)? {
            return Ok(in_vault(prompt, patch.vault));
        }
        let vault: Option<i64> = column(&row, "vault")?;
        Err(match column::<Option<bool>>(&row, "has_model")? {
            Some(_) if patch.vault.is_some() && vault.is_none() => StoreError::UnknownVault,
            Some(false) if lacks_model => StoreError::ModelRequired,
            // If it has a model, it was deleted after the statement began.
            _ => StoreError::NotFound,
        })
    }

    async fn delete_prompt(&self, caller: &Caller, id: PromptId) -> Result<()> {
        let row = self.db.row_of_caller(caller, &DELETE, &[&caller.key.0, &id.get()]).await?;
        column::<Option<i64>>(&row, 0)?.map(drop).ok_or(StoreError::NotFound)
    }

    async fn save_prompt(
        &self,
        caller: &Caller,
        id: PromptId,
        vault: VaultId,
    ) -> Result<SharedPrompt> {
        let params: Params<'_> = &[&caller.key.0, &id.get(), &vault.get()];
        let row = self.db.row_of_caller(caller, &SAVE, params).await?;
        let prompt = rows::prompt(&row)?.ok_or(StoreError::NotFound)?;
        column::<Option<i64>>(&row, "vault")?.ok_or(StoreError::UnknownVault)?;
        Ok(in_vault(prompt, Some(vault)))
    }
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
