//! Databases for tests: each one new, with the schema and without data, and dropped when its
//! test ends.
//!
//! The variable `PROMPTARIUM_TEST_DATABASE_URL` names the server; `script/test` starts one and
//! sets it. The first database of a schema stays there as the template of all others, because
//! copying one takes less time than migrating one.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU32, Ordering};

use sha2::{Digest as _, Sha256};
use tokio::sync::OnceCell;
use tokio_postgres::Error;

use super::connect::Connector;
use super::migrate::LIST;
use super::url::DatabaseUrl;
use super::{ConnectError, PostgresStore};
use crate::store::Cause;

/// Names the server.
pub(crate) const VARIABLE: &str = "PROMPTARIUM_TEST_DATABASE_URL";

/// Any number, as long as all tests have the same: "scratch" in ASCII.
const LOCK: i64 = 0x0073_6372_6174_6368;

static CREATED: AtomicU32 = AtomicU32::new(0);

/// The name of the template on the server of this address.
static TEMPLATE: OnceCell<String> = OnceCell::const_new();

/// A database with the schema, dropped with this value.
#[derive(Debug)]
pub struct ScratchDatabase {
    name: String,
    server: Server,
}

/// Where the databases are created.
#[derive(Clone)]
struct Server {
    url: String,
}

/// Why there is no database to test with.
#[derive(Debug, thiserror::Error)]
pub enum NoScratch {
    #[error("{VARIABLE} is not set; script/test starts a PostgreSQL server and sets it")]
    Unset,
    #[error("{VARIABLE} is no address of a database: {0}")]
    Address(Cause),
    #[error("the server that {VARIABLE} names cannot be used: {0}")]
    Connect(#[from] ConnectError),
    #[error("the PostgreSQL server that {VARIABLE} names does not create a database")]
    Server(#[from] Error),
}

impl ScratchDatabase {
    /// Creates one with the schema that this program knows.
    ///
    /// # Errors
    /// If there is no server for it.
    pub async fn create() -> Result<Self, NoScratch> {
        let server = Server::named()?;
        let template = TEMPLATE.get_or_try_init(|| server.template()).await?;
        server.database(template).await
    }

    /// Creates one without a schema.
    ///
    /// # Errors
    /// If there is no server for it.
    pub async fn empty() -> Result<Self, NoScratch> {
        Server::named()?.database("template0").await
    }

    /// Its address.
    pub fn url(&self) -> String {
        self.server.url_of(&self.name)
    }
}

impl Server {
    fn named() -> Result<Self, NoScratch> {
        std::env::var(VARIABLE).map(|url| Self { url }).map_err(|_| NoScratch::Unset)
    }

    fn url_of(&self, database: &str) -> String {
        let (place, parameters) = match self.url.split_once('?') {
            Some((place, parameters)) => (place, format!("?{parameters}")),
            None => (&*self.url, String::new()),
        };
        let start = place.find("://").map_or(0, |at| at + 3);
        let end = place[start..].find('/').map_or(place.len(), |at| start + at);
        format!("{}/{database}{parameters}", &place[..end])
    }

    async fn database(&self, template: &str) -> Result<ScratchDatabase, NoScratch> {
        let name = fresh("scratch");
        self.command(&format!("CREATE DATABASE {name} TEMPLATE {template}")).await?;
        Ok(ScratchDatabase { name, server: self.clone() })
    }

    /// The name of the template, which is created if there is none. It is renamed when it is
    /// complete, so that a process that is killed meanwhile leaves no incomplete template.
    async fn template(&self) -> Result<String, NoScratch> {
        let mut schema = Sha256::new();
        LIST.iter().for_each(|version| schema.update(version.digest()));
        let mut name = "scratch_template_".to_owned();
        for byte in &schema.finalize()[..8] {
            let _ = write!(name, "{byte:02x}");
        }
        let client = self.connector()?.connect().await.map_err(ConnectError::from)?;
        // Held for as long as this connection is.
        client.batch_execute("SET statement_timeout = 0").await?;
        client.execute("SELECT pg_advisory_lock($1)", &[&LOCK]).await?;
        let there = "SELECT 1 FROM pg_database WHERE datname = $1";
        if client.query_opt(there, &[&name]).await?.is_none() {
            let unfinished = fresh("scratch_unfinished");
            client
                .batch_execute(&format!("CREATE DATABASE {unfinished} TEMPLATE template0"))
                .await?;
            let url = DatabaseUrl::parse(&self.url_of(&unfinished)).map_err(NoScratch::Address)?;
            PostgresStore::migrate(&url).await?;
            client.batch_execute(&format!("ALTER DATABASE {unfinished} RENAME TO {name}")).await?;
        }
        Ok(name)
    }

    fn connector(&self) -> Result<Connector, NoScratch> {
        Ok(Connector::new(&DatabaseUrl::parse(&self.url).map_err(NoScratch::Address)?))
    }

    /// A command on the server itself. On a busy machine one may take longer than a statement of
    /// the service may.
    async fn command(&self, text: &str) -> Result<(), NoScratch> {
        let client = self.connector()?.connect().await.map_err(ConnectError::from)?;
        client.batch_execute("SET statement_timeout = 0").await?;
        Ok(client.batch_execute(text).await?)
    }
}

/// A name that no other test has.
fn fresh(kind: &str) -> String {
    let (process, number) = (std::process::id(), CREATED.fetch_add(1, Ordering::Relaxed));
    format!("{kind}_{process}_{number}_{:08x}", rand::random::<u32>())
}

impl Drop for ScratchDatabase {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), std::mem::take(&mut self.name));
        // A runtime of its own: a test may end on one that drives nothing any more.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let dropped = runtime.map(|runtime| {
                let text = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
                runtime.block_on(server.command(&text))
            });
            // The server is thrown away after the tests in any case.
            drop(dropped);
        });
        let _ = dropping.join();
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}
