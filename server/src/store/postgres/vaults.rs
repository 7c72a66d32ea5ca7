//! Vaults, and the steps of transactions that put prompts into one.
//!
//! In these steps a subquery for each prompt is a look-up in an index; a join may read all prompts
//! of the account.

use std::cmp::Reverse;

use super::prelude::*;
use crate::limits::{LIST_ROWS_PER_ACCOUNT, LONG_WRITE_PROMPTS};

/// The first of `$base`, `$base-2`, `$base-3`… that no vault but `$besides` has: one of one more
/// than there are vaults is free. NOT EXISTS may be made a join with all vaults there are.
macro_rules! free_slug {
    ($base:literal, $besides:literal) => {
        formatcp!(
            "(SELECT choice.slug FROM (
                SELECT {}::text || CASE number WHEN 1 THEN '' ELSE '-' || number::text END AS slug
                FROM (SELECT generate_series(1, 1 + (
                    SELECT count(*) FROM vault own WHERE own.account_id = $1)) AS number) numbers
            ) choice
            WHERE (SELECT taken.id FROM vault taken WHERE taken.account_id = $1
                AND taken.slug = choice.slug AND taken.id <> {}) IS NULL
            LIMIT 1)",
            $base,
            $besides
        )
    };
}

/// Whether all prompts `$4` exist, unless `$5`. Where they are changed too, they have the model that
/// the change needs if `$6`, and fewer pictures than `$7`.
const MAY_PUT: &str = formatcp!(
    "{KEY_IS_VALID} AND ($5::boolean OR cardinality($4::bigint[]) = (SELECT count(*)
        FROM prompt k WHERE k.account_id = $1 AND k.account_id = v.account_id AND k.id = ANY ($4)
            AND (NOT $6::boolean OR k.model_id IS NOT NULL)
            AND ($7::bigint IS NULL OR jsonb_array_length(k.images) < $7)))"
);

