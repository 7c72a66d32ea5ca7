//! The PostgreSQL store: durable, and shared by any number of servers.
//!
//! A method is one round trip where possible: one statement, or a transaction that is sent at once.
//!
//! # Accounts
//! Each statement of a caller has the account as `$1` and the key as `$2`, and checks that the key
//! is the account's and not revoked, so that every server refuses a revoked key at once. It names
//! each table of account data (`vault`, `prompt`, `vault_prompt`, `job`, `webhooks`) with
//! `account_id = $1`, so that it goes to one node where these tables are distributed. The other tables are small and global. No function, no trigger, and no volatile
//! function where rows are updated.
//!
//! Where two concurrent statements conflict, one of them violates a constraint, and is sent again.
//!
//! # Locks
//! Row locks are taken in one order, to avoid deadlocks: vaults by id, then prompts by id, then
//! memberships. A foreign key check would lock its row too late, so a statement that adds a prompt
//! to a vault locks both before. What adds one of a limited number locks the account first.
//!
//! Memberships and the vault's `prompt_count` change together, under a lock on the vault.
//!
//! # CTEs that lock
//! - PostgreSQL evaluates a `SELECT` in a CTE only as far as another part of the query reads it:
//!   `FOR UPDATE` in a CTE that nothing references locks nothing. A CTE whose locks must be taken
//!   first is therefore read by the next one, as with `WHERE (SELECT count(*) FROM target) >= 0`.
//! - `INSERT`, `UPDATE` and `DELETE` in a CTE always run to completion, but no other part of the
//!   query sees their changes in the tables, only their `RETURNING` rows.
//! - The isolation level is READ COMMITTED: after waiting for a lock, a statement sees the latest
//!   version of the row it locked, and its original snapshot of everything else. A statement that
//!   must see more is sent after the one that locks, in one transaction.
//!
//! Each module below holds the SQL of one resource in a table `statements!`, beside its methods.

#[macro_use]
mod statement;

mod account_changes;
mod accounts;
mod batching;
mod connect;
mod db;
mod distribute;
mod errors;
mod import;
mod job_queue;
mod jobs;
mod keys;
mod listing;
mod memberships;
mod migrate;
mod prelude;
mod prompt_changes;
mod prompts;
mod retry;
mod rows;
#[cfg(any(test, feature = "test-support"))]
pub(crate) mod scratch;
mod search;
mod send;
mod sessions;
#[cfg(test)]
mod tests;
mod tls;
mod url;
mod vaults;
#[cfg(feature = "webhooks")]
mod webhooks;

use std::error::Error as _;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Notify;

use self::batching::Batcher;
use self::connect::{Connector, Unreachable};
use self::db::Db;
use self::migrate::MigrateError;
pub use self::migrate::Migration;
use self::send::{By, PING};
pub use self::url::DatabaseUrl;
use super::{Gauge, Store, StoreError};
use crate::clock::Clock;
use crate::domain::{Caller, NewPrompt, PromptPage, PromptQuery, SharedPrompt, debug_only};
use crate::limits::{KEY_CACHE_SIZE, VAULTS_MAX};
use crate::quota::Quota;

const ENCODING: &str = "SHOW server_encoding";

#[derive(Clone)]
pub struct PostgresStore {
    db: Arc<Db>,
    keys: Arc<keys::KeyCache>,
    prompt_reads: Batcher<Caller, i64, Option<SharedPrompt>>,
    prompt_writes: Batcher<Caller, Arc<NewPrompt>, prompts::Created>,
    pages: Batcher<(Caller, PromptQuery), (), PromptPage>,
    small_vaults: listing::SmallVaults,
    /// Wakes the workers of this server.
    jobs_changed: Arc<Notify>,
    /// Wakes those that deliver events.
    deliveries_changed: Arc<Notify>,
    vaults_max: i64,
}

