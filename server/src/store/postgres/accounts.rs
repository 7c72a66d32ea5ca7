//! Accounts, each with the vault it is made with.

use jiff::Timestamp;
use tokio_postgres::Row;

use super::PostgresStore;
use super::db::{Statement, column};
use crate::domain::slug;
use crate::store::StoreError;

/// What the vault is called that every account has.
pub(super) const GENERAL: &str = "General";

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&CREATE, &LIST];

/// Common table expressions that make an account with its General vault where a
/// condition holds: `$1` is its name, `$2` the slug of the vault, `$3` the time.
/// `moment` has the time, `fresh` the ids, or no row. Account and vault refer to
/// one another, which the database checks in the end.
macro_rules! new_account {
    ($condition:literal) => {
        concat!(
            "moment AS MATERIALIZED (
                SELECT coalesce($3::timestamptz, clock_timestamp()) AS now
            ), fresh AS MATERIALIZED (
                SELECT nextval('account_id_seq') AS account_id, nextval('vault_id_seq') AS vault_id
                WHERE ",
            $condition,
            "), account_made AS (
                INSERT INTO account (id, name, general_vault_id, created_at)
                SELECT account_id, $1::text, vault_id, now FROM fresh, moment
            ), vault_made AS (
                INSERT INTO vault
                    (account_id, id, name, slug, visibility, system, created_at, updated_at)
                SELECT account_id, vault_id, 'General', $2::text, 'private', true, now, now
                FROM fresh, moment
            )"
        )
    };
}
pub(super) use new_account;

static CREATE: Statement = Statement::writing(
    "accounts.create",
    concat!(
        "WITH ",
        new_account!("NOT EXISTS (SELECT FROM account WHERE name = $1::text)"),
        " SELECT EXISTS (SELECT FROM fresh) AS made"
    ),
);

static LIST: Statement =
    Statement::reading("accounts.list", "SELECT name, created_at FROM account ORDER BY id");

/// An account, as whoever runs the service sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountEntry {
    /// Its name, which no other account has.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
}

impl PostgresStore {
    /// Makes an account with its General vault; `false` if there is one of this
    /// name, and then nothing happens.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Broken`].
    pub async fn create_account(&self, name: &str) -> Result<bool, StoreError> {
        let slug = slug::base(GENERAL);
        let rows = self.db.rows(&CREATE, &[&name, &slug, &self.db.now()]).await?;
        flag(&rows, "made")
    }

    /// All accounts, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Broken`].
    pub async fn accounts(&self) -> Result<Vec<AccountEntry>, StoreError> {
        let rows = self.db.rows(&LIST, &[]).await?;
        let entry = |row| {
            Ok(AccountEntry { name: column(row, "name")?, created_at: column(row, "created_at")? })
        };
        rows.iter().map(entry).collect()
    }
}

/// What a statement says that always gives one row.
///
/// # Errors
/// [`StoreError::Broken`] if it does not.
pub(super) fn flag(rows: &[Row], name: &str) -> Result<bool, StoreError> {
    let row = rows.first().ok_or_else(|| StoreError::Broken("a statement gave no row".into()))?;
    column(row, name)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{caller, store};
    use crate::store::Store as _;

    #[tokio::test]
    async fn an_account_is_made_once() {
        let (store, _database) = store().await;
        assert!(store.create_account("alice").await.unwrap());
        assert!(!store.create_account("alice").await.unwrap());
        assert!(store.create_account("bob").await.unwrap());
        let names = store.accounts().await.unwrap().into_iter().map(|entry| entry.name);
        assert_eq!(names.collect::<Vec<_>>(), ["alice", "bob"]);
    }

    #[tokio::test]
    async fn many_at_once_make_one_account() {
        let (store, _database) = store().await;
        let all = (0..8).map(|_| store.create_account("alice"));
        let made = futures::future::try_join_all(all).await.unwrap();
        assert_eq!(made.into_iter().filter(|made| *made).count(), 1);
    }

    #[tokio::test]
    async fn an_account_comes_with_its_general_vault() {
        let (store, _database) = store().await;
        store.create_account("alice").await.unwrap();
        let caller = caller(&store, "alice").await;
        let general = GENERAL_OF.replace("$1", &caller.account.0.to_string());
        let client = store.db.exclusive().await.unwrap();
        let row = client.query_one(&general, &[]).await.unwrap();
        let texts: Vec<String> = (0..4).map(|at| row.get(at)).collect();
        assert_eq!(texts, ["General", "general", "private", "true 0"]);
        store.check().await.unwrap();
    }

    const GENERAL_OF: &str = "SELECT v.name, v.slug, v.visibility, v.system || ' ' || prompt_count
        FROM vault v JOIN account a ON a.id = v.account_id AND a.general_vault_id = v.id
        WHERE a.id = $1";
}
