//! API keys: authentication, seeding, and the key commands of the operator.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use quick_cache::sync::Cache;
use tokio_postgres::Row;

use super::PostgresStore;
use super::accounts::{GENERAL, flag, new_account};
use super::db::{Params, Statement, column};
use crate::domain::{AccountId, Caller, KeyId, KeyRecord, NewKey, Scopes, slug};
use crate::limits::KEY_CACHE_SIZE;
use crate::store::{KeyStore, Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] =
    &[&SEED, &SEED_FIRST, &FIND, &CONFIRM, &CREATE, &LIST, &LIST_OF, &REVOKE];

/// The account is created only if the key can be: nothing changes if another key has the
/// public id. Of two concurrent seeds one violates a constraint, runs again and finds the
/// other's rows.
static SEED: Statement = Statement::idempotent(
    "keys.seed",
    concat!(
        "WITH known AS (
            SELECT a.name = $1::text AND k.digest = $5::bytea AND k.prompts_write = $6::boolean
                AND (k.revoked_at IS NOT NULL) = $7::boolean AS same
            FROM api_key k JOIN account a ON a.id = k.account_id WHERE k.public_id = $4::text
        ), existing AS (
            SELECT id FROM account WHERE name = $1::text
        ), ",
        new_account!("NOT EXISTS (SELECT FROM existing) AND NOT EXISTS (SELECT FROM known)"),
        ", owner AS (
            SELECT id FROM existing UNION ALL SELECT account_id FROM fresh
        ), new_key AS (
            INSERT INTO api_key
                (account_id, public_id, digest, prompts_write, created_at, revoked_at)
            SELECT id, $4, $5, $6, now, CASE WHEN $7 THEN now END
            FROM owner, clock WHERE NOT EXISTS (SELECT FROM known)
        )
        SELECT coalesce((SELECT same FROM known), true) AS same"
    ),
);

/// Not idempotent: a second execution would find the account of the first, report that it
/// created none, and the new key would never be shown.
static SEED_FIRST: Statement = Statement::non_idempotent(
    "keys.seed_first",
    concat!(
        "WITH ",
        new_account!("NOT EXISTS (SELECT FROM account ORDER BY id LIMIT 1)"),
        ", new_key AS (
            INSERT INTO api_key
                (account_id, public_id, digest, prompts_write, created_at, revoked_at)
            SELECT account_id, $4::text, $5::bytea, $6::boolean, now,
                CASE WHEN $7::boolean THEN now END
            FROM fresh, clock
        )
        SELECT EXISTS (SELECT FROM fresh) AS created"
    ),
);

static FIND: Statement = Statement::read_only(
    "keys.find",
    "SELECT id, account_id, public_id, digest, prompts_write, revoked_at IS NOT NULL AS revoked
     FROM api_key WHERE public_id = $1::text",
);

static CONFIRM: Statement = Statement::read_only(
    "keys.confirm",
    "SELECT FROM api_key WHERE id = $1::bigint AND revoked_at IS NULL",
);

/// No row if there is no such account.
static CREATE: Statement = Statement::non_idempotent(
    "keys.create",
    "INSERT INTO api_key (account_id, public_id, digest, prompts_write, created_at, revoked_at)
     SELECT id, $2::text, $3::bytea, $4::boolean, now, CASE WHEN $5::boolean THEN now END
     FROM account, (SELECT coalesce($6::timestamptz, clock_timestamp()) AS now) clock
     WHERE name = $1::text
     RETURNING id",
);

static LIST: Statement = Statement::read_only(
    "keys.list",
    "SELECT a.name, k.public_id, k.prompts_write, k.created_at, k.revoked_at
     FROM api_key k JOIN account a ON a.id = k.account_id ORDER BY k.account_id, k.id",
);

/// No row if there is no such account; one row of NULLs if it has no key.
static LIST_OF: Statement = Statement::read_only(
    "keys.list_of",
    "SELECT a.name, k.public_id, k.prompts_write, k.created_at, k.revoked_at
     FROM account a LEFT JOIN api_key k ON k.account_id = a.id
     WHERE a.name = $1::text ORDER BY k.id",
);

/// Revoking again keeps the first time.
static REVOKE: Statement = Statement::idempotent(
    "keys.revoke",
    "UPDATE api_key k
     SET revoked_at = coalesce(k.revoked_at, $2::timestamptz, clock_timestamp())
     FROM account a
     WHERE k.public_id = $1::text AND a.id = k.account_id
     RETURNING a.name, k.public_id, k.prompts_write, k.created_at, k.revoked_at",
);

/// Keys that were found before, so that a request costs no look-up. Whether a key was revoked
/// since is checked by every statement. Only keys that exist are cached, so that guessing keys
/// evicts none.
#[derive(Clone)]
pub(super) struct KeyCache(Arc<Cache<Box<str>, KeyRecord>>);

