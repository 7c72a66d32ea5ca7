//! Adding many prompts and vaults in one transaction: those of an export, and copies of vaults.
//!
//! Ids are taken from the sequences before, so that each statement has the rows of one account.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::keys::CONFIRM;
use super::memberships::PINS;
use super::prelude::*;
use super::vaults::{self, COUNT, LOCK_VAULTS, PUT, new_vault};
use crate::limits::{ACCOUNT_ROWS_AT_ONCE, LONG_WRITE_PROMPTS};

statements! {
    non_idempotent PROMPTS "import.prompts"
        "INSERT INTO prompt (account_id, id, {INPUT_COLUMNS}, images, created_at, updated_at)
         SELECT $1, id, {INPUT_COLUMNS}, images, created_at, updated_at
         FROM jsonb_to_recordset($3::jsonb) AS n (id bigint, kind text, title text, body text,
             platform text, model_id text, aspect_ratio text, image_url text,
             reference_media_urls text[], images jsonb, created_at timestamptz,
             updated_at timestamptz)
         WHERE {KEY_IS_VALID}";
    /// Forking is the one thing that reads another account: the one that the directory names.
    read_only ACCOUNT_OF "fork.account_of"
        "{CALLER} SELECT d.account_id FROM caller LEFT JOIN vault_directory d ON d.vault_id = $3";
    read_only SOURCE "fork.source"
        "{CALLER} SELECT {VAULT_COLUMNS}
         FROM caller LEFT JOIN vault v ON v.account_id = $4 AND v.id = $3";
    /// Copies the prompts of the vault `$4` of the account `$3`, which get the first of the ids
    /// `$7`, if it was not changed since [`SOURCE`] read it and has not more prompts. Citus runs
    /// the subquery on the node of its account.
    non_idempotent COPY "fork.copy"
        "INSERT INTO prompt (account_id, id, {INPUT_COLUMNS}, images, created_at, updated_at)
         SELECT $1, ($7::bigint[])[number], {INPUT_COLUMNS}, images, $6, $6 FROM (
             SELECT one.*, row_number() OVER (ORDER BY m.id) AS number FROM vault v
             JOIN vault_prompt m ON m.account_id = $3 AND m.vault_id = v.id
             CROSS JOIN LATERAL (
                 SELECT * FROM prompt WHERE account_id = $3 AND id = m.prompt_id OFFSET 0
             ) one
             WHERE v.account_id = $3 AND v.id = $4 AND v.updated_at = $5
                 AND v.prompt_count <= cardinality($7::bigint[])
             OFFSET 0
         ) p WHERE {KEY_IS_VALID}";
    /// Returns the new vault `$3`. Removes it if it has none of the `$5` prompts, as the source was
    /// changed, and the copies `$4` if there is no new vault, as the account has too many.
    non_idempotent FINISH "fork.finish"
        "{CALLER}, v AS (
             SELECT * FROM vault WHERE account_id = $1 AND id = $3
         ), copies AS (
             DELETE FROM prompt p WHERE p.account_id = $1 AND p.id = ANY ($4::bigint[])
                 AND NOT EXISTS (SELECT FROM v)
         ), deleted AS (
             DELETE FROM vault d WHERE d.account_id = $1 AND d.id = $3
                 AND d.prompt_count = 0 AND $5::bigint > 0
             RETURNING d.id
         ), not_in_directory AS (
             DELETE FROM vault_directory d USING deleted WHERE d.vault_id = deleted.id
         )
         SELECT {VAULT_COLUMNS} FROM caller LEFT JOIN v ON true";
}

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
    let prompt_ids = db.new_ids("prompt_id_seq", int(prompts.len())).await?;
    let vault_ids = db.new_ids("vault_id_seq", int(data.vaults.len())).await?;

    let (mut rows, mut imported, mut seen) = (Vec::new(), HashMap::new(), HashSet::new());
    for ((prompt, inputs), id) in prompts.iter().zip(prompt_ids) {
        rows.push(prompt_row(id, prompt, inputs));
        imported.insert(prompt.id, id);
    }
    let mut sent: Vec<(_, Values<'_>)> =
        vec![(&LOCK_ACCOUNT, vec![]), (&LOCK_VAULTS, vec![Box::new(vec![general])])];
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
            let prompt = *imported.get(prompt)?;
            seen.insert((id, prompt)).then_some((prompt, pinned.then_some(number)))
        });
        let (prompts, pins): (Vec<i64>, Vec<Option<i64>>) = members.unzip();
        for put in [&COUNT, &PUT] {
            let ids = Box::new(prompts.clone());
            let no_limit = Box::new(None::<i64>);
            sent.push((put, vec![Box::new(id), ids, Box::new(true), Box::new(false), no_limit]));
        }
        sent.push((&PINS, vec![Box::new(id), Box::new(prompts), Box::new(pins)]));
    }
    sent.push((&CONFIRM, vec![]));
    let params: Vec<_> = sent.iter().map(|(_, values)| refs(values)).collect();
    let steps = sent.iter().zip(&params);
    let steps: Vec<Step<'_>> = steps.map(|((one, _), params)| (*one, &params[..])).collect();
    db.row_of_steps(By::LongWrite(caller, db.long_limit), &steps).await.map(drop)
}

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

