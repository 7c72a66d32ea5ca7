//! Accounts and API keys: authentication, seeding, and the commands of the operator.

use async_trait::async_trait;
use tokio_postgres::Row;

use super::PostgresStore;
use super::db::{Params, Statement};
use super::entries::{AccountEntry, KeyEntry, key_entry};
use super::rows::{caller, column, is_no_session};
use crate::domain::{AccountId, Caller, KeyId, KeyRecord, NewKey, Scopes};
use crate::store::{KeyStore, Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] =
    &[&ACCOUNT, &ACCOUNTS, &SEED, &FIRST, &FIND, &CONFIRM, &CREATE, &LIST, &LIST_OF, &REVOKE];

/// CTEs that create an account with its General vault if a condition holds: `$1` is its
/// name, `$2` the time. `fresh` has the time and the new ids, or no row.
macro_rules! new_account {
    ($condition:literal) => {
        concat!(
            "fresh AS MATERIALIZED (
                SELECT nextval('account_id_seq') AS account_id, nextval('vault_id_seq') AS vault_id,
                    coalesce($2::timestamptz, statement_timestamp()) AS now WHERE ",
            $condition,
            "), new_account AS (
                INSERT INTO account (id, name, created_at) SELECT account_id, $1, now FROM fresh
            ), new_vault AS (
                INSERT INTO vault
                    (account_id, id, name, slug, visibility, system, created_at, updated_at)
                SELECT account_id, vault_id, 'General', 'general', 'private', true, now, now
                FROM fresh
            ), listed AS (
                INSERT INTO vault_directory (vault_id, account_id)
                SELECT vault_id, account_id FROM fresh
            )"
        )
    };
}

/// The CTE that adds the key `$3` to `$7` to the account in `owner`, if there is one.
macro_rules! new_key {
    () => {
        "new_key AS (
            INSERT INTO api_key
                (account_id, public_id, digest, prompts_write, created_at, revoked_at, name)
            SELECT id, $3::text, $4::bytea, $5::boolean, now, CASE WHEN $6::boolean THEN now END,
                $7::text
            FROM owner
        )"
    };
}

static ACCOUNT: Statement = Statement::non_idempotent(
    "accounts.create",
    concat!(
        "WITH ",
        new_account!("NOT EXISTS (SELECT FROM account WHERE name = $1::text)"),
        " SELECT EXISTS (SELECT FROM fresh)"
    ),
);

static ACCOUNTS: Statement =
    Statement::read_only("accounts.list", "SELECT name, created_at FROM account ORDER BY id");

/// The account is created only if the key can be: nothing changes if another key has the
/// public id. Of two concurrent seeds one violates a constraint, runs again and finds the
/// other's rows.
static SEED: Statement = Statement::idempotent(
    "keys.seed",
    concat!(
        "WITH known AS (
            SELECT a.name = $1::text AND k.digest = $4::bytea AND k.prompts_write = $5::boolean
                AND (k.revoked_at IS NOT NULL) = $6::boolean AS same
            FROM api_key k JOIN account a ON a.id = k.account_id WHERE k.public_id = $3::text
        ), existing AS (
            SELECT id FROM account WHERE name = $1::text
        ), ",
        new_account!("NOT EXISTS (SELECT FROM existing) AND NOT EXISTS (SELECT FROM known)"),
        ", owner (id, now) AS (
            SELECT id, coalesce($2::timestamptz, statement_timestamp()) FROM existing
            WHERE NOT EXISTS (SELECT FROM known)
            UNION ALL SELECT account_id, now FROM fresh
        ), ",
        new_key!(),
        " SELECT coalesce((SELECT same FROM known), true)"
    ),
);

/// Not idempotent: a second execution would find the account of the first, report that it
/// created none, and the new key would never be shown.
static FIRST: Statement = Statement::non_idempotent(
    "keys.seed_first",
    concat!(
        "WITH ",
        new_account!("NOT EXISTS (SELECT FROM account ORDER BY id LIMIT 1)"),
        ", owner AS (SELECT account_id AS id, now FROM fresh), ",
        new_key!(),
        " SELECT EXISTS (SELECT FROM fresh)"
    ),
);

/// No row in `owner` if there is no such account.
static CREATE: Statement = Statement::non_idempotent(
    "keys.create",
    concat!(
        "WITH owner AS (
            SELECT id, coalesce($2::timestamptz, statement_timestamp()) AS now
            FROM account WHERE name = $1::text
        ), ",
        new_key!(),
        " SELECT EXISTS (SELECT FROM owner)"
    ),
);

static FIND: Statement = Statement::read_only(
    "keys.find",
    concat!(
        "SELECT id, account_id, public_id, digest, prompts_write, revoked_at IS NOT NULL AS revoked
        FROM api_key k WHERE public_id = $1::text AND ",
        is_no_session!()
    ),
);

static CONFIRM: Statement =
    Statement::read_only("keys.confirm", concat!(caller!(), " SELECT FROM caller"));

static LIST: Statement = Statement::read_only(
    "keys.list",
    concat!(
        "SELECT a.name AS account, k.public_id, k.name, k.prompts_write, k.created_at,
            k.last_used_at, k.revoked_at
        FROM api_key k JOIN account a ON a.id = k.account_id WHERE ",
        is_no_session!(),
        " ORDER BY k.account_id, k.id"
    ),
);

