//! Changing and deleting a vault.

use promptarium::VaultId;

use super::super::caller::caller;
use super::super::db::{Db, Statement, column};
use super::super::rows::{self, vault_columns};
use super::get;
use crate::domain::{Caller, VaultPatch, VaultRecord, VaultVisibility, slug};
use crate::store::StoreError;

/// `found` is locked as for a new key, because its slug may change: a weaker lock
/// that grows could wait for a step that waits for it.
pub(super) static UPDATE: Statement = Statement::writing(
    "vaults.update",
    concat!(
        "WITH caller AS ",
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
        ", found.id IS NOT NULL AS found, v.id IS NOT NULL AS changed
        FROM caller LEFT JOIN found ON true LEFT JOIN changed v ON true",
    ),
);

/// Changes what the patch names.
pub(in super::super) async fn update(
    db: &Db,
    caller: &Caller,
    id: VaultId,
    patch: VaultPatch,
) -> Result<VaultRecord, StoreError> {
    if patch.is_empty() {
        return get(db, caller, id).await;
    }
    let VaultPatch { name, description, visibility } = patch;
    let base = name.as_deref().map(slug::base);
    let name = name.as_deref();
    let (describe, description) = (description.is_some(), description.flatten());
    let description = description.as_deref();
    let visibility = visibility.map(VaultVisibility::as_str);
    let now = db.now();
    let row = db
        .row_of_caller(
            &UPDATE,
            &[&caller.key.0, &id.get(), &name, &base, &describe, &description, &visibility, &now],
        )
        .await?;
    if !column::<bool>(&row, "found")? {
        return Err(StoreError::NotFound);
    }
    if !column::<bool>(&row, "changed")? {
        return Err(StoreError::SystemVaultRename);
    }
    rows::vault(&row)
}

/// What is a system vault stays one, so `system` may come from before a wait for
/// the row; whether the vault is still there may not.
pub(super) static DELETE: Statement = Statement::writing(
    "vaults.delete",
    concat!(
        "WITH caller AS ",
        caller!(),
        ", gone AS (
        DELETE FROM vault v USING caller
        WHERE v.account_id = caller.account_id AND v.id = $2 AND NOT v.system
        RETURNING 1
    )
    SELECT EXISTS (SELECT FROM gone) AS gone, coalesce(v.system, false) AS system
    FROM caller LEFT JOIN vault v ON v.account_id = caller.account_id AND v.id = $2",
    ),
);

/// Deletes a vault and, by the constraint on them, its memberships.
pub(in super::super) async fn delete(
    db: &Db,
    caller: &Caller,
    id: VaultId,
) -> Result<(), StoreError> {
    let row = db.row_of_caller(&DELETE, &[&caller.key.0, &id.get()]).await?;
    if column(&row, "gone")? {
        Ok(())
    } else if column(&row, "system")? {
        Err(StoreError::SystemVaultDelete)
    } else {
        Err(StoreError::NotFound)
    }
}
