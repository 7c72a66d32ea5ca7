//! What the servers of a database remember: the signing key, public URLs, and where files are.

use tokio_postgres::Row;

use super::PostgresStore;
use super::db::{By, Params, Statement};
use super::rows::{column, one};
use crate::store::{Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&SET, &SETTINGS];

/// An existing value stays, unless it is `$3` or `$4` says that it may be any.
static SET: Statement = Statement::idempotent(
    "settings.set",
    "INSERT INTO setting (name, value) VALUES ($1, $2::bytea)
     ON CONFLICT (name) DO UPDATE SET value =
         CASE WHEN $4::boolean OR setting.value = $3::bytea THEN excluded.value
             ELSE setting.value END
     RETURNING value",
);

static SETTINGS: Statement =
    Statement::read_only("settings.all", "SELECT name, value FROM setting");

/// Begins the name of the setting that each public URL of the deployment is.
const PUBLIC_URL: &str = "public-url ";
/// The setting that is the blob store with the files of the database.
const BLOB_STORE: &str = "blob-store";
/// The setting that is the public URL of the server that was started last.
const LAST_PUBLIC_URL: &str = "last-public-url";

impl PostgresStore {
    /// The secret with which all servers of this database sign. The first server creates it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Internal`].
    pub async fn signing_key(&self) -> Result<Box<[u8]>, StoreError> {
        self.set("signing-key", &rand::random::<[u8; 32]>(), None, false).await
    }

    /// Remembers a public URL of this deployment, and returns all that it has had.
    ///
    /// # Errors
    /// As for [`PostgresStore::signing_key`].
    pub async fn add_public_url(&self, url: &str) -> Result<Vec<String>, StoreError> {
        self.set(&format!("{PUBLIC_URL}{url}"), b"", None, false).await?;
        let rows = self.db.rows(By::Server, &SETTINGS, &[]).await?;
        let names = rows.iter().map(|row| column(row, "name")).collect::<Result<Vec<&str>, _>>()?;
        let urls = names.into_iter().filter_map(|name| name.strip_prefix(PUBLIC_URL));
        Ok(urls.map(str::to_owned).collect())
    }

    /// What the database knows of the blob store with its files: `description` from now on, if it
    /// knew nothing or `instead_of`.
    ///
    /// # Errors
    /// As for [`PostgresStore::signing_key`].
    pub async fn blob_store(
        &self,
        description: &[u8],
        instead_of: Option<&[u8]>,
    ) -> Result<Box<[u8]>, StoreError> {
        self.set(BLOB_STORE, description, instead_of, false).await
    }

    /// Stores where clients reach the servers of this database, for [`PostgresStore::last_public_url`].
    pub(crate) async fn set_last_public_url(&self, url: &str) -> Result<(), StoreError> {
        self.set(LAST_PUBLIC_URL, url.as_bytes(), None, true).await.map(drop)
    }

    /// The public URL of the server that was started last.
    pub(crate) async fn last_public_url(&self) -> Result<Option<String>, StoreError> {
        let rows = self.db.rows(By::Server, &SETTINGS, &[]).await?;
        let is_last =
            |row: &&Row| column::<&str>(row, "name").is_ok_and(|name| name == LAST_PUBLIC_URL);
        let value = rows.iter().find(is_last).map(|row| column(row, "value")).transpose()?;
        Ok(value.map(|url| String::from_utf8_lossy(url).into_owned()))
    }

    /// Sets a value that has none, or the value `instead_of`, or with `always` any. Returns the
    /// value.
    async fn set(
        &self,
        name: &str,
        value: &[u8],
        instead_of: Option<&[u8]>,
        always: bool,
    ) -> Result<Box<[u8]>, StoreError> {
        let params: Params<'_> = &[&name, &value, &instead_of, &always];
        let rows = self.db.rows(By::Server, &SET, params).await?;
        column::<&[u8]>(one(&rows)?, "value").map(Box::from)
    }
}