/// No row if there is no such account; one row of NULLs if it has no key.
static LIST_OF: Statement = Statement::read_only(
    "keys.list_of",
    concat!(
        "SELECT a.name AS account, k.public_id, k.name, k.prompts_write, k.created_at,
            k.last_used_at, k.revoked_at
        FROM account a LEFT JOIN api_key k ON k.account_id = a.id AND ",
        is_no_session!(),
        " WHERE a.name = $1::text ORDER BY k.id"
    ),
);

/// Revoking again keeps the first time. A session is ended by its account, not here.
static REVOKE: Statement = Statement::idempotent(
    "keys.revoke",
    concat!(
        "UPDATE api_key k
        SET revoked_at = coalesce(k.revoked_at, $2::timestamptz, statement_timestamp())
        FROM account a WHERE k.public_id = $1::text AND a.id = k.account_id AND ",
        is_no_session!(),
        " RETURNING a.name AS account, k.public_id, k.name, k.prompts_write, k.created_at,
            k.last_used_at, k.revoked_at"
    ),
);

#[async_trait]
impl KeyStore for PostgresStore {
    async fn seed_key(&self, account: &str, key: NewKey) -> Result<()> {
        if self.seed(&SEED, account, &key, None).await? {
            Ok(())
        } else {
            Err(StoreError::KeyTaken)
        }
    }

    async fn find_key(&self, public_id: &str, digest: &[u8; 32]) -> Result<Option<KeyRecord>> {
        if let Some(cached) = self.keys.find(public_id, digest) {
            return Ok(Some(cached));
        }
        let rows = self.db.look_up(&FIND, &[&public_id]).await?;
        let record = rows.first().map(key_record).transpose()?;
        if let Some(record) = record.as_ref().filter(|record| !record.key.revoked) {
            self.keys.insert(record.clone());
        }
        Ok(record)
    }

    async fn record_use(&self, key: &KeyRecord) -> Result<()> {
        self.keys.record_use(&self.db, &key.key.public_id);
        Ok(())
    }

    async fn confirm_key(&self, caller: &Caller) -> Result<()> {
        let params: Params<'_> = &[&caller.account.0, &caller.key.0];
        let outcome = self.db.rows_of_caller(caller, &CONFIRM, params).await;
        if let Err(StoreError::KeyRevoked) = outcome {
            self.keys.remove(caller.key);
        }
        outcome.map(drop)
    }
}

/// What the operator does. Fails with [`StoreError::Unavailable`] or [`StoreError::Internal`].
impl PostgresStore {
    /// Creates an account with its General vault; `false`, and no change, if the name is
    /// in use.
    pub(crate) async fn create_account(&self, name: &str) -> Result<bool> {
        flag(&self.db.rows(&ACCOUNT, &[&name, &self.db.now()]).await?)
    }

    /// All accounts, oldest first.
    pub(crate) async fn accounts(&self) -> Result<Vec<AccountEntry>> {
        let rows = self.db.rows(&ACCOUNTS, &[]).await?;
        let entry = |row| {
            Ok(AccountEntry { name: column(row, "name")?, created_at: column(row, "created_at")? })
        };
        rows.iter().map(entry).collect()
    }

    /// Creates a key of an existing account; `false` if there is no such account.
    pub(crate) async fn create_key(
        &self,
        account: &str,
        key: &NewKey,
        name: Option<&str>,
    ) -> Result<bool> {
        self.seed(&CREATE, account, key, name).await
    }

    /// All keys of all accounts, ordered by account, then by age.
    pub(crate) async fn keys(&self) -> Result<Vec<KeyEntry>> {
        let rows = self.db.rows(&LIST, &[]).await?;
        rows.iter().map(key_entry).collect()
    }

    /// All keys of one account, oldest first; `None` if there is no such account.
    pub(crate) async fn keys_of(&self, account: &str) -> Result<Option<Vec<KeyEntry>>> {
        let rows = self.db.rows(&LIST_OF, &[&account]).await?;
        if rows.is_empty() {
            return Ok(None);
        }
        let has_key = |row: &&Row| !matches!(row.try_get("public_id"), Ok(None::<&str>));
        rows.iter().filter(has_key).map(key_entry).collect::<Result<_>>().map(Some)
    }

    /// Revokes a key permanently, on every server of this database at once. `None` if
    /// there is no such key.
    pub async fn revoke_key(&self, public_id: &str) -> Result<Option<KeyEntry>> {
        let rows = self.db.rows(&REVOKE, &[&public_id, &self.db.now()]).await?;
        rows.first().map(key_entry).transpose()
    }

    /// Creates this account and this key if the database has no account at all, and
    /// returns whether it did. Of several concurrent calls one succeeds.
    pub(crate) async fn seed_first_key(&self, account: &str, key: &NewKey) -> Result<bool> {
        self.seed(&FIRST, account, key, None).await
    }

    async fn seed(
        &self,
        statement: &Statement,
        account: &str,
        key: &NewKey,
        name: Option<&str>,
    ) -> Result<bool> {
        let NewKey { public_id, digest, scopes, revoked } = key;
        let (now, public_id, digest) = (self.db.now(), &**public_id, &digest[..]);
        let params: Params<'_> =
            &[&account, &now, &public_id, &digest, &scopes.prompts_write, revoked, &name];
        flag(&self.db.rows(statement, params).await?)
    }
}

fn key_record(row: &Row) -> Result<KeyRecord> {
    let digest: &[u8] = column(row, "digest")?;
    let digest = digest.try_into().map_err(|error| StoreError::Internal(Box::new(error)))?;
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

/// The result of a statement that always returns one row.
fn flag(rows: &[Row]) -> Result<bool> {
    let row = rows.first().ok_or_else(|| StoreError::Internal("there is no row".into()))?;
    column(row, 0)
}
