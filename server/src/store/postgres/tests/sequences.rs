//! Sequences that are behind their tables.

use super::{caller, number, query, store, store_in};
use crate::clock::Clock;
use crate::domain::PromptKind;
use crate::store::contract_tests::{named, new_prompt};
use crate::store::postgres::PostgresStore;
use crate::store::prelude::*;

const TABLES: [&str; 5] = ["account", "api_key", "vault", "prompt", "vault_prompt"];

/// The next id of each table.
async fn next(store: &PostgresStore) -> Vec<i64> {
    let mut next = Vec::new();
    for table in TABLES {
        let sql = format!("SELECT last_value + is_called::integer FROM {table}_id_seq");
        next.push(number(store, &sql).await);
    }
    next
}

async fn restart(store: &PostgresStore, with: i64) {
    for table in TABLES {
        query(store, &format!("ALTER SEQUENCE {table}_id_seq RESTART WITH {with}"), &[]).await;
    }
}

#[tokio::test]
async fn a_start_sets_forward_the_sequences_of_a_copied_database_and_leaves_others_as_they_are() {
    let (store, database) = store().await;
    let alice = caller(&store, "alice").await;
    let vault = store.create_vault(&alice, named("Sky")).await.unwrap().id;
    let in_vault = || new_prompt(PromptKind::Text, Some(vault));
    for _ in 0..20 {
        store.create_prompt(&alice, in_vault()).await.unwrap();
    }
    let expected = next(&store).await;
    // Rows are copied, and sequences are not.
    restart(&store, 1).await;
    let copy = store_in(&database, Clock::System).await;
    assert_eq!(next(&copy).await, expected);
    caller(&copy, "bob").await;
    copy.create_prompt(&alice, in_vault()).await.unwrap();

    restart(&store, 1000).await;
    store_in(&database, Clock::System).await;
    assert_eq!(next(&store).await, [1000; 5]);
}
