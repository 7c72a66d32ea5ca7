//! Prompts: creating and reading them. [`super::prompt_changes`] has the other changes.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use promptarium::{PromptId, VaultId};

use super::db::{Db, Params, Statement};
use super::retry::was_refused;
use super::rows::{self, caller, column, key_is_valid, new_id, prompt_columns};
use super::{PostgresStore, listing, prompt_changes};
use crate::domain::{
    Caller, ImageRef, NewPrompt, PromptInputs, PromptPage, PromptPatch, PromptQuery, PromptRecord,
    SharedPrompt,
};
use crate::store::{PromptStore, Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&CREATE, &CREATE_MANY, &CREATE_IN_VAULT, &GET, &INPUTS];

/// The id of a new prompt and the time of its creation.
pub(super) type Created = (i64, Timestamp);

/// Inserts the prompt with the values `$3` to `$10` at the time `$11`, if `$from` has a row. `$name`
/// and `$id` name its id, if that is not the default.
macro_rules! insert {
    ($name:literal, $id:literal, $from:expr) => {
        concat!(
            "INSERT INTO prompt AS p (
                 account_id, kind, title, body, platform, model_id, aspect_ratio, image_url,
                 reference_media_urls, created_at, updated_at",
            $name,
            ") SELECT $1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11",
            $id,
            $from,
            " RETURNING p.id, p.kind, p.created_at"
        )
    };
}

/// The most frequent write is one plain insert.
static CREATE: Statement = Statement::non_idempotent(
    "prompts.create",
    insert!("", "", concat!(" WHERE ", key_is_valid!())),
)
.pipelined();

/// Several of one key. `ORDER BY` makes their ids increase with their numbers, which tells whose
/// row is whose. The URLs of all are one array, of which each has a slice.
static CREATE_MANY: Statement = Statement::non_idempotent(
    "prompts.create_many",
    concat!(
        "INSERT INTO prompt AS p (
             account_id, kind, title, body, platform, model_id, aspect_ratio, image_url,
             reference_media_urls, created_at, updated_at
         )
         SELECT $1, kind, title, body, platform, model_id, aspect_ratio, image_url,
             ($12::text[])[first_url:last_url], $13, $13 FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
             $9::text[], $10::integer[], $11::integer[]) WITH ORDINALITY
             AS n (kind, title, body, platform, model_id, aspect_ratio, image_url,
                 first_url, last_url, number)
         WHERE ",
        key_is_valid!(),
        " ORDER BY number
         RETURNING p.id, p.created_at"
    ),
)
.pipelined();

/// The update of the count locks the vault first.
static CREATE_IN_VAULT: Statement = Statement::non_idempotent(
    "prompts.create_in_vault",
    concat!(
        caller!(),
        ", ",
        new_id!("new_prompt", "prompt_id_seq"),
        ", ",
        new_id!("new_member", "vault_prompt_id_seq"),
        ", target AS (
             UPDATE vault v SET prompt_count = v.prompt_count + 1
             WHERE v.account_id = $1 AND v.id = $12 AND ",
        key_is_valid!(),
        " RETURNING v.id
         ), created AS (",
        insert!(", id", ", new_prompt.id", " FROM target, new_prompt"),
        "), added AS (
             INSERT INTO vault_prompt (account_id, id, vault_id, prompt_id, kind)
             SELECT $1, new_member.id, $12, created.id, created.kind FROM created, new_member
         )
         SELECT created.id, created.created_at FROM caller LEFT JOIN created ON true"
    ),
);

/// Prompts by their ids, in any order.
pub(super) static GET: Statement = Statement::read_only(
    "prompts.get",
    concat!(
        caller!(),
        " SELECT ",
        prompt_columns!(),
        " FROM caller
         LEFT JOIN prompt p ON p.account_id = $1 AND p.id = ANY($3::bigint[])"
    ),
);

static INPUTS: Statement = Statement::read_only(
    "prompts.inputs",
    concat!(
        caller!(),
        " SELECT p.id, p.model_id, p.aspect_ratio, p.image_url, p.reference_media_urls
         FROM caller LEFT JOIN prompt p ON p.account_id = $1 AND p.id = $3"
    ),
);

