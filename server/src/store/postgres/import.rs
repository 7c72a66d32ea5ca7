//! Adding the prompts and vaults of an export, in one transaction.
//!
//! Ids are taken from the sequences before, so that each statement has the rows of one account.

use std::collections::HashMap;

use serde_json::{Value, json};
use tokio_postgres::types::Json;

use super::PostgresStore;
use super::db::Db;
use super::keys::CONFIRM;
use super::memberships::ADD;
use super::rows::{INPUT_COLUMNS, KEY_IS_VALID, column, int, one};
use super::send::{LOCK_ACCOUNT, Step, Values, refs};
use super::vaults::{self, new_vault};
use crate::domain::{AccountData, Caller, PromptInputs, PromptRecord};
use crate::limits::ACCOUNT_ROWS_AT_ONCE;
use crate::store::{Result, StoreError, VaultStore};

statements! {
    idempotent IDS "import.new_ids"
        "SELECT ARRAY(SELECT nextval($1::text::regclass) FROM generate_series(1, $2::bigint))";
    non_idempotent PROMPTS "import.prompts"
        "INSERT INTO prompt (account_id, id, {INPUT_COLUMNS}, images, created_at, updated_at)
         SELECT $1, id, {INPUT_COLUMNS}, images, created_at, updated_at
         FROM jsonb_to_recordset($3::jsonb) AS n (id bigint, kind text, title text, body text,
             platform text, model_id text, aspect_ratio text, image_url text,
             reference_media_urls text[], images jsonb, created_at timestamptz,
             updated_at timestamptz)
         WHERE {KEY_IS_VALID}";
}

/// See [`AccountStore::import`](crate::store::AccountStore::import).
pub(super) async fn import(
    store: &PostgresStore,
    caller: &Caller,
    data: &AccountData,
) -> Result<()> {
    let (db, prompts) = (&store.db, &data.prompts);
    let present = store.vaults(caller).await?;
    let new = data.vaults.iter().filter(|(vault, _)| !vault.system).count();
    if int(present.len() + new) > store.vaults_max {
        return Err(StoreError::TooManyVaults);
    }
    let general = present.iter().find(|vault| vault.system).map(|vault| vault.id.get());
    let general = general.ok_or(StoreError::UnknownVault)?;
    let prompt_ids = new_ids(db, "prompt_id_seq", int(prompts.len())).await?;
    let vault_ids = new_ids(db, "vault_id_seq", int(data.vaults.len())).await?;

    let (mut rows, mut imported) = (Vec::new(), HashMap::new());
    for ((prompt, inputs), id) in prompts.iter().zip(prompt_ids) {
        rows.push(prompt_row(id, prompt, inputs));
        imported.insert(prompt.id, id);
    }
    let mut sent: Vec<(_, Values<'_>)> = vec![(&LOCK_ACCOUNT, vec![])];
    for batch in rows.chunks(ACCOUNT_ROWS_AT_ONCE as usize) {
        sent.push((&PROMPTS, vec![Box::new(Json(batch))]));
    }
    for ((vault, members), new_id) in data.vaults.iter().zip(vault_ids) {
        let id = if vault.system { general } else { new_id };
        if !vault.system {
            sent.push((&vaults::CREATE, new_vault(vault, store.vaults_max, Some(id))));
        }
        // The last one to be added, and the last one to be pinned, are shown first.
        let members = members.iter().rev().zip(1_i64..).filter_map(|((prompt, pinned), number)| {
            Some((*imported.get(prompt)?, pinned.then_some(number)))
        });
        let (prompts, pins): (Vec<i64>, Vec<Option<i64>>) = members.unzip();
        sent.push((&ADD, vec![Box::new(id), Box::new(prompts), Box::new(pins), Box::new(false)]));
    }
    sent.push((&CONFIRM, vec![]));
    let params: Vec<_> = sent.iter().map(|(_, values)| refs(values)).collect();
    let steps = sent.iter().zip(&params);
    let steps: Vec<Step<'_>> = steps.map(|((one, _), params)| (*one, &params[..])).collect();
    db.row_of_steps(caller, Some(db.long_limit), &steps).await.map(drop)
}

/// So many new ids.
pub(super) async fn new_ids(db: &Db, sequence: &str, count: i64) -> Result<Vec<i64>> {
    let rows = db.transaction(Some(db.long_limit), &[(&IDS, &[&sequence, &count])]).await?;
    column(one(&rows)?, 0)
}

/// A prompt as [`PROMPTS`] takes it.
fn prompt_row(id: i64, prompt: &PromptRecord, inputs: &PromptInputs) -> Value {
    json!({
        "id": id,
        "kind": prompt.kind.as_str(),
        "title": &*prompt.title,
        "body": &*prompt.text,
        "platform": prompt.platform.as_deref(),
        "model_id": inputs.model_id.as_deref(),
        "aspect_ratio": inputs.aspect_ratio.as_deref(),
        "image_url": inputs.image_url,
        "reference_media_urls": inputs.reference_media_urls.as_deref(),
        "images": &*prompt.images,
        "created_at": prompt.created_at,
        "updated_at": prompt.updated_at,
    })
}
