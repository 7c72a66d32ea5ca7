//! The API keys of an account, as its owner sees them.

use std::cmp::Reverse;

use tokio_postgres::Row;

use super::db::{Db, Params, Statement};
use super::rows::{caller, column, is_no_session, new_id};
use super::steps::LOCK_ACCOUNT;
use crate::domain::{ApiKeyRecord, Caller, KeyId, NamedKey, Scopes};
use crate::limits::API_KEYS_MAX;
use crate::store::{Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&CREATE_KEY, &KEYS, &REVOKE_KEY];

/// The columns that [`api_key`] reads, of a table or subquery named `k`.
macro_rules! key_columns {
    () => {
        "k.id, k.public_id, k.name, k.prompts_write, k.created_at, k.last_used_at, k.revoked_at"
    };
}

/// In a transaction after a lock on the account, so that of two new keys at the limit one is
/// refused.
static CREATE_KEY: Statement = Statement::non_idempotent(
    "sessions.create_key",
    concat!(
        caller!(),
        ", ",
        new_id!("new_key", "api_key_id_seq"),
        ", counted AS MATERIALIZED (
            SELECT (SELECT count(*) FROM api_key k
                WHERE k.account_id = $1 AND k.revoked_at IS NULL AND ",
        is_no_session!(),
        ") < $8::bigint AS free FROM caller
        ), k AS (
            INSERT INTO api_key
                (id, account_id, public_id, digest, prompts_write, name, created_at, revoked_at)
            SELECT new_key.id, $1, $3::text, $4::bytea, $5::boolean, $6::text, $9, CASE WHEN $7::boolean THEN $9::timestamptz END FROM counted, new_key WHERE free
            ON CONFLICT (public_id) DO NOTHING
            RETURNING *
        )
        SELECT ",
        key_columns!(),
        ", counted.free FROM counted LEFT JOIN k ON true"
    ),
);

static KEYS: Statement = Statement::read_only(
    "sessions.keys",
    concat!(
        caller!(),
        " SELECT ",
        key_columns!(),
        " FROM caller LEFT JOIN api_key k ON k.account_id = $1 AND ",
        is_no_session!(),
    ),
);

/// Revoking again keeps the first time.
static REVOKE_KEY: Statement = Statement::idempotent(
    "sessions.revoke_key",
    concat!(
        caller!(),
        ", k AS (
            UPDATE api_key k SET revoked_at = coalesce(k.revoked_at, $4) FROM caller
            WHERE k.public_id = $3 AND k.account_id = $1 AND ",
        is_no_session!(),
        " RETURNING k.*
        )
        SELECT ",
        key_columns!(),
        " FROM caller LEFT JOIN k ON true"
    ),
);

/// See [`SessionStore::create_api_key`](crate::store::SessionStore::create_api_key).
pub(super) async fn create(db: &Db, caller: &Caller, new: NamedKey) -> Result<ApiKeyRecord> {
    let NamedKey { name, key } = new;
    let limit = i64::try_from(API_KEYS_MAX).unwrap_or(i64::MAX);
    let params: Params<'_> = &[
        &caller.account.0,
        &caller.key.0,
        &&*key.public_id,
        &&key.digest[..],
        &key.scopes.prompts_write,
        &&*name,
        &key.revoked,
        &limit,
        &db.now(),
    ];
    let account: Params<'_> = &[&caller.account.0];
    let steps = [(&LOCK_ACCOUNT, account), (&CREATE_KEY, params)];
    let row = db.row_of_steps(caller, &steps).await?;
    match api_key(&row)? {
        Some((_, key)) => Ok(key),
        None if column(&row, "free")? => Err(StoreError::KeyTaken),
        None => Err(StoreError::TooManyKeys),
    }
}

/// See [`SessionStore::api_keys`](crate::store::SessionStore::api_keys).
pub(super) async fn list(db: &Db, caller: &Caller) -> Result<Vec<ApiKeyRecord>> {
    let params: Params<'_> = &[&caller.account.0, &caller.key.0];
    let rows = db.rows_of_caller(caller, &KEYS, params).await?;
    let keys = rows.iter().filter_map(|row| api_key(row).transpose());
    let mut keys = keys.collect::<Result<Vec<_>>>()?;
    keys.sort_unstable_by_key(|(id, key)| Reverse((key.created_at, *id)));
    Ok(keys.into_iter().map(|(_, key)| key).collect())
}

/// See [`SessionStore::revoke_api_key`](crate::store::SessionStore::revoke_api_key).
pub(super) async fn revoke(
    db: &Db,
    caller: &Caller,
    public_id: &str,
) -> Result<(KeyId, ApiKeyRecord)> {
    let params: Params<'_> = &[&caller.account.0, &caller.key.0, &public_id, &db.now()];
    let row = db.row_of_caller(caller, &REVOKE_KEY, params).await?;
    api_key(&row)?.ok_or(StoreError::NotFound)
}

/// `None` if an outer join found no key.
fn api_key(row: &Row) -> Result<Option<(KeyId, ApiKeyRecord)>> {
    let Some(id) = column::<Option<i64>>(row, "id")? else { return Ok(None) };
    let key = ApiKeyRecord {
        public_id: column::<&str>(row, "public_id")?.into(),
        name: column::<Option<&str>>(row, "name")?.map(Into::into),
        scopes: Scopes { prompts_write: column(row, "prompts_write")? },
        created_at: column(row, "created_at")?,
        last_used_at: column(row, "last_used_at")?,
        revoked_at: column(row, "revoked_at")?,
    };
    Ok(Some((KeyId(id), key)))
}
