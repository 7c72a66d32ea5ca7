//! Copies of vaults, also of other accounts.

use promptarium::VaultId;

use super::PostgresStore;
use super::db::{Params, Statement};
use super::new_vaults::{self, LIMIT_DISTANCE, counted, free_slug, listed};
use super::rows::{self, caller, column, now, vault_columns};
use crate::domain::{AccountId, Caller, VaultRecord, slug};
use crate::store::{Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&ACCOUNT_OF, &SOURCE, &COPY];

/// Forking is the one thing that reads another account: the one that the directory names.
static ACCOUNT_OF: Statement = Statement::read_only(
    "fork.account_of",
    concat!(
        caller!(),
        " SELECT d.account_id FROM caller LEFT JOIN vault_directory d ON d.vault_id = $3",
    ),
);

/// The slug of the copy derives from the name of the source, so the name is read first, and
/// [`COPY`] copies only a source that still has that name. It reads everything else from one
/// snapshot.
static SOURCE: Statement = Statement::read_only(
    "fork.source",
    concat!(
        caller!(),
        " SELECT v.name, v.visibility = 'private' AS private, v.prompt_count
        FROM caller LEFT JOIN vault v ON v.account_id = $4 AND v.id = $3",
    ),
);

/// Copies the vault `$3` of the account `$4`. Identity values are assigned in the order of the
/// SELECT.
static COPY: Statement = Statement::non_idempotent(
    "fork.copy",
    concat!(
        caller!(),
        ", ",
        counted!("$8"),
        ", source AS (
            SELECT v.* FROM vault v CROSS JOIN counted
            WHERE v.account_id = $4 AND v.id = $3 AND v.name = $5 AND v.visibility <> 'private'
                AND counted.free
        ), v AS (
            INSERT INTO vault (account_id, name, description, cover_image_url, visibility, slug,
                prompt_count, created_at, updated_at)
            SELECT $1, source.name, source.description, source.cover_image_url, 'private', ",
        free_slug!("$6", "0"),
        ", source.prompt_count, ",
        now!("$7"),
        ", ",
        now!("$7"),
        " FROM source
            RETURNING *
        ), ",
        listed!(),
        ", prompts AS (
            INSERT INTO prompt (account_id, kind, title, body, platform, model_id, aspect_ratio,
                image_url, reference_media_urls, images, created_at, updated_at)
            SELECT $1, p.kind, p.title, p.body, p.platform, p.model_id, p.aspect_ratio,
                p.image_url, p.reference_media_urls, p.images, v.created_at, v.created_at
            FROM v CROSS JOIN vault_prompt m
                CROSS JOIN LATERAL (
                    SELECT * FROM prompt WHERE account_id = $4 AND id = m.prompt_id OFFSET 0
                ) p
            WHERE m.account_id = $4 AND m.vault_id = $3
            ORDER BY m.id
            RETURNING id, kind
        ), added AS (
            INSERT INTO vault_prompt (account_id, vault_id, prompt_id, kind)
            SELECT $1, v.id, prompts.id, prompts.kind FROM v, prompts
            ORDER BY prompts.id
        )
        SELECT ",
        vault_columns!(),
        ", counted.free FROM counted LEFT JOIN v ON true",
    ),
);

/// See [`VaultStore::fork_vault`](crate::store::VaultStore::fork_vault).
pub(super) async fn fork(
    store: &PostgresStore,
    caller: &Caller,
    id: VaultId,
) -> Result<VaultRecord> {
    let source = account_of(store, caller, id).await?;
    let (account, key, id) = (caller.account.0, caller.key.0, id.get());
    let mut most = store.vaults_max - LIMIT_DISTANCE;
    // Repeats near the limit of vaults, and while the source is renamed, hidden or deleted
    // between the statements.
    loop {
        let params: Params<'_> = &[&account, &key, &id, &source.0];
        let row = store.db.row_of_caller(caller, &SOURCE, params).await?;
        let name: &str = column::<Option<_>>(&row, "name")?.ok_or(StoreError::NotFound)?;
        if column(&row, "private")? {
            let own = source == caller.account;
            return Err(if own { StoreError::ForkOfPrivateVault } else { StoreError::NotFound });
        }
        let (base, now) = (slug::base(name), store.db.now());
        let params: Params<'_> = &[&account, &key, &id, &source.0, &name, &base, &now, &most];
        let prompts = column(&row, "prompt_count")?;
        let copy = new_vaults::insert(store, caller, (&COPY, params), most, prompts).await?;
        if let Some(vault) = copy.as_ref().map(rows::vault).transpose()?.flatten() {
            return Ok(vault);
        }
        let free = copy.is_some_and(|row| column(&row, "free").unwrap_or(false));
        match free {
            true => {}
            false if most < store.vaults_max => most = store.vaults_max,
            false => return Err(StoreError::TooManyVaults),
        }
    }
}

/// The account that has a vault. It never changes, so a vault in the cache may be gone, but is
/// never another account's.
async fn account_of(store: &PostgresStore, caller: &Caller, id: VaultId) -> Result<AccountId> {
    if let Some(account) = store.vault_accounts.get(&id) {
        return Ok(account);
    }
    let params: Params<'_> = &[&caller.account.0, &caller.key.0, &id.get()];
    let row = store.db.row_of_caller(caller, &ACCOUNT_OF, params).await?;
    let account = AccountId(column::<Option<_>>(&row, 0)?.ok_or(StoreError::NotFound)?);
    store.vault_accounts.insert(id, account);
    Ok(account)
}
