//! Tests of SQL and of what only this store does. The contract tests cover what both
//! stores do.

mod asset_names;
mod catalogue;
pub(super) mod cluster;
mod contents;
mod creations;
mod invariants;
mod jobs;
mod keys;
mod lists;
mod locks;
mod notify;
mod outage;
mod plans;
mod pool;
mod resets;
mod rules;
mod search;
mod sessions;
mod statements;
mod upgrade;

use tokio_postgres::Row;

use super::db::Params;
use super::scratch::ScratchDatabase;
use super::{DatabaseUrl, Migration, PostgresStore};
use crate::clock::Clock;
use crate::domain::Caller;
use crate::store::contract_tests::key;
use crate::store::prelude::*;

/// A store in an empty database, which is dropped with the second value.
pub(super) async fn store() -> (PostgresStore, ScratchDatabase) {
    let database = ScratchDatabase::create().await.unwrap();
    (store_in(&database, Clock::System).await, database)
}

async fn store_in(database: &ScratchDatabase, clock: Clock) -> PostgresStore {
    let url = DatabaseUrl::parse(&database.url()).unwrap();
    PostgresStore::open(&url, Migration::Auto, clock).await.unwrap()
}

/// The caller of a key of a new account of this name.
pub(super) async fn caller(store: &PostgresStore, account: &str) -> Caller {
    let public_id = format!("key-of-{account}");
    store.seed_key(account, key(&public_id)).await.unwrap();
    store.find_key(&public_id, &[7; 32]).await.unwrap().unwrap().caller()
}

/// The number that a statement returns.
async fn number(store: &PostgresStore, statement: &str) -> i64 {
    query(store, statement, &[]).await[0].get(0)
}

/// All rows of a statement, which is sent over a connection of its own. It may fill a table, which
/// on a busy machine takes longer than a statement of the service may.
async fn query(store: &PostgresStore, statement: &str, params: Params<'_>) -> Vec<Row> {
    let connection = store.db.exclusive().await.unwrap();
    connection.batch_execute("BEGIN; SET LOCAL statement_timeout = 0").await.unwrap();
    let rows = connection.query(statement, params).await.unwrap();
    connection.batch_execute("COMMIT").await.unwrap();
    rows
}
