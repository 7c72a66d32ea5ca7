//! Renaming and deleting accounts.
//!
//! An account is deleted in steps, each of which leaves its data consistent: keys and sessions but
//! the caller's are revoked, so that nobody else writes; then jobs, vaults and prompts go in
//! batches; at the end one transaction deletes the rest.

use async_trait::async_trait;
use const_format::concatcp;
use promptarium::{PromptId, VaultId};

use super::db::{Params, Statement};
use super::rows::{CALLER, KEY_IS_VALID, column};
use super::steps::Step;
use super::{PostgresStore, import, shared_vaults};
use crate::domain::{AccountData, AccountId, Caller, ListedPrompt, PromptImage, VaultRecord};
use crate::store::{AccountStore, Result, StoreError, VaultStore};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[
    &RENAME,
    &REVOKE_OTHERS,
    &NEXT_JOBS,
    &DELETE_JOBS,
    &NEXT_PROMPTS,
    &DELETE_PROMPTS,
    &DELETE_SESSIONS,
    &DELETE_CODES,
    &DELETE_ENTRY,
    &DELETE_GENERAL,
    &DELETE_KEYS,
    &DELETE_ACCOUNT,
];

/// Of two accounts that get the same name at once, one violates a constraint, and its statement is
/// sent again.
static RENAME: Statement = Statement::idempotent(
    "accounts.rename",
    concatcp!(
        CALLER,
        ", renamed AS (
            UPDATE account a SET name = $3::text
            WHERE a.id = $1 AND NOT EXISTS (
                SELECT 1 FROM account o WHERE o.name = $3::text AND o.id <> $1) AND ",
        KEY_IS_VALID,
        " RETURNING 1
        )
        SELECT EXISTS (SELECT FROM renamed) AS renamed FROM caller"
    ),
);

static REVOKE_OTHERS: Statement = Statement::idempotent(
    "accounts.revoke_others",
    concatcp!(
        CALLER,
        ", revoked AS (
            UPDATE api_key k SET revoked_at = coalesce(k.revoked_at, $3)
            WHERE k.account_id = $1 AND k.id <> $2 AND ",
        KEY_IS_VALID,
        " RETURNING 1
        )
        SELECT (SELECT count(*) FROM revoked) AS revoked FROM caller"
    ),
);

static NEXT_JOBS: Statement = Statement::read_only(
    "accounts.next_jobs",
    concatcp!(
        CALLER,
        " SELECT ARRAY(SELECT j.name_digest FROM job j
            WHERE j.account_id = $1 AND j.name_digest > $3::bytea
            ORDER BY j.name_digest LIMIT 1000) FROM caller"
    ),
);

static DELETE_JOBS: Statement = Statement::idempotent(
    "accounts.delete_jobs",
    concatcp!(
        CALLER,
        ", dequeued AS (
            DELETE FROM due_job d USING unnest($3::bytea[]) AS n (digest)
            WHERE d.account_id = $1 AND d.name_digest = n.digest
        ), deleted AS (
            DELETE FROM job j WHERE j.account_id = $1 AND j.name_digest = ANY ($3::bytea[]) AND ",
        KEY_IS_VALID,
        " RETURNING 1
        )
        SELECT (SELECT count(*) FROM deleted) AS deleted FROM caller"
    ),
);

static NEXT_PROMPTS: Statement = Statement::read_only(
    "accounts.next_prompts",
    concatcp!(
        CALLER,
        " SELECT ARRAY(SELECT p.id FROM prompt p
            WHERE p.account_id = $1 AND p.id > $3 ORDER BY p.id LIMIT 1000) FROM caller"
    ),
);

static DELETE_PROMPTS: Statement = Statement::idempotent(
    "accounts.delete_prompts",
    concatcp!(
        CALLER,
        ", removed AS (
            DELETE FROM vault_prompt m
            WHERE m.account_id = $1 AND m.prompt_id = ANY ($3::bigint[]) AND ",
        KEY_IS_VALID,
        " RETURNING m.vault_id
        ), in_count AS (
            UPDATE vault v SET prompt_count = v.prompt_count
                - (SELECT count(*) FROM removed WHERE removed.vault_id = v.id)
            WHERE v.account_id = $1 AND v.id IN (SELECT vault_id FROM removed)
        ), deleted AS (
            DELETE FROM prompt p WHERE p.account_id = $1 AND p.id = ANY ($3::bigint[]) AND ",
        KEY_IS_VALID,
        " RETURNING 1
        )
        SELECT (SELECT count(*) FROM deleted) AS deleted FROM caller"
    ),
);