impl KeyCache {
    pub(super) fn new() -> Self {
        Self(Arc::new(Cache::new(KEY_CACHE_SIZE)))
    }
}

impl fmt::Debug for KeyCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyCache").finish_non_exhaustive()
    }
}

#[async_trait]
impl KeyStore for PostgresStore {
    async fn seed_key(&self, account: &str, key: NewKey) -> Result<()> {
        let same = self.seed(&SEED, "same", account, &key).await?;
        if same { Ok(()) } else { Err(StoreError::KeyTaken) }
    }

    async fn find_key(&self, public_id: &str) -> Result<Option<KeyRecord>> {
        if let Some(cached) = self.keys.0.get(public_id) {
            return Ok(Some(cached));
        }
        let rows = self.db.rows(&FIND, &[&public_id]).await?;
        let record = rows.first().map(key_record).transpose()?;
        if let Some(record) = record.as_ref().filter(|record| !record.key.revoked) {
            self.keys.0.insert(record.key.public_id.clone(), record.clone());
        }
        Ok(record)
    }

    async fn confirm_key(&self, caller: &Caller) -> Result<()> {
        let outcome = self.db.rows_of_caller(&CONFIRM, &[&caller.key.0]).await;
        if let Err(StoreError::KeyRevoked) = outcome {
            self.keys.0.retain(|_, record| record.id != caller.key);
        }
        outcome.map(drop)
    }
}

/// An API key as the operator sees it, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEntry {
    /// The public part of the key.
    pub public_id: String,
    /// The name of its account.
    pub account: String,
    /// What the key may do.
    pub scopes: Scopes,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
}

impl PostgresStore {
    /// Creates a key of an existing account; `false` if there is no such account.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Broken`].
    pub async fn create_key(&self, account: &str, key: &NewKey) -> Result<bool> {
        let NewKey { public_id, digest, scopes, revoked } = key;
        let (public_id, digest, now) = (&**public_id, &digest[..], self.db.now());
        let params: Params<'_> =
            &[&account, &public_id, &digest, &scopes.prompts_write, revoked, &now];
        Ok(!self.db.rows(&CREATE, params).await?.is_empty())
    }

    /// All keys of all accounts, ordered by account, then by age.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Broken`].
    pub async fn keys(&self) -> Result<Vec<KeyEntry>> {
        let rows = self.db.rows(&LIST, &[]).await?;
        rows.iter().map(key_entry).collect()
    }

    /// All keys of one account, oldest first; `None` if there is no such account.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Broken`].
    pub async fn keys_of(&self, account: &str) -> Result<Option<Vec<KeyEntry>>> {
        let rows = self.db.rows(&LIST_OF, &[&account]).await?;
        if rows.is_empty() {
            return Ok(None);
        }
        let has_key = |row: &&Row| !matches!(row.try_get("public_id"), Ok(None::<&str>));
        rows.iter().filter(has_key).map(key_entry).collect::<Result<_>>().map(Some)
    }

    /// Revokes a key permanently, on every server of this database at once. `None` if
    /// there is no such key.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Broken`].
    pub async fn revoke_key(&self, public_id: &str) -> Result<Option<KeyEntry>> {
        let rows = self.db.rows(&REVOKE, &[&public_id, &self.db.now()]).await?;
        rows.first().map(key_entry).transpose()
    }

    /// Creates this account and this key if the database has no account at all, and
    /// returns whether it did. Of several concurrent calls one succeeds.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Broken`].
    pub async fn seed_first_key(&self, account: &str, key: &NewKey) -> Result<bool> {
        self.seed(&SEED_FIRST, "created", account, key).await
    }

    async fn seed(
        &self,
        statement: &Statement,
        result: &str,
        account: &str,
        key: &NewKey,
    ) -> Result<bool> {
        let NewKey { public_id, digest, scopes, revoked } = key;
        let (slug, public_id, digest) = (slug::base(GENERAL), &**public_id, &digest[..]);
        let now = self.db.now();
        let params: Params<'_> =
            &[&account, &slug, &now, &public_id, &digest, &scopes.prompts_write, revoked];
        flag(&self.db.rows(statement, params).await?, result)
    }
}

fn key_record(row: &Row) -> Result<KeyRecord> {
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

fn key_entry(row: &Row) -> Result<KeyEntry> {
    Ok(KeyEntry {
        public_id: column(row, "public_id")?,
        account: column(row, "name")?,
        scopes: Scopes { prompts_write: column(row, "prompts_write")? },
        created_at: column(row, "created_at")?,
        revoked_at: column(row, "revoked_at")?,
    })
}
