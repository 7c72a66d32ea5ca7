//! Vaults themselves, without what they hold.
//!
//! The smallest free slug is found by the database's function `free_slug`, which
//! makes those who want the same slug wait for one another; its base is computed
//! here, by [`slug`].

mod changes;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use promptarium::VaultId;
use tokio_postgres::Row;

pub(super) use self::changes::{delete, update};
use super::caller::caller;
use super::db::{Db, Statement, column};
use super::rows::{self, vault_columns};
use crate::domain::{Caller, NewVault, VaultRecord, slug};
use crate::store::StoreError;

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&LIST, &GET, &CREATE, &changes::UPDATE, &changes::DELETE];

/// Without `ORDER BY`: the client sorts a thousand rows faster than the database does.
static LIST: Statement = Statement::reading(
    "vaults.list",
    concat!(
        "WITH caller AS ",
        caller!(),
        " SELECT ",
        vault_columns!(),
        " FROM caller LEFT JOIN vault v ON v.account_id = caller.account_id",
    ),
);

/// All vaults, newest first. Sorted by time before id: of two vaults created
/// concurrently the one with the lesser id may have the later time.
pub(super) async fn list(db: &Db, caller: &Caller) -> Result<Vec<VaultRecord>, StoreError> {
    let found = db.records_of_caller(&LIST, &[&caller.key.0], |row: Row| there(&row)).await?;
    let mut vaults: Vec<_> = found.into_iter().flatten().collect();
    vaults.sort_unstable_by_key(|vault| Reverse((vault.created_at, vault.id)));
    Ok(vaults)
}

static GET: Statement = Statement::reading(
    "vaults.get",
    concat!(
        "WITH caller AS ",
        caller!(),
        " ",
        "SELECT ",
        vault_columns!(),
        " FROM caller LEFT JOIN vault v ON v.account_id = caller.account_id AND v.id = $2",
    ),
);

/// One vault.
pub(super) async fn get(db: &Db, caller: &Caller, id: VaultId) -> Result<VaultRecord, StoreError> {
    let row = db.row_of_caller(&GET, &[&caller.key.0, &id.get()]).await?;
    there(&row)?.ok_or(StoreError::NotFound)
}

static CREATE: Statement = Statement::writing(
    "vaults.create",
    concat!(
        "WITH caller AS ",
        caller!("$6"),
        ", v AS (
            INSERT INTO vault
                (account_id, name, description, visibility, slug, created_at, updated_at)
            SELECT account_id, $2, $3, $4, free_slug(account_id, $5, 0), now, now FROM caller
            RETURNING *
        )
        SELECT ",
        vault_columns!(),
        " FROM v",
    ),
);

/// Makes a vault.
pub(super) async fn create(
    db: &Db,
    caller: &Caller,
    NewVault { name, description, visibility }: NewVault,
) -> Result<VaultRecord, StoreError> {
    let (visibility, base, now) = (visibility.as_str(), slug::base(&name), db.now());
    let (name, description) = (&*name, description.as_deref());
    let row = db
        .row_of_caller(&CREATE, &[&caller.key.0, &name, &description, &visibility, &base, &now])
        .await?;
    rows::vault(&row)
}

/// The vault of a row, if the outer join that made the row found one.
fn there(row: &Row) -> Result<Option<VaultRecord>, StoreError> {
    let id: Option<i64> = column(row, 0)?;
    id.map(|_| rows::vault(row)).transpose()
}