static DELETE_SESSIONS: Statement = Statement::idempotent(
    "accounts.delete_sessions",
    "DELETE FROM session WHERE key_id = ANY (ARRAY(SELECT id FROM api_key WHERE account_id = $1))",
);

static DELETE_CODES: Statement = Statement::idempotent(
    "accounts.delete_codes",
    "DELETE FROM sign_in_code WHERE account_id = $1",
);

static DELETE_ENTRY: Statement = Statement::idempotent(
    "accounts.delete_entry",
    "DELETE FROM vault_directory WHERE account_id = $1 AND vault_id = $2",
);

static DELETE_GENERAL: Statement = Statement::idempotent(
    "accounts.delete_general",
    "DELETE FROM vault WHERE account_id = $1 AND id = $2",
);

static DELETE_KEYS: Statement =
    Statement::idempotent("accounts.delete_keys", "DELETE FROM api_key WHERE account_id = $1");

static DELETE_ACCOUNT: Statement =
    Statement::idempotent("accounts.delete", "DELETE FROM account WHERE id = $1 RETURNING id");

#[async_trait]
impl AccountStore for PostgresStore {
    async fn rename_account(&self, caller: &Caller, name: &str) -> Result<()> {
        let row = self.db.row_of_caller(caller, &RENAME, &[&name]).await?;
        if column(&row, "renamed")? { Ok(()) } else { Err(StoreError::AccountTaken) }
    }

    async fn delete_account(&self, caller: &Caller) -> Result<()> {
        let account = caller.account.0;
        self.db.row_of_caller(caller, &REVOKE_OTHERS, &[&self.db.now()]).await?;
        self.db.rows(&DELETE_CODES, &[&account]).await?;
        let mut digests = vec![Vec::new()];
        while let Some(last) = digests.last() {
            let next = self.db.row_of_caller(caller, &NEXT_JOBS, &[last]).await?;
            digests = column::<Vec<Vec<u8>>>(&next, 0)?;
            self.db.row_of_caller(caller, &DELETE_JOBS, &[&digests]).await?;
        }
        let vaults = self.vaults(caller).await?;
        for vault in vaults.iter().filter(|vault| !vault.system) {
            match self.delete_vault(caller, vault.id).await {
                Ok(()) | Err(StoreError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        let mut ids = vec![0_i64];
        while let Some(last) = ids.last() {
            let next = self.db.row_of_caller(caller, &NEXT_PROMPTS, &[last]).await?;
            ids = column::<Vec<i64>>(&next, 0)?;
            self.db.row_of_caller(caller, &DELETE_PROMPTS, &[&ids]).await?;
        }
        let general = vaults.iter().find(|vault| vault.system).map(|vault| vault.id.get());
        let (of_account, of_general): (Params<'_>, Params<'_>) =
            (&[&account], &[&account, &general]);
        let rest: [Step<'_>; 6] = [
            (&DELETE_SESSIONS, of_account),
            (&DELETE_CODES, of_account),
            (&DELETE_ENTRY, of_general),
            (&DELETE_GENERAL, of_general),
            (&DELETE_KEYS, of_account),
            (&DELETE_ACCOUNT, of_account),
        ];
        self.db.transaction(&rest).await.map(drop)
    }

    async fn import(&self, caller: &Caller, data: AccountData) -> Result<()> {
        import::import(self, caller, &data).await
    }

    async fn add_image(&self, caller: &Caller, prompt: PromptId, image: PromptImage) -> Result<()> {
        shared_vaults::add_image(&self.db, caller, prompt, image).await
    }

    async fn shared_vault(&self, account: &str, slug: &str) -> Result<(AccountId, VaultRecord)> {
        shared_vaults::find(&self.db, account, slug).await
    }

    async fn vault_page(
        &self,
        account: AccountId,
        vault: VaultId,
        offset: usize,
        limit: usize,
    ) -> Result<Vec<ListedPrompt>> {
        shared_vaults::page(&self.db, account, vault, offset, limit).await
    }
}
