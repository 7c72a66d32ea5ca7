//! Vaults, without their contents.
//!
//! The database function `free_slug` finds the smallest free slug and serializes
//! concurrent requests for the same one. The base of the slug is computed here, by
//! [`slug`].

use std::cmp::Reverse;

use async_trait::async_trait;
use promptarium::VaultId;

use super::PostgresStore;
use super::db::{Params, Statement};
use super::rows::{self, caller, column, vault_columns};
use crate::domain::{Caller, NewVault, VaultPatch, VaultRecord, VaultVisibility, slug};
use crate::limits::{LIST_ROWS_PER_ACCOUNT, LONG_WRITE_PROMPTS};
use crate::store::{Result, StoreError, VaultStore};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&LIST, &GET, &CREATE, &UPDATE, &DELETE, &SOURCE, &COPY];

/// Without `ORDER BY`: sorting here is faster than in the database.
static LIST: Statement = Statement::read_only(
    "vaults.list",
    concat!(
        caller!(),
        " SELECT ",
        vault_columns!(),
        " FROM caller LEFT JOIN vault v ON v.account_id = caller.account_id",
    ),
);

static GET: Statement = Statement::read_only(
    "vaults.get",
    concat!(
        caller!(),
        " SELECT ",
        vault_columns!(),
        " FROM caller LEFT JOIN vault v ON v.account_id = caller.account_id AND v.id = $2",
    ),
);

static CREATE: Statement = Statement::non_idempotent(
    "vaults.create",
    concat!(
        caller!("$6"),
        ", counted AS MATERIALIZED (
            SELECT account_id, now, may_add_vault(account_id, $7) AS free FROM caller
        ), v AS (
            INSERT INTO vault
                (account_id, name, description, visibility, slug, created_at, updated_at)
            SELECT account_id, $2, $3, $4, free_slug(account_id, $5, 0), now, now
            FROM counted WHERE free
            RETURNING *
        )
        SELECT ",
        vault_columns!(),
        ", counted.free FROM counted LEFT JOIN v ON true",
    ),
);

/// NULL parameters leave their column unchanged; `$5` says whether the description becomes
/// `$6`.
///
/// `found` is locked FOR UPDATE because the slug, a key column, may change. A weaker lock
/// that is upgraded later could deadlock with a statement that waits for the row.
static UPDATE: Statement = Statement::non_idempotent(
    "vaults.update",
    concat!(
        caller!("$8"),
        ", found AS (
            SELECT o.account_id, o.id, o.system, coalesce(o.name <> $3, false) AS renamed
            FROM caller JOIN vault o ON o.account_id = caller.account_id AND o.id = $2
            FOR UPDATE OF o
        ), changed AS (
            UPDATE vault o SET
                name = coalesce($3, o.name),
                slug = CASE WHEN found.renamed
                    THEN free_slug(o.account_id, $4, o.id) ELSE o.slug END,
                description = CASE WHEN $5 THEN $6 ELSE o.description END,
                visibility = coalesce($7, o.visibility),
                updated_at = greatest(caller.now, o.updated_at + interval '1 microsecond')
            FROM caller, found
            WHERE o.account_id = found.account_id AND o.id = found.id
                AND NOT (found.system AND found.renamed)
            RETURNING o.*
        )
        SELECT ",
        vault_columns!(),
        ", found.id IS NOT NULL AS found
        FROM caller LEFT JOIN found ON true LEFT JOIN changed v ON true",
    ),
);

/// The memberships are deleted by ON DELETE CASCADE. `system` never changes, so it may
/// come from the statement's snapshot; whether the vault exists is decided by the DELETE. A vault
/// with more prompts than `$3` stays; NULL is no limit.
static DELETE: Statement = Statement::non_idempotent(
    "vaults.delete",
    concat!(
        caller!(),
        ", deleted AS (
            DELETE FROM vault v USING caller
            WHERE v.account_id = caller.account_id AND v.id = $2 AND NOT v.system
                AND v.prompt_count <= coalesce($3::bigint, v.prompt_count)
            RETURNING 1
        )
        SELECT EXISTS (SELECT FROM deleted) AS deleted, v.system
        FROM caller LEFT JOIN vault v ON v.account_id = caller.account_id AND v.id = $2",
    ),
);

/// Forking is the one thing that reads another account. The slug of the copy derives from the
/// name of the source, so the name is read first, and [`COPY`] copies only a source that still
/// has that name. It reads everything else from one snapshot.
static SOURCE: Statement = Statement::read_only(
    "fork.source",
    concat!(
        caller!(),
        " SELECT v.name, v.account_id = caller.account_id AS own,
            v.visibility = 'private' AS private, v.prompt_count
        FROM caller LEFT JOIN vault v ON v.id = $2",
    ),
);

