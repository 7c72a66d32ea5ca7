//! Adding the prompts and vaults of an export, in one transaction.
//!
//! Ids are taken from the sequences before, so that each statement has the rows of one account.

use std::collections::{BTreeMap, HashMap};

use const_format::formatcp;
use serde_json::{Value, json};
use tokio_postgres::types::Json;

use super::PostgresStore;
use super::db::{By, Db, Params, Statement, Values, refs};
use super::keys::CONFIRM;
use super::rows::{CALLER, INPUT_COLUMNS, KEY_IS_VALID, column, int};
use super::steps::{LOCK_ACCOUNT, Step};
use super::vaults::free_slug;
use crate::domain::{AccountData, Caller, PromptInputs, PromptRecord, slug};
use crate::limits::ACCOUNT_ROWS_AT_ONCE;
use crate::store::{Result, StoreError, VaultStore};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&IDS, &PROMPTS, &VAULT, &MEMBERS];

static IDS: Statement = Statement::idempotent(
    "import.new_ids",
    "SELECT nextval($1::text::regclass) FROM generate_series(1, $2::bigint)",
);

static PROMPTS: Statement = Statement::non_idempotent(
    "import.prompts",
    formatcp!(
        "INSERT INTO prompt (account_id, id, {INPUT_COLUMNS}, images, created_at, updated_at)
         SELECT $1, id, {INPUT_COLUMNS}, images, created_at, updated_at
         FROM jsonb_to_recordset($3::jsonb) AS n (id bigint, kind text, title text, body text,
             platform text, model_id text, aspect_ratio text, image_url text,
             reference_media_urls text[], images jsonb, created_at timestamptz,
             updated_at timestamptz)
         WHERE {KEY_IS_VALID}"
    ),
);

/// `$11` is how many vaults the account may have.
static VAULT: Statement = Statement::non_idempotent(
    "import.vault",
    formatcp!(
        "{CALLER}, v AS (
            INSERT INTO vault (account_id, id, name, description, visibility, slug,
                cover_image_url, created_at, updated_at)
            SELECT $1, $3, $4, $5, $6, {free_slug}, $8, $9, $10 FROM caller
            WHERE (SELECT count(*) FROM vault every WHERE every.account_id = $1) < $11::bigint
            RETURNING id
        )
        INSERT INTO vault_directory (vault_id, account_id) SELECT v.id, $1 FROM v",
        free_slug = free_slug!("$7", "0")
    ),
);

/// Into the vault `$3`. Its pins come after those that it has.
static MEMBERS: Statement = Statement::non_idempotent(
    "import.members",
    formatcp!(
        "{CALLER}, v AS (
            UPDATE vault v SET prompt_count = v.prompt_count + cardinality($4::bigint[])
            WHERE v.account_id = $1 AND v.id = $3 AND {KEY_IS_VALID} RETURNING v.id
        )
        INSERT INTO vault_prompt (account_id, id, vault_id, prompt_id, kind, pin)
        SELECT $1, n.id, v.id, n.prompt_id, n.kind, n.pin + coalesce((
            SELECT max(other.pin) FROM vault_prompt other
            WHERE other.account_id = $1 AND other.vault_id = $3), 0)
        FROM v, unnest($4::bigint[], $5::bigint[], $6::text[], $7::bigint[])
            AS n (id, prompt_id, kind, pin)"
    ),
);

/// The memberships of a vault: ids, prompts, types and pins.
type Members = (Vec<i64>, Vec<i64>, Vec<&'static str>, Vec<Option<i64>>);

/// See [`AccountStore::import`](crate::store::AccountStore::import).
pub(super) async fn import(
    store: &PostgresStore,
    caller: &Caller,
    data: &AccountData,
) -> Result<()> {
    let db = &store.db;
    let present = store.vaults(caller).await?;
    let new = data.vaults.iter().filter(|(vault, _)| !vault.system).count();
    if int(present.len() + new) > store.vaults_max {
        return Err(StoreError::TooManyVaults);
    }
    let general = present.iter().find(|vault| vault.system).map(|vault| vault.id.get());
    let general = general.ok_or(StoreError::UnknownVault)?;
    let prompt_ids = ids(db, "prompt_id_seq", data.prompts.len()).await?;
    let mut vault_ids = ids(db, "vault_id_seq", new).await?.into_iter();
    let memberships = data.vaults.iter().map(|(_, members)| members.len()).sum();
    let mut member_ids = ids(db, "vault_prompt_id_seq", memberships).await?.into_iter();

    let (mut rows, mut imported) = (Vec::new(), HashMap::new());
    for ((prompt, inputs), id) in data.prompts.iter().zip(prompt_ids) {
        rows.push(prompt_row(id, prompt, inputs));
        imported.insert(prompt.id, (id, prompt.kind.as_str()));
    }
    let mut sent: Vec<(_, Values<'_>)> = vec![(&LOCK_ACCOUNT, vec![])];
    for batch in rows.chunks(ACCOUNT_ROWS_AT_ONCE as usize) {
        sent.push((&PROMPTS, vec![Box::new(Json(batch))]));
    }
    let mut members = BTreeMap::<i64, Members>::new();
    for (vault, contents) in &data.vaults {
        let mut id = general;
        if !vault.system {
            id = vault_ids.next().ok_or_else(no_id)?;
            let values: Values<'_> = vec![
                Box::new(id),
                Box::new(&*vault.name),
                Box::new(vault.description.as_deref()),
                Box::new(vault.visibility.as_str()),
                Box::new(slug::base(&vault.name)),
                Box::new(&vault.cover_image),
                Box::new(vault.created_at),
                Box::new(vault.updated_at),
                Box::new(store.vaults_max),
            ];
            sent.push((&VAULT, values));
        }
        let (ids, prompts, kinds, pins) = members.entry(id).or_default();
        // The last one to be added, and the last one to be pinned, are shown first.
        for (prompt, pinned) in contents.iter().rev() {
            let (prompt, kind) = imported.get(prompt).ok_or_else(no_id)?;
            ids.push(member_ids.next().ok_or_else(no_id)?);
            prompts.push(*prompt);
            kinds.push(*kind);
            pins.push(pinned.then_some(int(ids.len())));
        }
    }
    for (id, (ids, prompts, kinds, pins)) in members {
        let values: Values<'_> =
            vec![Box::new(id), Box::new(ids), Box::new(prompts), Box::new(kinds), Box::new(pins)];
        sent.push((&MEMBERS, values));
    }
    sent.push((&CONFIRM, vec![]));
    let params: Vec<_> = sent.iter().map(|(_, values)| refs(values)).collect();
    let steps = sent.iter().zip(&params).map(|((statement, _), params)| (*statement, &params[..]));
    let steps: Vec<Step<'_>> = steps.collect();
    db.row_of_steps(caller, Some(db.long_limit), &steps).await.map(drop)
}

async fn ids(db: &Db, sequence: &str, count: usize) -> Result<Vec<i64>> {
    let params: Params<'_> = &[&sequence, &int(count)];
    let rows = db.rows(By::Server, &IDS, params).await?;
    rows.iter().map(|row| column(row, 0)).collect()
}

fn no_id() -> StoreError {
    StoreError::Internal("an imported row has no id".into())
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
