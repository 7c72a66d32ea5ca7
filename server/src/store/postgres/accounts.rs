//! Creating accounts, and keys of accounts for the operator.

use tokio_postgres::Row;

use super::PostgresStore;
use super::db::{Params, Statement};
use super::rows::{column, new_id};
use super::steps::Step;
use crate::domain::NewKey;
use crate::store::{Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] =
    &[&IDS, &ACCOUNT, &GENERAL, &LIST_GENERAL, &IS_NEW, &CREATE, &IS_SAME];

/// The ids of a new account and of its General vault, so that each statement below has the account
/// as a parameter.
static IDS: Statement = Statement::idempotent(
    "accounts.ids",
    "SELECT nextval('account_id_seq') AS account_id, nextval('vault_id_seq') AS vault_id",
);

/// The account `$1` with this name, unless the name is in use, another key has the public id `$4`,
/// or `$5` asks for the first account and there is one. Of two concurrent ones with one name, one
/// violates a constraint, runs again and finds the other's row.
static ACCOUNT: Statement = Statement::idempotent(
    "accounts.create",
    "INSERT INTO account (id, name, created_at)
     SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT 1 FROM account WHERE name = $2::text)
         AND NOT EXISTS (SELECT 1 FROM api_key WHERE public_id = $4::text)
         AND NOT ($5::boolean AND EXISTS (SELECT 1 FROM account ORDER BY id LIMIT 1))",
);

/// The General vault of a new account.
static GENERAL: Statement = Statement::idempotent(
    "accounts.create_general",
    "INSERT INTO vault
         (account_id, id, name, slug, visibility, system, created_at, updated_at)
     SELECT $1, $2, 'General', 'general', 'private', true, $3, $3 FROM account WHERE id = $1
     ON CONFLICT DO NOTHING",
);

static LIST_GENERAL: Statement = Statement::idempotent(
    "accounts.list_general",
    "INSERT INTO vault_directory (vault_id, account_id) SELECT $2, id FROM account WHERE id = $1
     ON CONFLICT DO NOTHING",
);

/// Whether the account was created.
static IS_NEW: Statement =
    Statement::read_only("accounts.is_new", "SELECT EXISTS (SELECT 1 FROM account WHERE id = $1)");

/// The key `$2`, named `$8`, of the account with the name `$1`, if there is an account `$7` or that is NULL.
static CREATE: Statement = Statement::idempotent(
    "keys.create",
    concat!(
        "WITH ",
        new_id!("new_key", "api_key_id_seq"),
        " INSERT INTO api_key
             (id, account_id, public_id, digest, prompts_write, created_at, revoked_at, name)
         SELECT new_key.id, a.id, $2, $3, $4, $6, CASE WHEN $5::boolean THEN $6::timestamptz END,
             $8
         FROM account a, new_key
         WHERE a.name = $1::text AND ($7::bigint IS NULL OR EXISTS (SELECT 1 FROM account WHERE id = $7))
             AND NOT EXISTS (SELECT 1 FROM api_key WHERE public_id = $2::text)",
    ),
);

/// Whether the key `$2` is as [`CREATE`] creates it.
static IS_SAME: Statement = Statement::read_only(
    "keys.is_same",
    "SELECT EXISTS (SELECT 1 FROM api_key k JOIN account a ON a.id = k.account_id
         WHERE k.public_id = $2::text AND a.name = $1::text AND k.digest = $3::bytea
             AND k.prompts_write = $4::boolean AND (k.revoked_at IS NOT NULL) = $5::boolean)",
);

impl PostgresStore {
    /// Creates, in one transaction, the account and the key if they do not exist. Nothing changes
    /// if another key has the public id, or if `first` and there is an account. Returns whether
    /// the key is then there, or without a key, whether the account is new.
    pub(super) async fn create(
        &self,
        name: &str,
        key: Option<&NewKey>,
        first: bool,
    ) -> Result<bool> {
        let ids = self.db.rows(&IDS, &[]).await?;
        let ids = ids.first().ok_or_else(|| StoreError::Internal("there are no ids".into()))?;
        let (account, vault) = (column::<i64>(ids, "account_id")?, column::<i64>(ids, "vault_id")?);
        let (now, public_id) = (self.db.now(), key.map(|key| &*key.public_id));
        let steps: [Step<'_>; 4] = [
            (&ACCOUNT, &[&account, &name, &now, &public_id, &first]),
            (&GENERAL, &[&account, &vault, &now]),
            (&LIST_GENERAL, &[&account, &vault]),
            (&IS_NEW, &[&account]),
        ];
        match key {
            None => flag(&self.db.transaction(None, &steps).await?),
            Some(key) => {
                self.create_in(&steps[..3], name, key, None, first.then_some(account)).await
            }
        }
    }

    /// Creates a key after these statements, and returns whether it is there.
    pub(super) async fn create_in(
        &self,
        steps: &[Step<'_>],
        account: &str,
        key: &NewKey,
        key_name: Option<&str>,
        only: Option<i64>,
    ) -> Result<bool> {
        let NewKey { public_id, digest, scopes, revoked } = key;
        let (public_id, digest) = (&**public_id, &digest[..]);
        let now = self.db.now();
        let params: Params<'_> = &[
            &account,
            &public_id,
            &digest,
            &scopes.prompts_write,
            revoked,
            &now,
            &only,
            &key_name,
        ];
        let key: [Step<'_>; 2] = [(&CREATE, params), (&IS_SAME, &params[..5])];
        flag(&self.db.transaction(None, &[steps, &key].concat()).await?)
    }
}

/// The result of a statement that always returns one row.
fn flag(rows: &[Row]) -> Result<bool> {
    let row = rows.first().ok_or_else(|| StoreError::Internal("there is no row".into()))?;
    column(row, 0)
}