/// Why the store cannot be opened. Each is one line without a password.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error(transparent)]
    Unreachable(#[from] Unreachable),
    #[error("no pool of connections could be made")]
    Pool(#[from] deadpool::managed::BuildError),
    #[error("the database does not answer")]
    Silent(#[from] StoreError),
    #[error(transparent)]
    Migrate(#[from] MigrateError),
    #[error(
        "the database cannot hold every text, because its encoding is {0}: make another one with \
         `createdb -E UTF8 -T template0 NAME`"
    )]
    Encoding(String),
}

impl ConnectError {
    /// Whether it may work in a while.
    pub(crate) fn is_temporary(&self) -> bool {
        match self {
            Self::Unreachable(error) => error.temporary,
            Self::Silent(error) => error.is_temporary(),
            Self::Migrate(error) => {
                let cause = error.source().and_then(|cause| cause.downcast_ref());
                cause.is_some_and(errors::is_temporary)
            }
            Self::Pool(_) | Self::Encoding(_) => false,
        }
    }
}

impl PostgresStore {
    /// Opens the database and brings its schema up to date if `migration` says so.
    pub async fn open(
        url: &DatabaseUrl,
        migration: Migration,
        clock: Clock,
    ) -> Result<Self, ConnectError> {
        let connector = Connector::new(url);
        migrate_with(&connector, migration).await?;
        let checked = distribute::check_jit(&connector.connect().await?.client).await;
        checked.map_err(MigrateError::from)?;
        let db = Arc::new(Db::new(&connector, clock)?);
        // Both kinds of connection: no server starts that would have none of one.
        if !db.has_same_clock().await? {
            tracing::warn!(
                "the clock of this server is not the database's: generations of a server that ended \
                 may wait for as long as they differ; synchronize both, as by NTP"
            );
        }
        db.rows(By::Server, &[(&PING, &[]), (&PING, &[])]).await?;
        Ok(Self {
            keys: Arc::new(keys::KeyCache::new(KEY_CACHE_SIZE)),
            prompt_reads: Batcher::new(false, &db, prompts::read),
            prompt_writes: Batcher::new(true, &db, prompts::create),
            pages: Batcher::new(false, &db, listing::read_page),
            small_vaults: Batcher::new(false, &db, listing::small_vault),
            db,
            jobs_changed: Arc::default(),
            deliveries_changed: Arc::default(),
            vaults_max: VAULTS_MAX as i64,
        })
    }

    /// The same with another limit of the vaults of an account.
    #[must_use]
    pub fn with_vaults_max(self, vaults_max: usize) -> Self {
        Self { vaults_max: i64::try_from(vaults_max).unwrap_or(i64::MAX), ..self }
    }

    /// Brings the schema of a database up to date and returns the names of what was applied.
    pub async fn migrate(url: &DatabaseUrl) -> Result<Vec<&'static str>, ConnectError> {
        migrate_with(&Connector::new(url), Migration::Auto).await
    }

    /// Distributes the tables of an up-to-date schema over the nodes of a Citus cluster, and
    /// returns the names of those that were not distributed before.
    pub async fn distribute(url: &DatabaseUrl) -> Result<Vec<&'static str>, ConnectError> {
        let mut client = Connector::new(url).connect_and_check().await?;
        Ok(distribute::run(&mut client.client).await?)
    }
}

#[async_trait]
impl Store for PostgresStore {
    fn name(&self) -> &'static str {
        "postgres"
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.db.rows(By::Server, &[(&PING, &[])]).await.map(drop)
    }

    fn quotas(&self) -> Vec<Quota> {
        let Db { steps, long_writes, list_rows, look_ups, .. } = (*self.db).clone();
        vec![steps, long_writes, list_rows, look_ups]
    }

    fn gauges(&self) -> Vec<Gauge> {
        self.db.gauges()
    }
}

debug_only! { PostgresStore {} }

/// On a connection of its own, since a migration changes session settings.
async fn migrate_with(
    connector: &Connector,
    migration: Migration,
) -> Result<Vec<&'static str>, ConnectError> {
    let mut client = connector.connect_and_check().await?;
    let encoding = client.query_one(ENCODING, &[]).await.map_err(MigrateError::from)?;
    let encoding: String = encoding.try_get(0).map_err(MigrateError::from)?;
    if encoding != "UTF8" {
        return Err(ConnectError::Encoding(encoding));
    }
    let applied = migrate::run(&mut client.client, migrate::LIST, migration).await?;
    migrate::set_forward(&mut client.client).await.map_err(MigrateError::Sequences)?;
    Ok(applied)
}
