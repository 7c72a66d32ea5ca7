//! The PostgreSQL store: durable, and shared by any number of servers.
//!
//! A method is one statement where possible, that is, one round trip. Each statement of
//! a caller begins with the CTE `caller`, which checks the key, so that a revoked key is
//! refused by every server at once. Where two concurrent statements conflict, one of them
//! violates a constraint, and `db` runs it again.
//!
//! # Locks
//! Row locks are taken in one order, to avoid deadlocks: vaults by id, then prompts by
//! id, then memberships. A foreign key check would lock its row too late, so a statement
//! that adds a prompt to a vault locks both explicitly before.
//!
//! # CTEs that lock
//! - PostgreSQL evaluates a `SELECT` in a CTE only as far as another part of the query
//!   reads it, and not before it is read. `SELECT … FOR UPDATE` in a CTE that nothing
//!   references locks nothing. A CTE whose locks must be taken first is therefore read by
//!   the next one, for instance with `WHERE (SELECT count(*) FROM target) >= 0`.
//! - `INSERT`, `UPDATE` and `DELETE` in a CTE always run to completion, but no other part
//!   of the query sees their changes in the tables, only their `RETURNING` rows.
//! - The isolation level is READ COMMITTED: after waiting for a lock, a statement sees the
//!   latest version of the row it locked, and its original snapshot of everything else.
//!
//! Each module below holds the SQL of one resource, beside the method that uses it.
//! `open` assembles a store, `db` sends statements, `connect` has the connections, and `client`
//! is one of them.

mod client;
mod connect;
mod db;
mod job_queue;
mod jobs;
mod keys;
mod listing;
mod memberships;
mod migrate;
mod notify;
mod open;
mod prompts;
mod retry;
mod rows;
#[cfg(any(test, feature = "test-support"))]
pub(crate) mod scratch;
mod stream;
#[cfg(test)]
mod tests;
mod tls;
mod url;
mod vaults;

use async_trait::async_trait;

use self::db::Db;
pub(crate) use self::keys::{AccountEntry, KeyEntry};
pub use self::migrate::Migration;
pub(crate) use self::open::ConnectError;
pub use self::url::DatabaseUrl;
use super::{Store, StoreError};

/// A [`Store`] in PostgreSQL.
#[derive(Clone)]
pub struct PostgresStore {
    db: Db,
    keys: keys::KeyCache,
    notifier: notify::JobNotifier,
}

#[async_trait]
impl Store for PostgresStore {
    fn name(&self) -> &'static str {
        "postgres"
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.db.check().await
    }
}