/// Identity values are assigned in the order of the SELECT.
static COPY: Statement = Statement::non_idempotent(
    "fork.copy",
    concat!(
        caller!("$5"),
        ", counted AS MATERIALIZED (
            SELECT account_id, now, may_add_vault(account_id, $6) AS free FROM caller
        ), source AS (
            SELECT v.* FROM counted, vault v
            WHERE v.id = $2 AND v.name = $3 AND v.visibility <> 'private' AND counted.free
        ), copy AS (
            INSERT INTO vault (account_id, name, description, cover_image_url, visibility, slug,
                created_at, updated_at)
            SELECT counted.account_id, source.name, source.description, source.cover_image_url,
                'private', free_slug(counted.account_id, $4, 0), counted.now, counted.now
            FROM counted, source
            RETURNING *
        ), prompts AS (
            INSERT INTO prompt (account_id, kind, title, body, platform, model_id, aspect_ratio,
                image_url, reference_media_urls, images, created_at, updated_at)
            SELECT copy.account_id, p.kind, p.title, p.body, p.platform, p.model_id,
                p.aspect_ratio, p.image_url, p.reference_media_urls, p.images,
                copy.created_at, copy.created_at
            FROM copy, source
                JOIN membership m ON m.account_id = source.account_id AND m.vault_id = source.id
                JOIN prompt p ON p.account_id = m.account_id AND p.id = m.prompt_id
            ORDER BY m.id
            RETURNING id, kind
        ), added AS (
            INSERT INTO membership (account_id, vault_id, prompt_id, kind)
            SELECT copy.account_id, copy.id, prompts.id, prompts.kind FROM copy, prompts
            ORDER BY prompts.id
            RETURNING 1
        ), v AS (
            SELECT copy.id, copy.name, copy.description, copy.slug, copy.visibility,
                copy.cover_image_url, copy.system, (SELECT count(*) FROM added) AS prompt_count,
                copy.created_at, copy.updated_at
            FROM copy
        )
        SELECT ",
        vault_columns!(),
        ", counted.free FROM counted LEFT JOIN v ON true",
    ),
);

#[async_trait]
impl VaultStore for PostgresStore {
    async fn vaults(&self, caller: &Caller) -> Result<Vec<VaultRecord>> {
        let params: Params<'_> = &[&caller.key.0];
        // An account has two lists at once.
        let share = LIST_ROWS_PER_ACCOUNT / 2;
        let rows = self.db.list_of_caller(caller, &LIST, params, share).await?;
        let vaults = rows.iter().filter_map(|row| rows::vault(row).transpose());
        let mut vaults = vaults.collect::<Result<Vec<_>>>()?;
        // By time before id: of two vaults created concurrently, the one with the lesser
        // id may have the later time.
        vaults.sort_unstable_by_key(|vault| Reverse((vault.created_at, vault.id)));
        Ok(vaults)
    }

    async fn create_vault(&self, caller: &Caller, new: NewVault) -> Result<VaultRecord> {
        let NewVault { name, description, visibility } = new;
        let params: Params<'_> = &[
            &caller.key.0,
            &&*name,
            &description.as_deref(),
            &visibility.as_str(),
            &slug::base(&name),
            &self.db.now(),
            &self.vaults_max,
        ];
        let row = self.db.row_of_caller(caller, &CREATE, params).await?;
        rows::vault(&row)?.ok_or(StoreError::TooManyVaults)
    }

    async fn vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord> {
        let row = self.db.row_of_caller(caller, &GET, &[&caller.key.0, &id.get()]).await?;
        rows::vault(&row)?.ok_or(StoreError::NotFound)
    }

    async fn update_vault(
        &self,
        caller: &Caller,
        id: VaultId,
        patch: VaultPatch,
    ) -> Result<VaultRecord> {
        if patch.is_empty() {
            return self.vault(caller, id).await;
        }
        let VaultPatch { name, description, visibility } = patch;
        let params: Params<'_> = &[
            &caller.key.0,
            &id.get(),
            &name.as_deref(),
            &name.as_deref().map(slug::base),
            &description.is_some(),
            &description.as_ref().and_then(Option::as_deref),
            &visibility.map(VaultVisibility::as_str),
            &self.db.now(),
        ];
        let row = self.db.row_of_caller(caller, &UPDATE, params).await?;
        match rows::vault(&row)? {
            Some(vault) => Ok(vault),
            None if column(&row, "found")? => Err(StoreError::SystemVaultRename),
            None => Err(StoreError::NotFound),
        }
    }

    async fn delete_vault(&self, caller: &Caller, id: VaultId) -> Result<()> {
        let (key, id) = (caller.key.0, id.get());
        let params: Params<'_> = &[&key, &id, &Some(LONG_WRITE_PROMPTS)];
        let row = self.db.row_of_caller(caller, &DELETE, params).await?;
        match (column(&row, "deleted")?, column(&row, "system")?) {
            (true, _) => return Ok(()),
            (false, Some(true)) => return Err(StoreError::SystemVaultDelete),
            (false, Some(false)) => {}
            (false, None) => return Err(StoreError::NotFound),
        }
        // It is large, or another request has deleted it.
        let row = self.db.long_row_of_caller(caller, &DELETE, &[&key, &id, &None::<i64>]).await?;
        if column(&row, "deleted")? { Ok(()) } else { Err(StoreError::NotFound) }
    }

    async fn fork_vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord> {
        // Repeats only while the source is renamed, hidden or deleted between the statements.
        loop {
            let row = self.db.row_of_caller(caller, &SOURCE, &[&caller.key.0, &id.get()]).await?;
            let name: &str = column::<Option<_>>(&row, "name")?.ok_or(StoreError::NotFound)?;
            match (column(&row, "own")?, column(&row, "private")?) {
                (_, false) => {}
                (true, true) => return Err(StoreError::ForkOfPrivateVault),
                (false, true) => return Err(StoreError::NotFound),
            }
            let params: Params<'_> = &[
                &caller.key.0,
                &id.get(),
                &name,
                &slug::base(name),
                &self.db.now(),
                &self.vaults_max,
            ];
            let copy = match column::<i64>(&row, "prompt_count")? > LONG_WRITE_PROMPTS {
                true => self.db.long_row_of_caller(caller, &COPY, params).await?,
                false => self.db.row_of_caller(caller, &COPY, params).await?,
            };
            match rows::vault(&copy)? {
                Some(copy) => return Ok(copy),
                None if column(&copy, "free")? => {}
                None => return Err(StoreError::TooManyVaults),
            }
        }
    }
}
