//! Contents of large vaults, and slow readers.

use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt};
use promptarium::VaultId;

use super::{caller, number, query, store};
use crate::domain::{Caller, ListedPrompt};
use crate::limits::{STREAM_BATCH as BATCH, STREAMS_PER_ACCOUNT};
use crate::store::StoreError;
use crate::store::contract_tests::named;
use crate::store::postgres::{PostgresStore, contents};
use crate::store::prelude::*;

/// So many prompts of 15,000 characters that no buffer on the way holds them all.
const MANY: i32 = 3_000;

/// Backends of this database that wait for their client to take what they send.
const BLOCKED: &str = "SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event = 'ClientWrite'";

async fn fill(
    store: &PostgresStore,
    caller: &Caller,
    vault: VaultId,
    prompts: i32,
    characters: i32,
) {
    let statement = "WITH created AS (
             INSERT INTO prompt (account_id, kind, title, body, created_at, updated_at)
             SELECT $1, 'text', 'T', repeat('x', $4::integer), now(), now()
             FROM generate_series(1, $3::integer) RETURNING id, kind
         ), counted AS (
             UPDATE vault SET prompt_count = prompt_count + $3 WHERE account_id = $1 AND id = $2
         )
         INSERT INTO vault_prompt (account_id, vault_id, prompt_id, kind)
         SELECT $1::bigint, $2::bigint, id, kind FROM created ORDER BY id";
    query(store, statement, &[&caller.account.0, &vault.get(), &prompts, &characters]).await;
}

/// A new account with a vault of [`MANY`] prompts.
async fn large_vault(store: &PostgresStore) -> (Caller, VaultId) {
    let alice = caller(store, "alice").await;
    let vault = new_vault(store, &alice).await;
    fill(store, &alice, vault, MANY, 15_000).await;
    (alice, vault)
}

async fn new_vault(store: &PostgresStore, caller: &Caller) -> VaultId {
    store.create_vault(caller, named("Sky")).await.unwrap().id
}

/// Waits until a statement gives this number.
async fn until(store: &PostgresStore, statement: &str, expected: i64) {
    let began = Instant::now();
    loop {
        let found = number(store, statement).await;
        if found == expected {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "still {found}: {statement}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn all(store: &PostgresStore, caller: &Caller, vault: VaultId) -> Vec<ListedPrompt> {
    store.contents(caller, vault).await.unwrap().try_collect().await.unwrap()
}

#[tokio::test]
async fn a_vault_of_any_size_is_read_completely_and_in_order() {
    let (store, _database) = store().await;
    let alice = caller(&store, "alice").await;
    let batch = i32::try_from(BATCH).unwrap();
    for size in [0, 1, batch - 1, batch, batch + 1, 2 * batch, 5 * batch + 3] {
        let vault = new_vault(&store, &alice).await;
        fill(&store, &alice, vault, size, 9).await;
        let ids: Vec<_> =
            all(&store, &alice, vault).await.iter().map(|one| one.membership).collect();
        assert_eq!(ids.len(), usize::try_from(size).unwrap());
        assert!(ids.is_sorted_by(|a, b| a > b), "{size} prompts are out of order");
    }
}

#[tokio::test]
async fn a_slow_reader_makes_the_database_wait_and_gets_the_vault_of_one_instant() {
    let (store, _database) = store().await;
    let (alice, vault) = large_vault(&store).await;
    let mut contents = store.contents(&alice, vault).await.unwrap();
    until(&store, BLOCKED, 1).await;
    store.delete_vault(&alice, vault).await.unwrap();
    let mut count = 0;
    while let Some(one) = contents.next().await {
        assert_eq!(one.unwrap().prompt.text.len(), 15_000);
        count += 1;
    }
    assert_eq!(count, MANY);
}

#[tokio::test]
async fn a_reader_that_takes_nothing_for_too_long_loses_its_connection() {
    let (store, _database) = store().await;
    let (alice, vault) = large_vault(&store).await;
    let stall_timeout = Duration::from_millis(300);
    let contents = contents::contents(&store.db, &store.small_vaults, &alice, vault, stall_timeout)
        .await
        .unwrap();
    until(&store, BLOCKED, 1).await;
    until(&store, BLOCKED, 0).await;
    let read: Vec<_> = contents.collect().await;
    let (last, before) = read.split_last().unwrap();
    assert!(matches!(last, Err(StoreError::Unavailable(_))), "{last:?}");
    assert!(before.iter().all(Result::is_ok) && before.len() <= 3 * BATCH, "{}", before.len());
}

#[tokio::test]
async fn a_reader_that_is_dropped_closes_its_connection() {
    let (store, _database) = store().await;
    let (alice, vault) = large_vault(&store).await;
    // More often than there are connections.
    for _ in 0..20 {
        let contents = store.contents(&alice, vault).await.unwrap();
        assert_eq!(contents.take(BATCH + 1).count().await, BATCH + 1);
    }
    until(&store, BLOCKED, 0).await;
    store.prompt(&alice, all(&store, &alice, vault).await[0].prompt.id).await.unwrap();
}

#[tokio::test]
async fn slow_readers_of_one_account_do_not_delay_another_account() {
    let (store, _database) = store().await;
    let (alice, vault) = large_vault(&store).await;
    let bob = caller(&store, "bob").await;
    let (small, large) = (new_vault(&store, &bob).await, new_vault(&store, &bob).await);
    fill(&store, &bob, small, 3, 9).await;
    fill(&store, &bob, large, 200, 9).await;
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..30 {
        let (store, alice) = (store.clone(), alice.clone());
        waiting.spawn(async move { store.contents(&alice, vault).await });
    }
    // Each takes nothing of what it gets.
    let mut readers = Vec::new();
    while readers.len() < STREAMS_PER_ACCOUNT {
        readers.push(waiting.join_next().await.unwrap().unwrap().unwrap());
    }
    let began = Instant::now();
    assert_eq!(all(&store, &bob, small).await.len(), 3);
    assert_eq!(all(&store, &bob, large).await.len(), 200);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    // The others of this account get none, until one of them leaves.
    let refused = waiting.join_next().await.unwrap().unwrap().err();
    assert!(matches!(refused, Some(StoreError::Unavailable(_))), "{refused:?}");
    waiting.shutdown().await;
    readers.pop();
    drop(store.contents(&alice, vault).await.unwrap());
}

#[tokio::test]
async fn a_connection_is_returned_with_its_settings() {
    let (store, _database) = store().await;
    let alice = caller(&store, "alice").await;
    let vault = new_vault(&store, &alice).await;
    fill(&store, &alice, vault, 500, 9).await;
    let before: String = query(&store, "SHOW statement_timeout", &[]).await[0].get(0);
    assert_eq!(all(&store, &alice, vault).await.len(), 500);
    let sessions = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
         AND application_name <> 'autovacuum' AND backend_type = 'client backend'";
    // One of its own and one that is shared.
    assert_eq!(number(&store, sessions).await, 2);
    let after: String = query(&store, "SHOW statement_timeout", &[]).await[0].get(0);
    assert_eq!(after, before);
}
