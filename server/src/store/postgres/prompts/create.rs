//! Making a prompt.
//!
//! Only what the database chose comes back from it: the rest of the answer is what
//! was asked for.

use std::sync::Arc;

use jiff::Timestamp;
use promptarium::{PromptId, VaultId};
use tokio_postgres::Row;

use crate::domain::{Caller, NewPrompt, PromptRecord, SharedPrompt};
use crate::store::StoreError;
use crate::store::postgres::caller::caller;
use crate::store::postgres::db::{Db, Statement, column};

/// The new row; its other parameters are `$2` to `$9`.
macro_rules! insert {
    ($($from:expr),+) => {
        concat!(
            "INSERT INTO prompt AS p (
                 account_id, kind, title, body, platform, model_id, aspect_ratio, image_url,
                 reference_media_urls, created_at, updated_at
             )
             SELECT caller.account_id, $2, $3, $4, $5, $6, $7, $8, $9, caller.now, caller.now
             FROM ",
            $($from,)+
            " RETURNING p.account_id, p.id, p.kind, p.created_at"
        )
    };
}

/// The most frequent of all writes: nothing but the insert, which waits for no lock.
pub(super) static ALONE: Statement =
    Statement::writing("prompts.create", insert!(caller!("$10::timestamptz"), " caller"))
        .pipelined();

/// The vault is locked for its count, so that it is there to the end of this.
pub(super) static IN_VAULT: Statement = Statement::writing(
    "prompts.create_in_vault",
    concat!(
        "WITH caller AS MATERIALIZED ",
        caller!("$10::timestamptz"),
        ", target AS MATERIALIZED (
             SELECT v.id FROM caller
             JOIN vault v ON v.account_id = caller.account_id AND v.id = $11
             FOR NO KEY UPDATE OF v
         ), made AS (",
        insert!("caller CROSS JOIN target"),
        "), joined AS (
             INSERT INTO membership (account_id, vault_id, prompt_id, kind)
             SELECT made.account_id, target.id, made.id, made.kind FROM made CROSS JOIN target
         )
         SELECT made.account_id, made.id, made.kind, made.created_at
         FROM caller LEFT JOIN made ON true"
    ),
);

/// See [`Store::create_prompt`](crate::store::Store::create_prompt).
pub(in crate::store::postgres) async fn create(
    db: &Db,
    caller: &Caller,
    new: NewPrompt,
) -> Result<SharedPrompt, StoreError> {
    let row = send(db, caller, &new).await?;
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

async fn send(db: &Db, caller: &Caller, new: &NewPrompt) -> Result<Row, StoreError> {
    let (kind, title, text) = (new.kind.as_str(), &*new.title, &*new.text);
    let inputs = &new.inputs;
    let platform = new.platform.as_deref();
    let (model_id, aspect_ratio) = (inputs.model_id.as_deref(), inputs.aspect_ratio.as_deref());
    let image_url = inputs.image_url.as_deref();
    let media = inputs.reference_media_urls.as_deref();
    let (key, now, vault) = (caller.key.0, db.now(), new.vault.map(VaultId::get));
    let params: [&(dyn tokio_postgres::types::ToSql + Sync); 10] =
        [&key, &kind, &title, &text, &platform, &model_id, &aspect_ratio, &image_url, &media, &now];
    match &vault {
        None => db.row_of_caller(&ALONE, &params).await,
        Some(vault) => {
            let [a, b, c, d, e, f, g, h, i, j] = params;
            db.row_of_caller(&IN_VAULT, &[a, b, c, d, e, f, g, h, i, j, vault]).await
        }
    }
}
