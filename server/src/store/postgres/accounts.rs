//! What the operator does, and what the servers of the database remember together.

use std::collections::BTreeMap;

use super::keys::{KEY_COLUMNS, key_record};
use super::prelude::*;

statements! {
    /// The account `$1`, unless its name is in use, another key has the public id `$4`, or `$5`
    /// asks for the first account and there is one. Of two at once with one name, one violates a
    /// constraint, runs again and finds the other's row.
    idempotent ACCOUNT "accounts.create"
        "INSERT INTO account (id, name, created_at)
         SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT 1 FROM account WHERE name = $2::text)
             AND NOT EXISTS (SELECT 1 FROM api_key WHERE public_id = $4::text)
             AND NOT ($5::boolean AND EXISTS (SELECT 1 FROM account ORDER BY id LIMIT 1))";
    /// The General vault of a new account. Whether the account was created.
    idempotent GENERAL "accounts.create_general"
        "WITH v AS (
             INSERT INTO vault (account_id, id, name, slug, visibility, system, created_at, updated_at)
             SELECT $1, $2, 'General', 'general', 'private', true, $3, $3 FROM account WHERE id = $1
             ON CONFLICT DO NOTHING RETURNING id
         ), in_directory AS (
             INSERT INTO vault_directory (vault_id, account_id) SELECT v.id, $1 FROM v
         )
         SELECT EXISTS (SELECT 1 FROM account WHERE id = $1)";
    /// The key `$2`, named `$8`, of the account `$1`, if there is an account `$7` or that is NULL.
    idempotent CREATE "keys.create"
        "WITH {NEW_KEY} INSERT INTO api_key
             (id, account_id, public_id, digest, prompts_write, created_at, revoked_at, name)
         SELECT new_key.id, a.id, $2, $3, $4, $6, CASE WHEN $5::boolean THEN $6::timestamptz END,
             $8
         FROM account a, new_key
         WHERE a.name = $1::text AND ($7::bigint IS NULL OR EXISTS (SELECT 1 FROM account WHERE
         id = $7))
             AND NOT EXISTS (SELECT 1 FROM api_key WHERE public_id = $2::text)";
    /// Whether the key `$2` is as [`CREATE`] creates it.
    read_only IS_SAME "keys.is_same"
        "SELECT EXISTS (SELECT 1 FROM api_key k JOIN account a ON a.id = k.account_id
             WHERE k.public_id = $2::text AND a.name = $1::text AND k.digest = $3::bytea
                 AND k.prompts_write = $4::boolean AND (k.revoked_at IS NOT NULL) = $5::boolean)";
    read_only ACCOUNTS "accounts.list"
        "SELECT name, created_at FROM account ORDER BY id";
    /// Of the account with the name `$1`, or of all. One row of NULLs of an account without keys.
    read_only KEYS "keys.list"
        "SELECT a.name AS account, {KEY_COLUMNS}
         FROM account a LEFT JOIN api_key k ON k.account_id = a.id AND {IS_NO_SESSION}
         WHERE $1::text IS NULL OR a.name = $1 ORDER BY a.id, k.id";
    /// Revoking again keeps the first time. A session is ended by its account, not here.
    idempotent REVOKE "keys.revoke"
        "UPDATE api_key k SET revoked_at = coalesce(k.revoked_at, $2)
         FROM account a
         WHERE k.public_id = $1::text AND a.id = k.account_id AND {IS_NO_SESSION}
         RETURNING a.name AS account, {KEY_COLUMNS}";
    /// An existing value stays, unless it is `$3` or `$4` says that it may be any.
    idempotent SET "settings.set"
        "INSERT INTO setting (name, value) VALUES ($1, $2::bytea)
         ON CONFLICT (name) DO UPDATE SET value =
             CASE WHEN $4::boolean OR setting.value = $3::bytea THEN excluded.value
                 ELSE setting.value END
         RETURNING value";
    read_only SETTINGS "settings.all" "SELECT name, value FROM setting";
}

