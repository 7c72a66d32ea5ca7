//! Prompts: creating and reading them. [`super::prompt_changes`] has the other changes.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use promptarium::{PromptId, VaultId};

use super::db::{Params, Statement};
use super::rows::{self, caller, column, key_is_valid, now, prompt_columns};
use super::{PostgresStore, listing, prompt_changes};
use crate::domain::{
    Caller, NewPrompt, PromptPage, PromptPatch, PromptQuery, PromptRecord, SharedPrompt,
};
use crate::store::{PromptStore, Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&CREATE, &CREATE_IN_VAULT, &GET];

/// Inserts the prompt with the values `$3` to `$10` at the time `$11`, if `$from` has a row.
macro_rules! insert {
    ($from:expr) => {
        concat!(
            "INSERT INTO prompt AS p (
                 account_id, kind, title, body, platform, model_id, aspect_ratio, image_url,
                 reference_media_urls, created_at, updated_at
             )
             SELECT $1, $3, $4, $5, $6, $7, $8, $9, $10, ",
            now!("$11"),
            ", ",
            now!("$11"),
            $from,
            " RETURNING p.id, p.kind, p.created_at"
        )
    };
}

/// The most frequent write is one plain insert.
static CREATE: Statement =
    Statement::non_idempotent("prompts.create", insert!(concat!(" WHERE ", key_is_valid!())))
        .pipelined();

/// The update of the count locks the vault first.
static CREATE_IN_VAULT: Statement = Statement::non_idempotent(
    "prompts.create_in_vault",
    concat!(
        caller!(),
        ", target AS (
             UPDATE vault v SET prompt_count = v.prompt_count + 1
             WHERE v.account_id = $1 AND v.id = $12 AND ",
        key_is_valid!(),
        " RETURNING v.id
         ), created AS (",
        insert!(" FROM target"),
        "), added AS (
             INSERT INTO vault_prompt (account_id, vault_id, prompt_id, kind)
             SELECT $1, $12, created.id, created.kind FROM created
         )
         SELECT created.id, created.created_at FROM caller LEFT JOIN created ON true"
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
         LEFT JOIN prompt p ON p.account_id = $1 AND p.id = ANY($3::bigint[])"
    ),
);

#[async_trait]
impl PromptStore for PostgresStore {
    async fn create_prompt(&self, caller: &Caller, new: NewPrompt) -> Result<SharedPrompt> {
        let inputs = &new.inputs;
        let params: Params<'_> = &[
            &caller.account.0,
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
            None => self.db.row_of_caller(caller, &CREATE, &params[..11]).await?,
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
            let params: Params<'_> = &[&caller.account.0, &caller.key.0, &ids];
            let rows = self.db.rows_of_caller(caller, &GET, params).await?;
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
        prompt_changes::update(&self.db, caller, id, patch).await
    }

    async fn save_prompt(
        &self,
        caller: &Caller,
        id: PromptId,
        vault: VaultId,
    ) -> Result<SharedPrompt> {
        prompt_changes::save(&self.db, caller, id, vault).await
    }

    async fn delete_prompt(&self, caller: &Caller, id: PromptId) -> Result<()> {
        prompt_changes::delete(&self.db, caller, id).await
    }
}
