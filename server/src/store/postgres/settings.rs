//! What the servers of a database remember: the signing key, public URLs, and where files are.

use super::PostgresStore;
use super::db::Statement;
use super::rows::column;
use crate::store::{Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&SET, &SET_LAST_PUBLIC_URL, &LAST_PUBLIC_URL, &NAMES];

/// An existing value stays, unless it is `$3`.
static SET: Statement = Statement::idempotent(
    "settings.set",
    "INSERT INTO setting (name, value) VALUES ($1, $2::bytea)
     ON CONFLICT (name) DO UPDATE SET value =
         CASE WHEN setting.value = $3::bytea THEN excluded.value ELSE setting.value END
     RETURNING value",
);

static SET_LAST_PUBLIC_URL: Statement = Statement::idempotent(
    "settings.set_last_public_url",
    "INSERT INTO setting (name, value) VALUES ('last-public-url', $1::bytea)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value",
);

static LAST_PUBLIC_URL: Statement = Statement::read_only(
    "settings.last_public_url",
    "SELECT value FROM setting WHERE name = 'last-public-url'",
);

static NAMES: Statement = Statement::read_only("settings.names", "SELECT name FROM setting");

/// Begins the name of the setting that each public URL of the deployment is.
const PUBLIC_URL: &str = "public-url ";
/// The setting that is the blob store with the files of the database.
const BLOB_STORE: &str = "blob-store";

impl PostgresStore {
    /// The secret with which all servers of this database sign. The first server creates it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Internal`].
    pub async fn signing_key(&self) -> Result<Box<[u8]>, StoreError> {
        self.set("signing-key", &rand::random::<[u8; 32]>(), None).await
    }

    /// Remembers a public URL of this deployment, and returns all that it has had.
    ///
    /// # Errors
    /// As for [`PostgresStore::signing_key`].
    pub async fn add_public_url(&self, url: &str) -> Result<Vec<String>, StoreError> {
        self.set(&format!("{PUBLIC_URL}{url}"), b"", None).await?;
        let rows = self.db.rows(&NAMES, &[]).await?;
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
        self.set(BLOB_STORE, description, instead_of).await
    }

    /// Sets a value that has none, or the value `instead_of`. Returns the value.
    async fn set(
        &self,
        name: &str,
        value: &[u8],
        instead_of: Option<&[u8]>,
    ) -> Result<Box<[u8]>, StoreError> {
        let rows = self.db.rows(&SET, &[&name, &value, &instead_of]).await?;
        let row = rows.first().ok_or_else(|| StoreError::Internal("no setting".into()))?;
        column::<&[u8]>(row, "value").map(Box::from)
    }

    /// Stores where clients reach the servers of this database, for [`PostgresStore::last_public_url`].
    pub(crate) async fn set_last_public_url(&self, url: &str) -> Result<(), StoreError> {
        self.db.rows(&SET_LAST_PUBLIC_URL, &[&url.as_bytes()]).await.map(drop)
    }

    /// The public URL of the server that was started last.
    pub(crate) async fn last_public_url(&self) -> Result<Option<String>, StoreError> {
        let rows = self.db.rows(&LAST_PUBLIC_URL, &[]).await?;
        let text = |row| column::<&[u8]>(row, "value").map(String::from_utf8_lossy);
        Ok(rows.first().map(text).transpose()?.map(Into::into))
    }
}
