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
use crate::store::{StoreError, Vaults, VaultsMark};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&LIST, &GET, &CREATE, &changes::UPDATE, &changes::DELETE];

/// In no order: to sort a thousand of them takes the database longer than to find
/// them, and next to nothing here. Without a vault if their mark is `$2`: `OFFSET 0`
/// keeps the look at the mark inside, where it is taken once and before any vault is
/// looked for.
static LIST: Statement = Statement::reading(
    "vaults.list",
    concat!(
        "WITH caller AS ",
        caller!(),
        " SELECT ",
        vault_columns!(),
        ", now.mark FROM caller
        CROSS JOIN LATERAL (
            SELECT bit_xor(mark) AS mark FROM vault WHERE account_id = caller.account_id
        ) AS now
        LEFT JOIN LATERAL (
            SELECT * FROM vault
            WHERE account_id = caller.account_id AND now.mark IS DISTINCT FROM $2::bigint
            OFFSET 0
        ) AS v ON true",
    ),
);

/// All vaults, newest first. By time before the id: of two vaults made at once the
/// one with the lesser id may have the later time.
pub(super) async fn list(
    db: &Db,
    caller: &Caller,
    known: Option<VaultsMark>,
) -> Result<Vaults, StoreError> {
    let read = |row: Row| Ok((there(&row)?, column::<Option<i64>>(&row, "mark")?));
    let known = known.map(|mark| mark.0);
    let found = db.records_of_caller(&LIST, &[&caller.key.0, &known], read).await?;
    let mark = found.first().and_then(|(_, mark)| *mark);
    if mark.is_some() && mark == known {
        return Ok(Vaults::Unchanged);
    }
    let mut vaults: Vec<_> = found.into_iter().filter_map(|(vault, _)| vault).collect();
    vaults.sort_unstable_by_key(|vault| Reverse((vault.created_at, vault.id)));
    Ok(Vaults::Listed { vaults, mark: mark.map(VaultsMark) })
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
