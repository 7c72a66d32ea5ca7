//! Opening a store: connecting, checking what stands between us and the database, and
//! migrating the schema.

use std::fmt;

use tokio::time::timeout;
use tokio_postgres::Error;

use super::PostgresStore;
use super::client::{DbClient, Statement};
use super::connect::{Connector, Unreachable, cause};
use super::db::{Db, column};
use super::keys::KeyCache;
use super::migrate::{self, MigrateError, Migration};
use super::notify::JobNotifier;
use super::url::{AddressError, DatabaseUrl};
use crate::clock::Clock;
use crate::limits::CONNECT_TIMEOUT;
use crate::store::{Cause, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&SIGNING_KEY];

/// An existing value stays.
static SIGNING_KEY: Statement = Statement::idempotent(
    "settings.signing_key",
    "INSERT INTO setting (name, value) VALUES ('signing-key', $1::bytea)
     ON CONFLICT (name) DO UPDATE SET value = setting.value RETURNING value",
);

/// Why the store cannot be opened. Each is one line without a password.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("the database's address cannot be used: {0}")]
    Address(#[from] AddressError),
    #[error("the database's address cannot be used: {0}")]
    Tls(Cause),
    #[error(transparent)]
    Unreachable(#[from] Unreachable),
    /// A pooler in front of the database loses what a session prepared.
    #[error(
        "prepared statements do not survive between transactions ({0}): a connection pooler in \
         front of the database must pool by session; by transaction, PgBouncer 1.21 or later \
         with max_prepared_statements above 0 works"
    )]
    Pooler(String),
    #[error("no pool of connections could be made")]
    Pool(#[from] deadpool::managed::BuildError),
    #[error("the database does not answer")]
    Silent(#[from] StoreError),
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
        let connector = Connector::new(url).map_err(ConnectError::Tls)?;
        migrate_with(&connector, migration).await?;
        let db = Db::new(&connector, url, clock)?;
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
        let connector = Connector::new(url).map_err(ConnectError::Tls)?;
        migrate_with(&connector, Migration::Auto).await
    }

    /// The secret with which all servers of this database sign. The first server creates it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Broken`].
    pub async fn signing_key(&self) -> Result<Box<[u8]>, StoreError> {
        let new = rand::random::<[u8; 32]>();
        let rows = self.db.rows(&SIGNING_KEY, &[&&new[..]]).await?;
        let row = rows.first().ok_or_else(|| StoreError::Broken("no signing key".into()))?;
        column::<&[u8]>(row, "value").map(Box::from)
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").finish_non_exhaustive()
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

#[cfg(test)]
mod tests {
    use crate::store::postgres::tests::store;

    #[tokio::test]
    async fn all_servers_of_a_database_get_one_signing_key() {
        let (store, _database) = store().await;
        let keys = futures::future::try_join_all((0..8).map(|_| store.signing_key()));
        let keys = keys.await.unwrap();
        assert!(keys.iter().all(|key| *key == keys[0] && key.len() == 32));
        let (other, _database) = super::super::tests::store().await;
        assert_ne!(other.signing_key().await.unwrap(), keys[0]);
    }
}
