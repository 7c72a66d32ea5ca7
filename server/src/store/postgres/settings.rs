//! What the servers of a database remember: the signing key, public URLs, and where files are. Each
//! method fails with [`StoreError::Unavailable`](crate::store::StoreError::Unavailable) or
//! [`StoreError::Internal`](crate::store::StoreError::Internal).

use std::collections::BTreeMap;

use tokio_postgres::Row;

use super::PostgresStore;
use super::rows::{column, one};
use super::send::{By, Params};
use crate::store::Result;

statements! {
    /// An existing value stays, unless it is `$3` or `$4` says that it may be any.
    idempotent SET "settings.set"
        "INSERT INTO setting (name, value) VALUES ($1, $2::bytea)
         ON CONFLICT (name) DO UPDATE SET value =
             CASE WHEN $4::boolean OR setting.value = $3::bytea THEN excluded.value
                 ELSE setting.value END
         RETURNING value";
    read_only SETTINGS "settings.all" "SELECT name, value FROM setting";
}

/// Begins the name of the setting that each public URL of the deployment is.
const PUBLIC_URL: &str = "public-url ";
/// The public URL of the server that was started last.
const LAST_PUBLIC_URL: &str = "last-public-url";

#[allow(clippy::missing_errors_doc, reason = "the module says it")]
impl PostgresStore {
    /// The secret with which all servers of this database sign. The first server creates it.
    pub async fn signing_key(&self) -> Result<Box<[u8]>> {
        self.set("signing-key", &rand::random::<[u8; 32]>(), None, false).await
    }

    /// Remembers a public URL of this deployment, and returns all that it has had.
    pub async fn add_public_url(&self, url: &str) -> Result<Vec<String>> {
        self.set(&format!("{PUBLIC_URL}{url}"), b"", None, false).await?;
        let settings = self.settings().await?.into_keys();
        Ok(settings.filter_map(|name| name.strip_prefix(PUBLIC_URL).map(str::to_owned)).collect())
    }

    /// What the database knows of the blob store with its files: `description` from now on, if it
    /// knew nothing or `instead_of`.
    pub async fn blob_store(
        &self,
        description: &[u8],
        instead_of: Option<&[u8]>,
    ) -> Result<Box<[u8]>> {
        self.set("blob-store", description, instead_of, false).await
    }

    /// Stores where clients reach the servers of this database, for [`PostgresStore::last_public_url`].
    pub(crate) async fn set_last_public_url(&self, url: &str) -> Result<()> {
        self.set(LAST_PUBLIC_URL, url.as_bytes(), None, true).await.map(drop)
    }

    /// The public URL of the server that was started last.
    pub(crate) async fn last_public_url(&self) -> Result<Option<String>> {
        let url = self.settings().await?.remove(LAST_PUBLIC_URL);
        Ok(url.map(|url| String::from_utf8_lossy(&url).into_owned()))
    }

    async fn settings(&self) -> Result<BTreeMap<String, Vec<u8>>> {
        let setting = |row: &Row| Ok((column(row, "name")?, column(row, "value")?));
        self.db.rows(By::Server, &SETTINGS, &[]).await?.iter().map(setting).collect()
    }

    /// Sets a value that has none, or the value `instead_of`, or with `always` any. Returns the
    /// value.
    async fn set(
        &self,
        name: &str,
        value: &[u8],
        instead_of: Option<&[u8]>,
        always: bool,
    ) -> Result<Box<[u8]>> {
        let params: Params<'_> = &[&name, &value, &instead_of, &always];
        let rows = self.db.rows(By::Server, &SET, params).await?;
        column::<&[u8]>(one(&rows)?, "value").map(Box::from)
    }
}