#[async_trait]
impl PromptStore for PostgresStore {
    async fn create_prompt(&self, caller: &Caller, new: NewPrompt) -> Result<SharedPrompt> {
        let alone = || create(&self.db, caller, &new);
        let (id, created_at) = match new.vault {
            Some(_) => alone().await?,
            None => {
                let merged = |all| create_many(self.db.clone(), caller.clone(), all);
                let clone = || new.clone();
                self.prompt_writes.write(caller.key, bytes(&new), clone, alone, merged).await?
            }
        };
        Ok(Arc::new(PromptRecord {
            id: PromptId::new(id),
            title: new.title,
            text: new.text,
            kind: new.kind,
            platform: new.platform,
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

    async fn prompt_inputs(&self, caller: &Caller, id: PromptId) -> Result<PromptInputs> {
        let params: Params<'_> = &[&caller.account.0, &caller.key.0, &id.get()];
        let row = self.db.row_of_caller(caller, &INPUTS, params).await?;
        rows::prompt_inputs(&row)?.ok_or(StoreError::NotFound)
    }

    async fn list_prompts(&self, caller: &Caller, query: PromptQuery) -> Result<PromptPage> {
        listing::page(&self.db, &self.pages, caller, query).await
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

async fn create(db: &Db, caller: &Caller, new: &NewPrompt) -> Result<Created> {
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
        &inputs.image_url,
        &inputs.reference_media_urls.as_deref(),
        &db.now(),
        &new.vault.map(VaultId::get),
    ];
    let row = match new.vault {
        None => db.row_of_caller(caller, &CREATE, &params[..11]).await?,
        Some(_) => db.row_of_caller(caller, &CREATE_IN_VAULT, params).await?,
    };
    let id = column::<Option<i64>>(&row, "id")?.ok_or(StoreError::UnknownVault)?;
    Ok((id, column(&row, "created_at")?))
}

/// Creates all of them or none, without vaults; `None` if the database refuses one of them.
async fn create_many(db: Db, caller: Caller, all: Vec<NewPrompt>) -> Result<Option<Vec<Created>>> {
    let (mut urls, mut slices) = (Vec::new(), Vec::with_capacity(all.len()));
    for new in &all {
        let own = new.inputs.reference_media_urls.as_deref();
        let first = urls.len() + 1;
        urls.extend(own.into_iter().flatten());
        let ends = own.map(|_| (first as i32, urls.len() as i32));
        slices.push(ends.unzip());
    }
    let (first_urls, last_urls): (Vec<Option<i32>>, Vec<Option<i32>>) = slices.into_iter().unzip();
    let params: Params<'_> = &[
        &caller.account.0,
        &caller.key.0,
        &texts(&all, |new| new.kind.as_str()),
        &texts(&all, |new| &*new.title),
        &texts(&all, |new| &*new.text),
        &texts(&all, |new| new.platform.as_deref()),
        &texts(&all, |new| new.inputs.model_id.as_deref()),
        &texts(&all, |new| new.inputs.aspect_ratio.as_deref()),
        &texts(&all, |new| new.inputs.image_url.as_ref()),
        &first_urls,
        &last_urls,
        &urls,
        &db.now(),
    ];
    let rows = match db.rows_of_caller(&caller, &CREATE_MANY, params).await {
        Err(error) if was_refused(&error) => return Ok(None),
        rows => rows?,
    };
    let created = rows.iter().map(|row| Ok((column(row, 0)?, column(row, 1)?)));
    let mut created = created.collect::<Result<Vec<Created>>>()?;
    if created.len() != all.len() {
        return Err(StoreError::Internal("not every prompt has an id".into()));
    }
    created.sort_unstable();
    Ok(Some(created))
}

fn texts<'a, T: 'a>(all: &'a [NewPrompt], text: impl Fn(&'a NewPrompt) -> T) -> Vec<T> {
    all.iter().map(text).collect()
}

/// About what a prompt adds to a statement.
fn bytes(new: &NewPrompt) -> usize {
    let inputs = &new.inputs;
    let urls = inputs.reference_media_urls.iter().flat_map(|urls| urls.iter());
    let urls = urls.chain(&inputs.image_url);
    let optional = [&new.platform, &inputs.model_id, &inputs.aspect_ratio];
    let optional = optional.into_iter().flatten().map(|text| text.len());
    new.title.len()
        + new.text.len()
        + optional.sum::<usize>()
        + urls.map(ImageRef::bytes).sum::<usize>()
}
