//! What the owner of an account does beside the API, and vaults that anybody may read.
//!
//! An account is deleted in steps, each of which leaves its data consistent: other keys and
//! sessions are revoked, so that nobody else writes; then jobs, vaults and prompts go in batches,
//! then the rest.

use super::db::permit;
use super::import;
use super::jobs::LEAVE_QUEUE;
use super::prelude::*;

statements! {
    /// Of two that get one name at once, one violates a constraint, and is sent again.
    idempotent RENAME "accounts.rename"
        "{CALLER}, renamed AS (
            UPDATE account a SET name = $3::text
            WHERE a.id = $1 AND {KEY_IS_VALID} AND NOT EXISTS (
                SELECT 1 FROM account o WHERE o.name = $3::text AND o.id <> $1)
            RETURNING 1
        )
        SELECT EXISTS (SELECT FROM renamed) FROM caller";
    /// Codes too, so that nobody signs in.
    idempotent REVOKE_OTHERS "accounts.revoke_others"
        "{CALLER}, revoked AS (
            UPDATE api_key k SET revoked_at = coalesce(k.revoked_at, $3)
            WHERE k.account_id = $1 AND k.id <> $2 AND {KEY_IS_VALID} RETURNING 1
        ), codes AS (
            DELETE FROM sign_in_code c WHERE c.account_id = $1 AND {KEY_IS_VALID}
        )
        SELECT (SELECT count(*) FROM revoked) FROM caller";
    /// The next ones after `$3`. The last of them is the next `$3`.
    idempotent DELETE_JOBS "accounts.delete_jobs"
        "{CALLER}, next AS MATERIALIZED (
            SELECT j.name_digest FROM job j
            WHERE j.account_id = $1 AND j.name_digest > $3::bytea
            ORDER BY j.name_digest LIMIT 1000
        ), ended AS (
            DELETE FROM job j WHERE j.account_id = $1 AND {KEY_IS_VALID}
                AND j.name_digest = ANY (ARRAY(SELECT name_digest FROM next))
            RETURNING j.name_digest
        ), {LEAVE_QUEUE}
        SELECT (SELECT name_digest FROM next ORDER BY name_digest DESC LIMIT 1) FROM caller";
    idempotent DELETE_PROMPTS "accounts.delete_prompts"
        "{CALLER}, next AS MATERIALIZED (
            SELECT p.id FROM prompt p WHERE p.account_id = $1 AND p.id > $3
            ORDER BY p.id LIMIT 1000
        ), removed AS (
            DELETE FROM vault_prompt m WHERE m.account_id = $1 AND {KEY_IS_VALID}
                AND m.prompt_id = ANY (ARRAY(SELECT id FROM next))
            RETURNING m.vault_id
        ), in_count AS (
            UPDATE vault v SET prompt_count = v.prompt_count
                - (SELECT count(*) FROM removed WHERE removed.vault_id = v.id)
            WHERE v.account_id = $1 AND v.id IN (SELECT vault_id FROM removed)
        ), deleted AS (
            DELETE FROM prompt p WHERE p.account_id = $1 AND {KEY_IS_VALID}
                AND p.id = ANY (ARRAY(SELECT id FROM next))
        )
        SELECT (SELECT max(id) FROM next) FROM caller";
    idempotent DELETE_WEBHOOKS "accounts.delete_webhooks"
        "WITH deliveries AS (
            DELETE FROM webhook_delivery d WHERE d.account_id = $1
         )
         DELETE FROM webhooks w WHERE w.account_id = $1";
    idempotent DELETE_GENERAL "accounts.delete_general"
        "WITH general AS (
            DELETE FROM vault v WHERE v.account_id = $1 AND v.system RETURNING v.id
         )
         DELETE FROM vault_directory d USING general WHERE d.vault_id = general.id";
    /// The last one. All tables of this statement are global.
    idempotent DELETE_ACCOUNT "accounts.delete"
        "WITH sessions AS (
            DELETE FROM session
            WHERE key_id = ANY (ARRAY(SELECT id FROM api_key WHERE account_id = $1))
         ), codes AS (
            DELETE FROM sign_in_code WHERE account_id = $1
         ), keys AS (
            DELETE FROM api_key WHERE account_id = $1
         )
         DELETE FROM account WHERE id = $1";
    read_only ACCOUNT "accounts.by_name"
        "SELECT id FROM account WHERE name = $1::text";
    read_only BY_SLUG "vaults.by_slug"
        "SELECT {VAULT_COLUMNS} FROM vault v
         WHERE v.account_id = $1 AND v.slug = $2::text AND v.visibility <> 'private'";
    read_only PROMPT "contents.prompt"
        "SELECT {PROMPT_COLUMNS} FROM prompt p WHERE p.account_id = $1 AND p.id = $2";
    /// Nested loops keep the innermost order.
    read_only PAGE "contents.page"
        "SELECT {PROMPT_COLUMNS}, p.membership, p.pinned FROM (
            SELECT m.id AS membership, m.pin IS NOT NULL AS pinned, one.* FROM (
                SELECT id, pin, prompt_id FROM vault_prompt
                WHERE account_id = $1 AND vault_id = $2
                ORDER BY pin DESC NULLS LAST, id DESC OFFSET $3 LIMIT $4
            ) m {EACH_PROMPT}
        ) p";
}

