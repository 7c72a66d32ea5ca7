//! Getting connections: the address of the database, TLS, and the pool.
//!
//! [`address`] is what the operator says, [`connector`] makes one connection of it,
//! [`pool`] keeps connections. What is sent over them is the business of
//! [`super::db`].

mod address;
mod connector;
mod pool;
mod query;
mod security;
mod server;

pub use self::address::{AddressError, DatabaseUrl};
pub(super) use self::connector::Connector;
pub use self::connector::NoConnection;
pub(super) use self::pool::{Kept, PATIENCE, Pool, PoolError, Pooled};
pub use self::security::SecurityError;
use super::db::Db;
use super::migrate::{self, MigrateError, Migration};
use super::{PostgresStore, jobs, keys};
use crate::clock::Clock;

/// Why there is no store. Each is one line and holds no password.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address cannot be read.
    #[error("the database's address cannot be used: {0}")]
    Address(#[from] AddressError),
    /// Connections cannot be secured as the address asks.
    #[error("the database's address cannot be used: {0}")]
    Security(#[from] SecurityError),
    /// No server lets us in.
    #[error(transparent)]
    Unreachable(#[from] NoConnection),
    /// No pool could be made.
    #[error("no pool of connections could be made")]
    Pool(#[from] deadpool::managed::BuildError),
    /// The schema is not what it should be.
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
        let connector = Connector::new(url)?;
        bring_up_to_date(&connector, migration).await?;
        let bell = jobs::Bell::new(connector.clone(), clock.clone());
        let pool = pool::pool(connector, url.connections)?;
        let db = Db::new(pool, clock, url.statement_timeout);
        Ok(Self { bell, keys: keys::KeyMemory::default(), db })
    }

    /// Brings the schema of a database up to date and names what was missing.
    ///
    /// # Errors
    /// As for [`PostgresStore::open`].
    pub async fn migrate(url: &DatabaseUrl) -> Result<Vec<&'static str>, ConnectError> {
        bring_up_to_date(&Connector::new(url)?, Migration::Auto).await
    }
}

/// On a connection of its own: a migration sets it as no step may find it.
async fn bring_up_to_date(
    connector: &Connector,
    migration: Migration,
) -> Result<Vec<&'static str>, ConnectError> {
    let (mut client, _driving) = connector.connect().await?;
    Ok(migrate::run(&mut client, migrate::LIST, migration).await?)
}

#[cfg(test)]
mod tests;
