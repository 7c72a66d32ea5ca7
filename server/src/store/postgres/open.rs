//! Opening a store: connecting, checking what stands between us and the database, and
//! migrating the schema.

use tokio::time::timeout;
use tokio_postgres::Error;

use super::PostgresStore;
use super::client::DbClient;
use super::connect::{Connector, Unreachable, cause};
use super::db::Db;
use super::keys::KeyCache;
use super::migrate::{self, MigrateError, Migration};
use super::notify::JobNotifier;
use super::pool::pool;
use super::shared::SharedClients;
use super::tls::TlsError;
use super::url::{AddressError, DatabaseUrl};
use crate::clock::Clock;
use crate::limits::{CONNECT_TIMEOUT, SHARED_CLIENTS_MAX, SHARED_CLIENTS_PART};
use crate::store::StoreError;

/// Why the store cannot be opened. Each is one line without a password.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address is wrong.
    #[error("the database's address cannot be used: {0}")]
    Address(#[from] AddressError),
    /// TLS cannot be set up as the address asks.
    #[error("the database's address cannot be used: {0}")]
    Tls(#[from] TlsError),
    /// No host accepts a connection.
    #[error(transparent)]
    Unreachable(#[from] Unreachable),
    /// A pooler in front of the database loses what a session prepared.
    #[error(
        "prepared statements do not survive between transactions ({0}): a connection pooler in \
         front of the database must pool by session; by transaction, PgBouncer 1.21 or later \
         with max_prepared_statements above 0 works"
    )]
    Pooler(String),
    /// No pool could be made.
    #[error("no pool of connections could be made")]
    Pool(#[from] deadpool::managed::BuildError),
    /// The first statement failed.
    #[error("the database does not answer")]
    Silent(#[from] StoreError),
    /// The schema is not the one that this program knows.
    #[error(transparent)]
    Migrate(#[from] MigrateError),
}

impl PostgresStore {
    /// Opens the database and brings its schema up to date if `migration` says so.
    ///
    /// # Errors
    /// If it cannot be reached or has another schema than this program knows.
    pub async fn open(
        url: &DatabaseUrl,
        migration: Migration,
        clock: Clock,
    ) -> Result<Self, ConnectError> {
        let connector = Connector::new(url.clone())?;
        migrate_with(&connector, migration).await?;
        let shared = (url.connections / SHARED_CLIENTS_PART).clamp(1, SHARED_CLIENTS_MAX);
        let pool = pool(connector.clone(), url.connections.saturating_sub(shared).max(1))?;
        let shared = SharedClients::new(connector.clone(), shared);
        let db = Db::new(pool, shared, clock, url.statement_timeout);
        // Both kinds of connection: where many servers share few connections, none starts that
        // would have none.
        db.warm_up().await?;
        Ok(Self { db, keys: KeyCache::new(), notifier: JobNotifier::new(connector) })
    }

    /// Brings the schema of a database up to date and returns the names of what was applied.
    ///
    /// # Errors
    /// As for [`PostgresStore::open`].
    pub async fn migrate(url: &DatabaseUrl) -> Result<Vec<&'static str>, ConnectError> {
        migrate_with(&Connector::new(url.clone())?, Migration::Auto).await
    }
}

/// On a connection of its own, since a migration changes session settings.
async fn migrate_with(
    connector: &Connector,
    migration: Migration,
) -> Result<Vec<&'static str>, ConnectError> {
    let mut client = connector.connect().await?;
    check_pooler(&connector.connect().await?, &client).await?;
    Ok(migrate::run(&mut client, migrate::LIST, migration).await?)
}

/// Makes sure that a statement prepared in one transaction can be executed in the next.
///
/// A pooler that pools by transaction shows itself only if the server connection on which
/// `client` prepared is taken, so `other` begins a transaction meanwhile.
async fn check_pooler(client: &DbClient, other: &DbClient) -> Result<(), ConnectError> {
    let check = async {
        for _ in 0..3 {
            let statement = client.prepare("SELECT 1").await?;
            other.batch_execute("BEGIN").await?;
            client.query_one(&statement, &[]).await?;
            other.batch_execute("ROLLBACK").await?;
        }
        Ok::<_, Error>(())
    };
    match timeout(CONNECT_TIMEOUT, check).await {
        Ok(outcome) => outcome.map_err(|error| ConnectError::Pooler(cause(&error))),
        Err(_) => Err(ConnectError::Pooler("no answer".to_owned())),
    }
}