#[async_trait]
impl AccountStore for PostgresStore {
    async fn rename_account(&self, caller: &Caller, name: &str) -> Result<()> {
        let row = self.db.row_of_caller(caller, &RENAME, &[&name]).await?;
        if column(&row, 0)? { Ok(()) } else { Err(StoreError::AccountTaken) }
    }

    async fn delete_account(&self, caller: &Caller) -> Result<()> {
        self.db.row_of_caller(caller, &REVOKE_OTHERS, &[&self.db.now()]).await?;
        let mut last = Some(Vec::<u8>::new());
        while let Some(digest) = last {
            last = column(&self.db.row_of_caller(caller, &DELETE_JOBS, &[&digest]).await?, 0)?;
        }
        for vault in self.vaults(caller).await?.iter().filter(|vault| !vault.system) {
            match self.delete_vault(caller, vault.id).await {
                Ok(()) | Err(StoreError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        let mut last = Some(0_i64);
        while let Some(id) = last {
            last = column(&self.db.row_of_caller(caller, &DELETE_PROMPTS, &[&id]).await?, 0)?;
        }
        let account: Params<'_> = &[&caller.account.0];
        let rest =
            [(&DELETE_WEBHOOKS, account), (&DELETE_GENERAL, account), (&DELETE_ACCOUNT, account)];
        self.db.rows(By::Server, &rest).await.map(drop)
    }

    async fn import(&self, caller: &Caller, data: AccountData) -> Result<()> {
        import::import(self, caller, &data).await
    }

    async fn shared_vault(&self, account: &str, slug: &str) -> Result<(AccountId, VaultRecord)> {
        let rows = self.db.rows(By::LookUp, &[(&ACCOUNT, &[&account])]).await?;
        let account: i64 = column(rows.first().ok_or(StoreError::NotFound)?, 0)?;
        let rows = self.db.rows(By::LookUp, &[(&BY_SLUG, &[&account, &slug])]).await?;
        let vault = rows::all(&rows, rows::vault)?.pop();
        Ok((AccountId(account), vault.ok_or(StoreError::NotFound)?))
    }

    async fn shared_prompt(
        &self,
        account: AccountId,
        vault: VaultId,
        prompt: PromptId,
    ) -> Result<SharedPrompt> {
        let rows = self.db.rows(By::LookUp, &[(&PROMPT, &[&account.0, &prompt.get()])]).await?;
        let found = rows::all(&rows, rows::prompt)?.pop();
        let found = found.filter(|prompt| prompt.vault_ids.contains(&vault));
        found.ok_or(StoreError::NotFound)
    }

    async fn vault_page(
        &self,
        account: AccountId,
        vault: VaultId,
        offset: usize,
        limit: usize,
    ) -> Result<Vec<ListedPrompt>> {
        let _permit = permit(&self.db.list_rows, account, limit).await?;
        let params: Params<'_> = &[&account.0, &vault.get(), &int(offset), &int(limit)];
        let rows = self.db.rows(By::Server, &[(&PAGE, params)]).await?;
        rows::all(&rows, rows::listed_prompt)
    }
}