#[async_trait]
impl AdminStore for PostgresStore {
    async fn create_account(&self, name: &str) -> Result<bool> {
        self.create(name, None, false).await
    }

    async fn accounts(&self) -> Result<Vec<(String, Timestamp)>> {
        let rows = self.db.rows(By::Server, &[(&ACCOUNTS, &[])]).await?;
        rows.iter().map(|row| Ok((column(row, 0)?, column(row, 1)?))).collect()
    }

    async fn keys(&self, account: Option<&str>) -> Result<Vec<KeyEntry>> {
        let rows = self.db.rows(By::Server, &[(&KEYS, &[&account])]).await?;
        if account.is_some() && rows.is_empty() {
            return Err(StoreError::NotFound);
        }
        all(&rows, entry)
    }

    async fn create_key(&self, account: &str, key: &NewKey) -> Result<bool> {
        self.create_in(&[], account, key, None).await
    }

    async fn revoke_key(&self, public_id: &str) -> Result<Option<KeyEntry>> {
        let params: Params<'_> = &[&public_id, &self.db.now()];
        Ok(all(&self.db.rows(By::Server, &[(&REVOKE, params)]).await?, entry)?.pop())
    }

    async fn seed_first_key(&self, account: &str, key: &NewKey) -> Result<bool> {
        self.create(account, Some(key), true).await
    }

    async fn settings(&self) -> Result<BTreeMap<String, Vec<u8>>> {
        let setting = |row: &Row| Ok((column(row, "name")?, column(row, "value")?));
        self.db.rows(By::Server, &[(&SETTINGS, &[])]).await?.iter().map(setting).collect()
    }

    async fn set(&self, name: &str, value: &[u8], replace: Replace<'_>) -> Result<Vec<u8>> {
        let only = if let Replace::Only(value) = replace { Some(value) } else { None };
        let params: Params<'_> = &[&name, &value, &only, &(replace == Replace::Any)];
        column(one(&self.db.rows(By::Server, &[(&SET, params)]).await?)?, "value")
    }
}

impl PostgresStore {
    /// Creates the account and the key if they do not exist, but nothing if another key has the
    /// public id, or if `first` and there is an account. Returns whether the key is then there, or
    /// without a key, whether the account is new.
    pub(super) async fn create(
        &self,
        name: &str,
        key: Option<&NewKey>,
        first: bool,
    ) -> Result<bool> {
        // So that each statement has the account as a parameter.
        let account = self.db.new_ids("account_id_seq", 1).await?.pop();
        let vault = self.db.new_ids("vault_id_seq", 1).await?.pop();
        let (now, public_id) = (self.db.now(), key.map(|key| &*key.public_id));
        let steps: &[Step<'_>] = &[
            (&ACCOUNT, &[&account, &name, &now, &public_id, &first]),
            (&GENERAL, &[&account, &vault, &now]),
        ];
        match key {
            None => column(one(&self.db.rows(By::Server, steps).await?)?, 0),
            Some(key) => self.create_in(steps, name, key, account.filter(|_| first)).await,
        }
    }

    /// Creates a key after these statements, and returns whether it is there.
    async fn create_in(
        &self,
        steps: &[Step<'_>],
        account: &str,
        key: &NewKey,
        only: Option<i64>,
    ) -> Result<bool> {
        let params: Params<'_> = &[
            &account,
            &&*key.public_id,
            &&key.digest[..],
            &key.scopes.prompts_write,
            &key.revoked,
            &self.db.now(),
            &only,
            &key.name.as_deref(),
        ];
        let steps = [steps, &[(&CREATE, params), (&IS_SAME, &params[..5])]].concat();
        column(one(&self.db.rows(By::Server, &steps).await?)?, 0)
    }
}

fn entry(row: &Row) -> Result<Option<KeyEntry>> {
    let Some(key) = key_record(row)? else { return Ok(None) };
    Ok(Some(KeyEntry { account: column(row, "account")?, key }))
}
