//! Keys: finding them, seeding them, and whether they still hold.

pub(in crate::store::postgres) mod keep;

use std::fmt;
use std::sync::Arc;

use quick_cache::sync::Cache;
use tokio_postgres::Row;

use super::accounts::{GENERAL, flag, new_account};
use super::db::{Db, Params, Statement, column};
use crate::domain::{AccountId, Caller, KeyId, KeyRecord, NewKey, Scopes, slug};
use crate::limits::KEY_CACHE_SIZE;
use crate::store::StoreError;

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&SEED, &SEED_FIRST, &FIND, &CONFIRM];

/// The account is made only if the key can be: nothing happens where another key
/// has the public id. Of two servers that seed at once one breaks a constraint,
/// begins again, and finds everything there.
static SEED: Statement = Statement::settling(
    "keys.seed",
    concat!(
        "WITH known AS (
            SELECT a.name = $1::text AND k.digest = $5::bytea AND k.prompts_write = $6::boolean
                AND (k.revoked_at IS NOT NULL) = $7::boolean AS same
            FROM api_key k JOIN account a ON a.id = k.account_id WHERE k.public_id = $4::text
        ), there AS (
            SELECT id FROM account WHERE name = $1::text
        ), ",
        new_account!("NOT EXISTS (SELECT FROM there) AND NOT EXISTS (SELECT FROM known)"),
        ", owner AS (
            SELECT id FROM there UNION ALL SELECT account_id FROM fresh
        ), key_made AS (
            INSERT INTO api_key
                (account_id, public_id, digest, prompts_write, created_at, revoked_at)
            SELECT id, $4, $5, $6, now, CASE WHEN $7 THEN now END
            FROM owner, moment WHERE NOT EXISTS (SELECT FROM known)
        )
        SELECT coalesce((SELECT same FROM known), true) AS same"
    ),
);

/// Not to be sent again: the second one would find the account of the first and
/// say that it made none, and nobody would be told the key.
static SEED_FIRST: Statement = Statement::writing(
    "keys.seed_first",
    concat!(
        "WITH ",
        new_account!("NOT EXISTS (SELECT FROM account ORDER BY id LIMIT 1)"),
        ", key_made AS (
            INSERT INTO api_key
                (account_id, public_id, digest, prompts_write, created_at, revoked_at)
            SELECT account_id, $4::text, $5::bytea, $6::boolean, now,
                CASE WHEN $7::boolean THEN now END
            FROM fresh, moment
        )
        SELECT EXISTS (SELECT FROM fresh) AS made"
    ),
);

static FIND: Statement = Statement::reading(
    "keys.find",
    "SELECT id, account_id, public_id, digest, prompts_write, revoked_at IS NOT NULL AS revoked
     FROM api_key WHERE public_id = $1::text",
);

static CONFIRM: Statement = Statement::reading(
    "keys.confirm",
    "SELECT FROM api_key WHERE id = $1::bigint AND revoked_at IS NULL",
);

/// Keys that were found before, so that a request costs no look-up. Whether a key was revoked
/// since is checked by every statement. Only keys that exist get in, so that guessing keys
/// evicts none.
#[derive(Clone)]
pub(super) struct KeyCache(Arc<Cache<Box<str>, KeyRecord>>);

impl KeyCache {
    pub(super) fn new() -> Self {
        Self(Arc::new(Cache::new(KEY_CACHE_SIZE)))
    }

    /// A key, from the cache if it is there, which may miss that it was revoked.
    pub(super) async fn find(
        &self,
        db: &Db,
        public_id: &str,
    ) -> Result<Option<KeyRecord>, StoreError> {
        if let Some(cached) = self.0.get(public_id) {
            return Ok(Some(cached));
        }
        let rows = db.rows(&FIND, &[&public_id]).await?;
        let record = rows.first().map(record).transpose()?;
        if let Some(record) = record.as_ref().filter(|record| !record.key.revoked) {
            self.0.insert(record.key.public_id.clone(), record.clone());
        }
        Ok(record)
    }

    /// Whether a caller's key still holds. One that does not is forgotten, so that
    /// it costs no more than a key that never was.
    pub(super) async fn confirm(&self, db: &Db, caller: &Caller) -> Result<(), StoreError> {
        let outcome = db.rows_of_caller(&CONFIRM, &[&caller.key.0]).await;
        if let Err(StoreError::KeyRevoked) = outcome {
            self.0.retain(|_, record| record.id != caller.key);
        }
        outcome.map(drop)
    }
}

impl fmt::Debug for KeyCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyCache").finish_non_exhaustive()
    }
}

/// Makes the account and the key, or finds both as they should be.
pub(super) async fn seed(db: &Db, account: &str, key: &NewKey) -> Result<(), StoreError> {
    let same = send(db, &SEED, "same", account, key).await?;
    if same { Ok(()) } else { Err(StoreError::KeyTaken) }
}

/// Makes the account and the key if there is no account at all; whether it did.
pub(super) async fn seed_first(db: &Db, account: &str, key: &NewKey) -> Result<bool, StoreError> {
    send(db, &SEED_FIRST, "made", account, key).await
}

async fn send(
    db: &Db,
    statement: &Statement,
    answer: &str,
    account: &str,
    key: &NewKey,
) -> Result<bool, StoreError> {
    let NewKey { public_id, digest, scopes, revoked } = key;
    let (slug, public_id, digest) = (slug::base(GENERAL), &**public_id, &digest[..]);
    let now = db.now();
    let params: Params<'_> =
        &[&account, &slug, &now, &public_id, &digest, &scopes.prompts_write, revoked];
    flag(&db.rows(statement, params).await?, answer)
}

fn record(row: &Row) -> Result<KeyRecord, StoreError> {
    let digest: &[u8] = column(row, "digest")?;
    let digest = digest.try_into().map_err(|error| StoreError::Broken(Box::new(error)))?;
    Ok(KeyRecord {
        id: KeyId(column(row, "id")?),
        account: AccountId(column(row, "account_id")?),
        key: NewKey {
            public_id: column::<&str>(row, "public_id")?.into(),
            digest,
            scopes: Scopes { prompts_write: column(row, "prompts_write")? },
            revoked: column(row, "revoked")?,
        },
    })
}

#[cfg(test)]
mod tests;
