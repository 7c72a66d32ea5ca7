//! Accounts. Each is created together with its General vault.

use jiff::Timestamp;
use tokio_postgres::Row;

use super::PostgresStore;
use super::db::{Statement, column};
use crate::domain::slug;
use crate::store::{Result, StoreError};

/// The name of the vault that every account has.
pub(super) const GENERAL: &str = "General";

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&CREATE, &LIST];

/// CTEs that create an account with its General vault if a condition holds: `$1` is its
/// name, `$2` the slug of the vault, `$3` the time. `clock` has the time; `fresh` has the
/// new ids, or no row. Account and vault reference each other through deferred
/// constraints, which are checked at commit.
macro_rules! new_account {
    ($condition:literal) => {
        concat!(
            "clock AS MATERIALIZED (
                SELECT coalesce($3::timestamptz, clock_timestamp()) AS now
            ), fresh AS MATERIALIZED (
                SELECT nextval('account_id_seq') AS account_id, nextval('vault_id_seq') AS vault_id
                WHERE ",
            $condition,
            "), new_account AS (
                INSERT INTO account (id, name, general_vault_id, created_at)
                SELECT account_id, $1::text, vault_id, now FROM fresh, clock
            ), new_vault AS (
                INSERT INTO vault
                    (account_id, id, name, slug, visibility, system, created_at, updated_at)
                SELECT account_id, vault_id, 'General', $2::text, 'private', true, now, now
                FROM fresh, clock
            )"
        )
    };
}
pub(super) use new_account;

static CREATE: Statement = Statement::non_idempotent(
    "accounts.create",
    concat!(
        "WITH ",
        new_account!("NOT EXISTS (SELECT FROM account WHERE name = $1::text)"),
        " SELECT EXISTS (SELECT FROM fresh) AS created"
    ),
);

static LIST: Statement =
    Statement::read_only("accounts.list", "SELECT name, created_at FROM account ORDER BY id");

/// An account as the operator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountEntry {
    /// Its unique name.
    pub name: String,
    /// When it was created.
    pub created_at: Timestamp,
}

impl PostgresStore {
    /// Creates an account with its General vault; `false`, and no change, if the name is
    /// in use.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Broken`].
    pub async fn create_account(&self, name: &str) -> Result<bool> {
        let slug = slug::base(GENERAL);
        let rows = self.db.rows(&CREATE, &[&name, &slug, &self.db.now()]).await?;
        flag(&rows, "created")
    }

    /// All accounts, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Broken`].
    pub async fn accounts(&self) -> Result<Vec<AccountEntry>> {
        let rows = self.db.rows(&LIST, &[]).await?;
        let entry = |row| {
            Ok(AccountEntry { name: column(row, "name")?, created_at: column(row, "created_at")? })
        };
        rows.iter().map(entry).collect()
    }
}

/// A boolean column of a statement that always returns one row.
///
/// # Errors
/// [`StoreError::Broken`] if it returned none.
pub(super) fn flag(rows: &[Row], name: &str) -> Result<bool> {
    let row =
        rows.first().ok_or_else(|| StoreError::Broken("the statement returned no row".into()))?;
    column(row, name)
}
