//! Copies of vaults, also of other accounts.

use std::time::Duration;

use const_format::formatcp;
use promptarium::VaultId;
use tokio::time::Instant;
use tokio_postgres::{Error, Row};

use super::PostgresStore;
use super::connect::DbClient;
use super::db::{Params, Statement};
use super::memberships::ADD;
use super::rows::{self, CALLER, INPUT_COLUMNS, VAULT_COLUMNS, column};
use super::steps::{LOCK_ACCOUNT, OwnClient, Step, begin, limited, send};
use super::vaults::CREATE;
use crate::domain::{AccountId, Caller, VaultRecord, VaultVisibility, slug};
use crate::limits::LONG_WRITE_PROMPTS;
use crate::store::{Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&ACCOUNT_OF, &SOURCE, &COPY];

/// Forking is the one thing that reads another account: the one that the directory names.
static ACCOUNT_OF: Statement = Statement::read_only(
    "fork.account_of",
    formatcp!(
        "{CALLER} SELECT d.account_id FROM caller LEFT JOIN vault_directory d ON d.vault_id = $3"
    ),
);

/// The vault `$3` of the account `$4`.
static SOURCE: Statement = Statement::read_only(
    "fork.source",
    formatcp!(
        "{CALLER} SELECT {VAULT_COLUMNS}
         FROM caller LEFT JOIN vault v ON v.account_id = $4 AND v.id = $3"
    ),
);

/// Copies the prompts of the vault `$3` of the account `$2`, if the vault was not changed since
/// [`SOURCE`] read it. They come from one snapshot. Ids are assigned in the order of the SELECT.
/// Citus runs the subquery on the node of its account.
static COPY: Statement = Statement::non_idempotent(
    "fork.copy",
    formatcp!(
        "INSERT INTO prompt (account_id, {INPUT_COLUMNS}, images, created_at, updated_at)
         SELECT $1, {INPUT_COLUMNS}, images, $5, $5 FROM (
             SELECT one.* FROM vault v
             JOIN vault_prompt m ON m.account_id = $2 AND m.vault_id = v.id
             CROSS JOIN LATERAL (
                 SELECT * FROM prompt WHERE account_id = $2 AND id = m.prompt_id OFFSET 0
             ) one
             WHERE v.account_id = $2 AND v.id = $3 AND v.updated_at = $4
             ORDER BY m.id OFFSET 0
         ) p
         RETURNING id"
    ),
);

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
            if let Some(copy) = self.copy(caller, source, &vault).await? {
                return Ok(copy);
            }
        }
    }

    /// Copies a vault in one transaction; `None`, and no change, if it was changed meanwhile. Each
    /// statement reads one account, and writes one.
    async fn copy(
        &self,
        caller: &Caller,
        source: AccountId,
        vault: &VaultRecord,
    ) -> Result<Option<VaultRecord>> {
        let (account, key, private) = (caller.account.0, caller.key.0, "private");
        let (base, now) = (slug::base(&vault.name), self.db.now());
        let (description, cover) = (vault.description.as_deref(), vault.cover_image.as_ref());
        let most = self.vaults_max;
        let new: Params<'_> =
            &[&account, &key, &&*vault.name, &description, &private, &base, &now, &most, &cover];
        let steps: [Step<'_>; 3] = [
            (&LOCK_ACCOUNT, &[&account, &key]),
            (&CREATE, new),
            (&COPY, &[&account, &source.0, &vault.id.get(), &vault.updated_at, &now]),
        ];
        let is_long = vault.prompt_count > LONG_WRITE_PROMPTS.unsigned_abs();
        let limit = is_long.then_some(self.db.long_limit);
        let steps = &steps;
        let copying = |client: OwnClient| async move {
            let copied = copy_prompts(&client, caller, limit, steps, vault.prompt_count).await;
            if copied.is_err() {
                // The transaction may be open.
                let _ = send(&client, "", &[], "ROLLBACK").await;
            }
            copied
        };
        let (new, copied) = self.db.run(Some(caller), limit, steps, copying).await?;
        let new = rows::vault(&new.ok_or(StoreError::KeyRevoked)?)?;
        let new = new.ok_or(StoreError::TooManyVaults)?;
        let is_unchanged = copied > 0 || vault.prompt_count == 0;
        Ok(is_unchanged.then_some(VaultRecord { prompt_count: copied as u64, ..new }))
    }
}

/// Runs the steps of [`copy`], and puts the prompts that the last one has copied into the vault that
/// the one before has created. Returns its row, and how many they are. No prompt of a vault that had
/// some was copied if it was changed meanwhile; then nothing is done.
async fn copy_prompts(
    client: &DbClient,
    caller: &Caller,
    limit: Option<Duration>,
    steps: &[Step<'_>],
    expected: u64,
) -> Result<(Option<Row>, usize), Error> {
    let began = Instant::now();
    let mut rows = send(client, &begin(limit), steps, "").await?;
    let copied = rows.pop().unwrap_or_default();
    let ids = copied.iter().map(|row| row.try_get(0)).collect::<Result<Vec<i64>, _>>()?;
    let vault = rows.pop().unwrap_or_default().pop();
    let new = vault.as_ref().map(|row| row.try_get::<_, Option<i64>>(0)).transpose()?.flatten();
    match new.filter(|_| expected == 0 || !ids.is_empty()) {
        Some(new) => {
            let rest = limit.map(|limit| limited(limit.saturating_sub(began.elapsed())));
            let (account, key) = (&caller.account.0, &caller.key.0);
            let rest = rest.unwrap_or_default();
            send(client, &rest, &[(&ADD, &[account, key, &new, &ids])], "COMMIT").await?;
        }
        None => drop(send(client, "", &[], "ROLLBACK").await?),
    }
    Ok((vault, ids.len()))
}