impl PostgresStore {
    pub(super) async fn fork(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord> {
        let row = self.db.row_of_caller(caller, &ACCOUNT_OF, &[&id.get()]).await?;
        let source = AccountId(column::<Option<_>>(&row, 0)?.ok_or(StoreError::NotFound)?);
        // Repeats while the source is changed, hidden or deleted between the statements.
        loop {
            let row = self.db.row_of_caller(caller, &SOURCE, &[&id.get(), &source.0]).await?;
            let vault = rows::vault(&row)?.ok_or(StoreError::NotFound)?;
            if vault.visibility == VaultVisibility::Private {
                return Err(match source == caller.account {
                    true => StoreError::ForkOfPrivateVault,
                    false => StoreError::NotFound,
                });
            }
            let copy = self.copy(caller, source, &vault).await?;
            if copy.prompt_count > 0 || vault.prompt_count == 0 {
                return Ok(copy);
            }
        }
    }

    /// Copies a vault in one transaction, nothing of one that was changed meanwhile. Each statement
    /// reads one account, and writes one.
    async fn copy(
        &self,
        caller: &Caller,
        source: AccountId,
        vault: &VaultRecord,
    ) -> Result<VaultRecord> {
        let is_long = vault.prompt_count > LONG_WRITE_PROMPTS.unsigned_abs();
        let long = By::LongWrite(caller, self.db.long_limit);
        let by = if is_long { long } else { By::Caller(caller) };
        let count = i64::try_from(vault.prompt_count).unwrap_or(i64::MAX);
        // More may be added before they are copied.
        let prompts = self.db.new_ids("prompt_id_seq", count + count / 8 + 64).await?;
        let id = self.db.new_ids("vault_id_seq", 1).await?.pop();
        let now = self.db.now();
        let visibility = VaultVisibility::Private;
        let new = VaultRecord { visibility, created_at: now, updated_at: now, ..vault.clone() };
        let new = new_vault(&new, self.vaults_max, id);
        let put: Params<'_> = &[&id, &prompts, &true, &false, &None::<i64>];
        let steps: [Step<'_>; 6] = [
            (&LOCK_ACCOUNT, &[]),
            (&vaults::CREATE, &refs(&new)),
            (&COPY, &[&source.0, &vault.id.get(), &vault.updated_at, &now, &prompts]),
            (&COUNT, put),
            (&PUT, put),
            (&FINISH, &[&id, &prompts, &count]),
        ];
        let row = self.db.row_of_steps(by, &steps).await?;
        rows::vault(&row)?.ok_or(StoreError::TooManyVaults)
    }
}