statements! {
    /// Without `ORDER BY`: sorting here is faster than in the database.
    read_only LIST "vaults.list"
        "{CALLER} SELECT {VAULT_COLUMNS} FROM caller LEFT JOIN vault v ON v.account_id = $1";
    read_only NEWEST "vaults.newest"
        "{CALLER} SELECT {VAULT_COLUMNS} FROM caller LEFT JOIN (
            SELECT * FROM vault WHERE account_id = $1 ORDER BY id DESC LIMIT $3
        ) v ON true ORDER BY v.id DESC";
    read_only GET "vaults.get"
        "{CALLER} SELECT {VAULT_COLUMNS}
         FROM caller LEFT JOIN vault v ON v.account_id = $1 AND v.id = $3";
    /// After a lock on the account, so that of two new vaults at the limit `$10` one is refused. Of
    /// two at once that choose one slug, one violates the unique index and is sent again. Its id is
    /// `$11`, or a new one if that is NULL.
    pub(super) non_idempotent CREATE "vaults.create"
        "{CALLER}, new_vault AS MATERIALIZED (SELECT nextval('vault_id_seq') AS id), v AS (
            INSERT INTO vault (account_id, id, name, description, visibility, slug,
                cover_image_url, created_at, updated_at)
            SELECT $1, coalesce($11::bigint, new_vault.id), $3, $4, $5, {free_slug}, $7, $8, $9
            FROM caller, new_vault
            WHERE (SELECT count(*) FROM vault every WHERE every.account_id = $1) < $10::bigint
            RETURNING *
        ), in_directory AS (
            INSERT INTO vault_directory (vault_id, account_id) SELECT v.id, $1 FROM v
        )
        SELECT {VAULT_COLUMNS} FROM caller LEFT JOIN v ON true"
        { free_slug = free_slug!("$6", "0") };
    /// NULL leaves a column as it is; `$6` says whether the description becomes `$7`, and `$10`
    /// whether the cover becomes `$11`. FOR UPDATE because the slug, a key column, may change: an
    /// upgrade of a weaker lock could deadlock.
    pub(super) non_idempotent UPDATE "vaults.update"
        "{CALLER}, found AS (
            SELECT o.id, o.system, coalesce(o.name <> $4, false) AS renamed
            FROM vault o WHERE o.account_id = $1 AND o.id = $3 AND {KEY_IS_VALID} FOR UPDATE
        ), changed AS (
            UPDATE vault o SET
                name = coalesce($4, o.name),
                slug = CASE WHEN found.renamed THEN {free_slug} ELSE o.slug END,
                description = CASE WHEN $6 THEN $7 ELSE o.description END,
                visibility = coalesce($8, o.visibility),
                cover_image_url = CASE WHEN $10 THEN $11 ELSE o.cover_image_url END,
                updated_at = {later}
            FROM found
            WHERE o.account_id = $1 AND o.id = found.id AND NOT (found.system AND found.renamed)
            RETURNING o.*
        )
        SELECT {VAULT_COLUMNS}, found.id IS NOT NULL AS found
        FROM caller LEFT JOIN found ON true LEFT JOIN changed v ON true"
        { free_slug = free_slug!("$5", "$3"), later = later!("$9", "o.updated_at") };
    /// ON DELETE CASCADE deletes the memberships. `system` never changes, so it may come from the
    /// snapshot. A vault with more prompts than `$4` stays; NULL is no limit.
    non_idempotent DELETE "vaults.delete"
        "{CALLER}, deleted AS (
            DELETE FROM vault v
            WHERE v.account_id = $1 AND v.id = $3 AND NOT v.system
                AND v.prompt_count <= coalesce($4::bigint, v.prompt_count) AND {KEY_IS_VALID}
            RETURNING v.id
        ), not_in_directory AS (
            DELETE FROM vault_directory d USING deleted WHERE d.vault_id = deleted.id
        )
        SELECT EXISTS (SELECT FROM deleted) AS deleted, v.system
        FROM caller LEFT JOIN vault v ON v.account_id = $1 AND v.id = $3";
    /// In a transaction before a statement that changes the counts of the vaults `$3`.
    pub(super) idempotent LOCK_VAULTS "vaults.lock"
        "SELECT FROM vault v WHERE v.account_id = $1 AND v.id = ANY ($3::bigint[])
         AND {KEY_IS_VALID} ORDER BY v.id FOR NO KEY UPDATE";
    /// After locks on the vault `$3` and the prompts `$4`, before [`PUT`]: counts what it puts.
    pub(super) non_idempotent COUNT "memberships.count"
        "UPDATE vault v SET prompt_count = v.prompt_count + (
            SELECT count(*) FROM unnest($4::bigint[]) AS given (id)
            WHERE (SELECT p.id FROM prompt p WHERE p.account_id = $1 AND p.id = given.id) IS NOT NULL
                AND (SELECT m.id FROM vault_prompt m WHERE m.account_id = $1 AND m.vault_id = $3
                    AND m.prompt_id = given.id) IS NULL)
        WHERE v.account_id = $1 AND v.id = $3 AND {MAY_PUT}";
    /// Puts the prompts into the vault, in their order. On Citus only a statement that is an INSERT as a
    /// whole, and whose tables are joined by the account, stays on the node of the account. Without the
    /// title, an index that has no id behind the account would be read.
    pub(super) non_idempotent PUT "memberships.put"
        "INSERT INTO vault_prompt (account_id, vault_id, prompt_id, kind)
        SELECT $1, v.id, given.id, (SELECT coalesce(p.kind, p.title) FROM prompt p
            WHERE p.account_id = $1 AND p.account_id = v.account_id AND p.id = given.id)
        FROM vault v CROSS JOIN unnest($4::bigint[]) WITH ORDINALITY AS given (id, ord)
        WHERE v.account_id = $1 AND v.id = $3 AND (SELECT p.id FROM prompt p
            WHERE p.account_id = $1 AND p.account_id = v.account_id AND p.id = given.id) IS NOT NULL
            AND {MAY_PUT}
        ORDER BY given.ord
        ON CONFLICT (account_id, vault_id, prompt_id) DO NOTHING";
}

