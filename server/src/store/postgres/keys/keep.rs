//! Keys as whoever runs the service makes, lists and revokes them.

use jiff::Timestamp;
use tokio_postgres::Row;

use super::super::PostgresStore;
use super::super::db::{Params, Statement, column};
use crate::domain::{NewKey, Scopes};
use crate::store::StoreError;

#[cfg(test)]
pub(in crate::store::postgres) static ALL: &[&Statement] = &[&CREATE, &LIST, &LIST_OF, &REVOKE];

/// No row where there is no such account.
static CREATE: Statement = Statement::writing(
    "keys.create",
    "INSERT INTO api_key (account_id, public_id, digest, prompts_write, created_at, revoked_at)
     SELECT id, $2::text, $3::bytea, $4::boolean, at.now, CASE WHEN $5::boolean THEN at.now END
     FROM account, (SELECT coalesce($6::timestamptz, clock_timestamp()) AS now) at
     WHERE name = $1::text
     RETURNING id",
);

static LIST: Statement = Statement::reading(
    "keys.list",
    "SELECT a.name, k.public_id, k.prompts_write, k.created_at, k.revoked_at
     FROM api_key k JOIN account a ON a.id = k.account_id ORDER BY k.account_id, k.id",
);

/// No row where there is no such account, and one without a key where it has none.
static LIST_OF: Statement = Statement::reading(
    "keys.list_of",
    "SELECT a.name, k.public_id, k.prompts_write, k.created_at, k.revoked_at
     FROM account a LEFT JOIN api_key k ON k.account_id = a.id
     WHERE a.name = $1::text ORDER BY k.id",
);

/// A key that is revoked already keeps the time of that.
static REVOKE: Statement = Statement::settling(
    "keys.revoke",
    "UPDATE api_key k
     SET revoked_at = coalesce(k.revoked_at, $2::timestamptz, clock_timestamp())
     FROM account a
     WHERE k.public_id = $1::text AND a.id = k.account_id
     RETURNING a.name, k.public_id, k.prompts_write, k.created_at, k.revoked_at",
);

/// A key, as whoever runs the service sees it: nothing of its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEntry {
    /// The part of the key that names it.
    pub public_id: String,
    /// The name of its account.
    pub account: String,
    /// What it may do.
    pub scopes: Scopes,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
}

impl PostgresStore {
    /// Makes a key of an account that is there; `false` if it is not.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Broken`].
    pub async fn create_key(&self, account: &str, key: &NewKey) -> Result<bool, StoreError> {
        let NewKey { public_id, digest, scopes, revoked } = key;
        let (public_id, digest, now) = (&**public_id, &digest[..], self.db.now());
        let params: Params<'_> =
            &[&account, &public_id, &digest, &scopes.prompts_write, revoked, &now];
        Ok(!self.db.rows(&CREATE, params).await?.is_empty())
    }

    /// All keys of all accounts, in the order of accounts and then of their age.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Broken`].
    pub async fn keys(&self) -> Result<Vec<KeyEntry>, StoreError> {
        let rows = self.db.rows(&LIST, &[]).await?;
        rows.iter().map(entry).collect()
    }

    /// All keys of one account, oldest first; `None` if there is no such account.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Broken`].
    pub async fn keys_of(&self, account: &str) -> Result<Option<Vec<KeyEntry>>, StoreError> {
        let rows = self.db.rows(&LIST_OF, &[&account]).await?;
        if rows.is_empty() {
            return Ok(None);
        }
        let has_key = |row: &&Row| !matches!(row.try_get("public_id"), Ok(None::<&str>));
        rows.iter().filter(has_key).map(entry).collect::<Result<_, _>>().map(Some)
    }

    /// Revokes a key for good: no server of this database takes it from here on.
    /// `None` if there is no such key.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Broken`].
    pub async fn revoke_key(&self, public_id: &str) -> Result<Option<KeyEntry>, StoreError> {
        let rows = self.db.rows(&REVOKE, &[&public_id, &self.db.now()]).await?;
        rows.first().map(entry).transpose()
    }

    /// Makes this account and this key if there is no account at all; whether it
    /// did. Of many at once one does.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Broken`].
    pub async fn seed_first_key(&self, account: &str, key: &NewKey) -> Result<bool, StoreError> {
        super::seed_first(&self.db, account, key).await
    }
}

fn entry(row: &Row) -> Result<KeyEntry, StoreError> {
    Ok(KeyEntry {
        public_id: column(row, "public_id")?,
        account: column(row, "name")?,
        scopes: Scopes { prompts_write: column(row, "prompts_write")? },
        created_at: column(row, "created_at")?,
        revoked_at: column(row, "revoked_at")?,
    })
}
