//! Copies of vaults, also of other accounts.

use promptarium::VaultId;

use super::PostgresStore;
use super::import::new_ids;
use super::memberships::{ADD, NO_PINS};
use super::rows::{self, CALLER, INPUT_COLUMNS, KEY_IS_VALID, VAULT_COLUMNS, column};
use super::send::{LOCK_ACCOUNT, Step, refs};
use super::vaults::{self, new_vault};
use crate::domain::{AccountId, Caller, VaultRecord, VaultVisibility};
use crate::limits::LONG_WRITE_PROMPTS;
use crate::store::{Result, StoreError};

statements! {
    /// Forking is the one thing that reads another account: the one that the directory names.
    read_only ACCOUNT_OF "fork.account_of"
        "{CALLER} SELECT d.account_id FROM caller LEFT JOIN vault_directory d ON d.vault_id = $3";
    /// The vault `$3` of the account `$4`.
    read_only SOURCE "fork.source"
        "{CALLER} SELECT {VAULT_COLUMNS}
         FROM caller LEFT JOIN vault v ON v.account_id = $4 AND v.id = $3";
    /// Copies the prompts of the vault `$4` of the account `$3`, which get the first of the ids `$7`, if
    /// the vault was not changed since [`SOURCE`] read it and has not more prompts. They come from one
    /// snapshot. Citus runs the subquery on the node of its account.
    non_idempotent COPY "fork.copy"
        "INSERT INTO prompt (account_id, id, {INPUT_COLUMNS}, images, created_at, updated_at)
         SELECT $1, ($7::bigint[])[number], {INPUT_COLUMNS}, images, $6, $6 FROM (
             SELECT one.*, row_number() OVER (ORDER BY m.id) AS number FROM vault v
             JOIN vault_prompt m ON m.account_id = $3 AND m.vault_id = v.id
             CROSS JOIN LATERAL (
                 SELECT * FROM prompt WHERE account_id = $3 AND id = m.prompt_id OFFSET 0
             ) one
             WHERE v.account_id = $3 AND v.id = $4 AND v.updated_at = $5
                 AND v.prompt_count <= cardinality($7::bigint[])
             OFFSET 0
         ) p WHERE {KEY_IS_VALID}";
    /// Returns the new vault `$3`. Removes it if it has none of the `$5` prompts, since the source was
    /// changed, and removes the copies `$4` if there is no new vault, since the account has too many.
    non_idempotent FINISH "fork.finish"
        "{CALLER}, v AS (
             SELECT * FROM vault WHERE account_id = $1 AND id = $3
         ), copies AS (
             DELETE FROM prompt p WHERE p.account_id = $1 AND p.id = ANY ($4::bigint[])
                 AND NOT EXISTS (SELECT FROM v)
         ), deleted AS (
             DELETE FROM vault d WHERE d.account_id = $1 AND d.id = $3
                 AND d.prompt_count = 0 AND $5::bigint > 0
             RETURNING d.id
         ), not_in_directory AS (
             DELETE FROM vault_directory d USING deleted WHERE d.vault_id = deleted.id
         )
         SELECT {VAULT_COLUMNS} FROM caller LEFT JOIN v ON true";
}

impl PostgresStore {
    /// See [`VaultStore::fork_vault`](crate::store::VaultStore::fork_vault).
    pub(super) async fn fork(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord> {
        let row = self.db.row_of_caller(caller, &ACCOUNT_OF, &[&id.get()]).await?;
        let source = AccountId(column::<Option<_>>(&row, 0)?.ok_or(StoreError::NotFound)?);
        // Repeats while the source is changed, hidden or deleted between the statements.
        loop {
            let row = self.db.row_of_caller(caller, &SOURCE, &[&id.get(), &source.0]).await?;
            let vault = rows::vault(&row)?.ok_or(StoreError::NotFound)?;
            if vault.visibility == VaultVisibility::Private {
                return Err(match source == caller.account {
                    true => StoreError::ForkOfPrivateVault,
                    false => StoreError::NotFound,
                });
            }
            let copy = self.copy(caller, source, &vault).await?;
            if copy.prompt_count > 0 || vault.prompt_count == 0 {
                return Ok(copy);
            }
        }
    }

    /// Copies a vault in one transaction. Of a vault that was changed meanwhile nothing is copied, and
    /// the copy has no prompts. Each statement reads one account, and writes one.
    async fn copy(
        &self,
        caller: &Caller,
        source: AccountId,
        vault: &VaultRecord,
    ) -> Result<VaultRecord> {
        let is_long = vault.prompt_count > LONG_WRITE_PROMPTS.unsigned_abs();
        let limit = is_long.then_some(self.db.long_limit);
        let count = i64::try_from(vault.prompt_count).unwrap_or(i64::MAX);
        // More may be added before they are copied.
        let prompts = new_ids(&self.db, "prompt_id_seq", count + count / 8 + 64).await?;
        let id = new_ids(&self.db, "vault_id_seq", 1).await?.pop();
        let now = self.db.now();
        let visibility = VaultVisibility::Private;
        let new = VaultRecord { visibility, created_at: now, updated_at: now, ..vault.clone() };
        let new = new_vault(&new, self.vaults_max, id);
        let steps: [Step<'_>; 5] = [
            (&LOCK_ACCOUNT, &[]),
            (&vaults::CREATE, &refs(&new)),
            (&COPY, &[&source.0, &vault.id.get(), &vault.updated_at, &now, &prompts]),
            (&ADD, &[&id, &prompts, &NO_PINS, &true]),
            (&FINISH, &[&id, &prompts, &count]),
        ];
        let row = self.db.row_of_steps(caller, limit, &steps).await?;
        rows::vault(&row)?.ok_or(StoreError::TooManyVaults)
    }
}
