//! Tests of SQL and of what only this store does. The contract tests cover what both
//! stores do.

pub(super) mod cluster;
pub(super) mod fixture;
mod invariants;
mod jobs;
mod keys;
mod outage;
mod plans;

use super::scratch::ScratchDatabase;
use super::{DatabaseUrl, Migration, PostgresStore};
use crate::clock::Clock;
use crate::domain::{Caller, NewKey, Scopes};
use crate::store::prelude::*;

/// A store in an empty database, which is dropped with the second value.
pub(super) async fn store() -> (PostgresStore, ScratchDatabase) {
    store_at(Clock::System).await
}

/// The same, with this clock.
async fn store_at(clock: Clock) -> (PostgresStore, ScratchDatabase) {
    let database = ScratchDatabase::create().await.unwrap();
    (store_in(&database, clock).await, database)
}

async fn store_in(database: &ScratchDatabase, clock: Clock) -> PostgresStore {
    let url = DatabaseUrl::parse(&database.url()).unwrap();
    PostgresStore::open(&url, Migration::Auto, clock).await.unwrap()
}

/// The caller of a key of a new account of this name.
pub(super) async fn caller(store: &PostgresStore, account: &str) -> Caller {
    let public_id = format!("key-of-{account}");
    let (digest, scopes) = ([7; 32], Scopes::ALL);
    let key = NewKey { public_id: public_id.as_str().into(), digest, scopes, revoked: false };
    store.seed_key(account, key).await.unwrap();
    store.find_key(&public_id).await.unwrap().unwrap().caller()
}

#[tokio::test]
async fn an_open_store_answers() {
    let (store, _database) = store().await;
    store.check().await.unwrap();
}
