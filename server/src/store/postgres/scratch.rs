//! Databases for tests: each one new, with the schema and without data, and dropped when its
//! test ends.
//!
//! The variable `PROMPTARIUM_TEST_DATABASE_URL` names the server; `script/test` starts one and
//! sets it. The first database of a schema stays there as the template of all others, because
//! copying one takes less time than migrating one.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::sync::OnceCell;
use tokio::time::timeout;
use url::Url;

use super::PostgresStore;
use super::connect::{Connector, DbClient};
use super::migrate::LIST;
use super::url::DatabaseUrl;
use crate::store::Cause;

/// Names the server.
const VARIABLE: &str = "PROMPTARIUM_TEST_DATABASE_URL";

/// Any number, as long as all tests have the same: "scratch" in ASCII.
const LOCK: i64 = 0x0073_6372_6174_6368;

/// The end of a test waits so long for its database to be dropped.
const DROP_WAIT: Duration = Duration::from_secs(3);

static CREATED: AtomicU32 = AtomicU32::new(0);

/// The name of the template on the server of this address.
static TEMPLATE: OnceCell<String> = OnceCell::const_new();

/// A database with the schema, dropped with this value.
#[derive(Debug)]
pub struct ScratchDatabase {
    name: String,
}

/// Why there is no database to test with.
#[derive(Debug, thiserror::Error)]
#[error("there is no database to test with: {0}")]
pub struct NoScratch(#[from] Cause);

impl ScratchDatabase {
    /// Creates one with the schema that this program knows.
    ///
    /// # Errors
    /// If there is no server for it.
    pub async fn create() -> Result<Self, NoScratch> {
        Ok(Self::copy(TEMPLATE.get_or_try_init(template).await?).await?)
    }

    /// Creates one without a schema.
    ///
    /// # Errors
    /// If there is no server for it.
    pub async fn empty() -> Result<Self, NoScratch> {
        Ok(Self::copy("template0").await?)
    }

    async fn copy(template: &str) -> Result<Self, Cause> {
        let name = fresh("scratch");
        let create = format!("CREATE DATABASE {name} TEMPLATE {template}");
        server().await?.batch_execute(&create).await?;
        Ok(Self { name })
    }

    /// Its address.
    pub fn url(&self) -> String {
        url_of(Some(&self.name)).unwrap_or_default()
    }

    /// A connection of its own.
    #[cfg(test)]
    pub(crate) async fn client(&self) -> tokio_postgres::Client {
        let url = self.url();
        let connecting = tokio_postgres::connect(&url, tokio_postgres::NoTls);
        let (client, connection) = connecting.await.unwrap();
        tokio::spawn(connection);
        client
    }
}

/// The address of this database, or of the server.
fn url_of(database: Option<&str>) -> Result<String, Cause> {
    let unset = "is not set; script/test starts a PostgreSQL server and sets it";
    let text = std::env::var(VARIABLE).map_err(|_| format!("{VARIABLE} {unset}"))?;
    let mut url = Url::parse(&text)?;
    if let Some(name) = database {
        url.set_path(name);
    }
    Ok(url.into())
}

/// A connection to the server. On a busy machine a command may take longer than a statement of the
/// service may.
async fn server() -> Result<DbClient, Cause> {
    let url = DatabaseUrl::parse(&url_of(None)?)?;
    let client = Connector::new(&url).connect().await?;
    client.batch_execute("SET statement_timeout = 0").await?;
    Ok(client)
}

/// The name of the template, which is created if there is none. It is renamed when it is
/// complete, so that a process that is killed meanwhile leaves no incomplete template.
async fn template() -> Result<String, Cause> {
    let mut schema = Sha256::new();
    LIST.iter().for_each(|version| schema.update(version.digest()));
    let digest = u64::from_be_bytes(*schema.finalize().first_chunk().unwrap_or(&[0; 8]));
    let name = format!("scratch_template_{digest:016x}");
    let client = server().await?;
    // Held for as long as this connection is.
    client.execute("SELECT pg_advisory_lock($1)", &[&LOCK]).await?;
    let there = "SELECT 1 FROM pg_database WHERE datname = $1";
    if client.query_opt(there, &[&name]).await?.is_none() {
        let unfinished = fresh("scratch_unfinished");
        let create = format!("CREATE DATABASE {unfinished} TEMPLATE template0");
        client.batch_execute(&create).await?;
        let url = DatabaseUrl::parse(&url_of(Some(&unfinished))?)?;
        PostgresStore::migrate(&url).await?;
        client.batch_execute(&format!("ALTER DATABASE {unfinished} RENAME TO {name}")).await?;
    }
    Ok(name)
}

/// A name that no other test has.
fn fresh(kind: &str) -> String {
    let (process, number) = (std::process::id(), CREATED.fetch_add(1, Ordering::Relaxed));
    format!("{kind}_{process}_{number}_{:08x}", rand::random::<u32>())
}

impl Drop for ScratchDatabase {
    fn drop(&mut self) {
        let drop = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        // A runtime of its own: a test may end on one that drives nothing any more.
        let dropping = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
            // The server is thrown away after the tests in any case. The command waits for a
            // connection that the test's runtime was opening, which this thread holds up.
            let dropped = async { server().await.ok()?.batch_execute(&drop).await.ok() };
            runtime.block_on(async { timeout(DROP_WAIT, dropped).await.ok()? })
        });
        let _ = dropping.join();
    }
}
