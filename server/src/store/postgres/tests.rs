//! Tests of SQL and of what only this store does. The contract tests cover what both
//! stores do.

mod batches;
mod catalogue;
pub(super) mod cluster;
mod contents;
mod invariants;
mod jobs;
mod keys;
mod locks;
mod outage;
mod plans;
mod pool;
mod rules;
mod search;
mod sequences;
mod wake;

use promptarium::VaultId;
use tokio_postgres::{Client, Row};

use super::scratch::ScratchDatabase;
use super::send::Params;
use super::{DatabaseUrl, Migration, PostgresStore};
use crate::clock::Clock;
use crate::domain::Caller;
pub(super) use crate::store::contract_tests::caller;

/// A store in an empty database, which is dropped with the second value.
pub(super) async fn store() -> (PostgresStore, ScratchDatabase) {
    let database = ScratchDatabase::create().await.unwrap();
    (store_in(&database, Clock::System).await, database)
}

pub(super) async fn store_in(database: &ScratchDatabase, clock: Clock) -> PostgresStore {
    let url = DatabaseUrl::parse(&database.url()).unwrap();
    PostgresStore::open(&url, Migration::Auto, clock).await.unwrap()
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

/// Adds so many prompts with texts of so many characters to a vault.
async fn fill(store: &PostgresStore, caller: &Caller, id: VaultId, prompts: i64, characters: i32) {
    let statement = "WITH created AS (
             INSERT INTO prompt (account_id, kind, title, body, created_at, updated_at)
             SELECT $1, 'text', 'T', repeat('x', $4::integer), now(), now()
             FROM generate_series(1, $3::bigint) RETURNING id, kind
         ), counted AS (
             UPDATE vault SET prompt_count = prompt_count + $3 WHERE account_id = $1 AND id = $2
         )
         INSERT INTO vault_prompt (account_id, vault_id, prompt_id, kind)
         SELECT $1::bigint, $2::bigint, id, kind FROM created ORDER BY id";
    query(store, statement, &[&caller.account.0, &id.get(), &prompts, &characters]).await;
}

/// Waits until a statement in the database of this connection waits for a lock.
async fn until_waiting(observer: &Client) {
    let waiting = "SELECT count(*) FROM pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while observer.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        tokio::task::yield_now().await;
    }
}