#[async_trait]
impl VaultStore for PostgresStore {
    async fn vaults(&self, caller: &Caller) -> Result<Vec<VaultRecord>> {
        // An account has two lists at once.
        let by = By::List(caller, LIST_ROWS_PER_ACCOUNT / 2);
        let mut vaults = rows::all(&self.db.rows(by, &[(&LIST, &[])]).await?, rows::vault)?;
        // Of two vaults created concurrently, the one with the lesser id may have the later time.
        vaults.sort_unstable_by_key(|vault| Reverse((vault.created_at, vault.id)));
        Ok(vaults)
    }

    async fn newest_vaults(&self, caller: &Caller, limit: usize) -> Result<Vec<VaultRecord>> {
        let by = By::List(caller, limit);
        rows::all(&self.db.rows(by, &[(&NEWEST, &[&int(limit)])]).await?, rows::vault)
    }

    async fn create_vault(&self, caller: &Caller, new: NewVault) -> Result<VaultRecord> {
        let new = new.record(self.db.now());
        let values = new_vault(&new, self.vaults_max, None);
        let steps = [(&LOCK_ACCOUNT, &[][..]), (&CREATE, &refs(&values))];
        let row = self.db.row_of_steps(By::Caller(caller), &steps).await?;
        rows::vault(&row)?.ok_or(StoreError::TooManyVaults)
    }

    async fn vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord> {
        let row = self.db.row_of_caller(caller, &GET, &[&id.get()]).await?;
        rows::vault(&row)?.ok_or(StoreError::NotFound)
    }

    async fn update_vault(
        &self,
        caller: &Caller,
        id: VaultId,
        patch: VaultPatch,
    ) -> Result<VaultRecord> {
        if patch == VaultPatch::default() {
            return self.vault(caller, id).await;
        }
        let VaultPatch { name, description, visibility, cover_image } = patch;
        let params: Params<'_> = &[
            &id.get(),
            &name.as_deref(),
            &name.as_deref().map(slug::base),
            &description.is_some(),
            &description.as_ref().and_then(Option::as_deref),
            &visibility.map(VaultVisibility::as_str),
            &self.db.now(),
            &cover_image.is_some(),
            &cover_image.flatten(),
        ];
        let row = self.db.row_of_caller(caller, &UPDATE, params).await?;
        match rows::vault(&row)? {
            Some(vault) => Ok(vault),
            None if column(&row, "found")? => Err(StoreError::SystemVaultRename),
            None => Err(StoreError::NotFound),
        }
    }

    async fn delete_vault(&self, caller: &Caller, id: VaultId) -> Result<()> {
        let id = id.get();
        let row = self.db.row_of_caller(caller, &DELETE, &[&id, &Some(LONG_WRITE_PROMPTS)]).await?;
        match (column(&row, "deleted")?, column(&row, "system")?) {
            (true, _) => return Ok(()),
            (false, Some(true)) => return Err(StoreError::SystemVaultDelete),
            (false, Some(false)) => {}
            (false, None) => return Err(StoreError::NotFound),
        }
        // It is large, or another request has deleted it.
        let any_size: Params<'_> = &[&id, &None::<i64>];
        let long = By::LongWrite(caller, self.db.long_limit);
        found(&self.db.row_of_steps(long, &[(&DELETE, any_size)]).await?)
    }

    async fn fork_vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord> {
        self.fork(caller, id).await
    }
}

/// The parameters of [`CREATE`]: a vault with a new slug and no contents, at most so many.
pub(super) fn new_vault(vault: &VaultRecord, vaults_max: i64, id: Option<i64>) -> Values<'_> {
    vec![
        Box::new(&*vault.name),
        Box::new(vault.description.as_deref()),
        Box::new(vault.visibility.as_str()),
        Box::new(slug::base(&vault.name)),
        Box::new(&vault.cover_image),
        Box::new(vault.created_at),
        Box::new(vault.updated_at),
        Box::new(vaults_max),
        Box::new(id),
    ]
}
