//! Which prompts come, in which order, and what a slow reader holds up.

use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt};
use promptarium::VaultId;

use super::stream_within;
use crate::domain::{Caller, ListedPrompt, PromptKind};
use crate::limits::{STREAM_BATCH as BATCH, STREAMS_PER_ACCOUNT};
use crate::store::StoreError;
use crate::store::postgres::PostgresStore;
use crate::store::postgres::tests::fixture::{self as world, number, query};
use crate::store::postgres::tests::store;
use crate::store::prelude::*;

/// So many prompts of 15,000 characters that no buffer on the way holds them all.
const MANY: i32 = 3_000;

/// Backends of this database that wait for their client to take what they send.
const BLOCKED: &str = "SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event = 'ClientWrite'";

async fn fill(store: &PostgresStore, by: &Caller, vault: VaultId, prompts: i32, letters: i32) {
    let statement = "WITH made AS (
             INSERT INTO prompt (account_id, kind, title, body, created_at, updated_at)
             SELECT $1, 'text', 'T', repeat('x', $4::integer), now(), now()
             FROM generate_series(1, $3::integer) RETURNING id, kind
         )
         INSERT INTO membership (account_id, vault_id, prompt_id, kind)
         SELECT $1::bigint, $2::bigint, id, kind FROM made ORDER BY id";
    query(store, statement, &[&by.account.0, &vault.get(), &prompts, &letters]).await;
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

async fn all(store: &PostgresStore, by: &Caller, vault: VaultId) -> Vec<ListedPrompt> {
    store.contents(by, vault).await.unwrap().try_collect().await.unwrap()
}

#[tokio::test]
async fn pinned_prompts_come_first_and_the_latest_on_top() {
    let (store, _database) = store().await;
    let (by, vault) = world::account(&store).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        let new = world::new(PromptKind::Image, Some(vault));
        ids.push(store.create_prompt(&by, new).await.unwrap().id);
    }
    for pinned in [ids[3], ids[1]] {
        let statement =
            "UPDATE membership SET pin = nextval('membership_pin') WHERE prompt_id = $1";
        query(&store, statement, &[&pinned.get()]).await;
    }
    let listed = all(&store, &by, vault).await;
    let order: Vec<_> = listed.iter().map(|one| (one.prompt.id, one.pinned)).collect();
    let expected =
        [(ids[1], true), (ids[3], true), (ids[4], false), (ids[2], false), (ids[0], false)];
    assert_eq!(order, expected);
    for one in listed {
        assert_eq!(one.prompt, store.prompt(&by, one.prompt.id).await.unwrap());
        let statement = "SELECT prompt_id FROM membership WHERE id = $1";
        let prompt: i64 = query(&store, statement, &[&one.membership.get()]).await[0].get(0);
        assert_eq!(prompt, one.prompt.id.get());
    }
}

#[tokio::test]
async fn a_vault_of_any_size_comes_whole_and_in_order() {
    let (store, _database) = store().await;
    let (by, _) = world::account(&store).await;
    let batch = i32::try_from(BATCH).unwrap();
    for size in [0, 1, batch - 1, batch, batch + 1, 2 * batch, 5 * batch + 3] {
        let vault = world::vault(&store, &by).await;
        fill(&store, &by, vault, size, 9).await;
        let ids: Vec<_> = all(&store, &by, vault).await.iter().map(|one| one.membership).collect();
        assert_eq!(ids.len(), usize::try_from(size).unwrap());
        assert!(ids.is_sorted_by(|a, b| a > b), "{size} prompts came out of order");
    }
}

#[tokio::test]
async fn a_vault_of_nobody_and_a_revoked_key_are_told_before_anything_comes() {
    let (store, _database) = store().await;
    let (by, general) = world::account(&store).await;
    let (_, theirs) = world::account(&store).await;
    for vault in [theirs, VaultId::new(999)] {
        let error = store.contents(&by, vault).await.err();
        assert!(matches!(error, Some(StoreError::NotFound)), "{error:?}");
    }
    world::revoke(&store, &by).await;
    let error = store.contents(&by, general).await.err();
    assert!(matches!(error, Some(StoreError::KeyRevoked)), "{error:?}");
}

#[tokio::test]
async fn a_slow_reader_makes_the_database_wait() {
    let (store, _database) = store().await;
    let (by, vault) = world::account(&store).await;
    fill(&store, &by, vault, MANY, 15_000).await;
    let mut contents = store.contents(&by, vault).await.unwrap();
    until(&store, BLOCKED, 1).await;
    let mut count = 0;
    while let Some(one) = contents.next().await {
        assert_eq!(one.unwrap().prompt.text.len(), 15_000);
        count += 1;
    }
    assert_eq!(count, MANY);
}

#[tokio::test]
async fn what_comes_is_the_vault_at_the_instant_it_was_asked_for() {
    let (store, _database) = store().await;
    let (by, _) = world::account(&store).await;
    let vault = world::vault(&store, &by).await;
    fill(&store, &by, vault, MANY, 15_000).await;
    let contents = store.contents(&by, vault).await.unwrap();
    until(&store, BLOCKED, 1).await;
    world::drop_vault(&store, vault).await;
    assert_eq!(contents.count().await, usize::try_from(MANY).unwrap());
}

#[tokio::test]
async fn a_reader_that_takes_nothing_for_too_long_loses_its_connection() {
    let (store, _database) = store().await;
    let (by, vault) = world::account(&store).await;
    fill(&store, &by, vault, MANY, 15_000).await;
    let patience = Duration::from_millis(300);
    let contents = stream_within(&store.db, &by, vault, patience).await.unwrap();
    until(&store, BLOCKED, 1).await;
    until(&store, BLOCKED, 0).await;
    let read: Vec<_> = contents.collect().await;
    let (last, before) = read.split_last().unwrap();
    assert!(matches!(last, Err(StoreError::Unavailable(_))), "{last:?}");
    assert!(before.iter().all(Result::is_ok) && before.len() <= 3 * BATCH, "{}", before.len());
}

#[tokio::test]
async fn a_reader_that_leaves_takes_its_connection_along() {
    let (store, _database) = store().await;
    let (by, vault) = world::account(&store).await;
    fill(&store, &by, vault, MANY, 15_000).await;
    // More often than there are connections.
    for _ in 0..20 {
        let contents = store.contents(&by, vault).await.unwrap();
        assert_eq!(contents.take(BATCH + 1).count().await, BATCH + 1);
    }
    until(&store, BLOCKED, 0).await;
    store.prompt(&by, all(&store, &by, vault).await[0].prompt.id).await.unwrap();
}

#[tokio::test]
async fn slow_readers_of_one_account_keep_no_other_account_waiting() {
    let (store, _database) = store().await;
    let (by, vault) = world::account(&store).await;
    fill(&store, &by, vault, MANY, 15_000).await;
    let (other, small) = world::account(&store).await;
    let large = world::vault(&store, &other).await;
    fill(&store, &other, small, 3, 9).await;
    fill(&store, &other, large, 200, 9).await;
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..30 {
        let (store, by) = (store.clone(), by.clone());
        waiting.spawn(async move { store.contents(&by, vault).await });
    }
    // Each takes nothing of what it gets.
    let mut readers = Vec::new();
    while readers.len() < STREAMS_PER_ACCOUNT {
        readers.push(waiting.join_next().await.unwrap().unwrap().unwrap());
    }
    let began = Instant::now();
    assert_eq!(all(&store, &other, small).await.len(), 3);
    assert_eq!(all(&store, &other, large).await.len(), 200);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    // The others of this account get none, until one of them leaves.
    let refused = waiting.join_next().await.unwrap().unwrap().err();
    assert!(matches!(refused, Some(StoreError::Unavailable(_))), "{refused:?}");
    waiting.shutdown().await;
    readers.pop();
    drop(store.contents(&by, vault).await.unwrap());
}

#[tokio::test]
async fn a_small_vault_and_a_vault_that_does_not_exist_cost_no_connection() {
    let (store, _database) = store().await;
    let (by, vault) = world::account(&store).await;
    fill(&store, &by, vault, 64, 9).await;
    let opened = "SELECT sessions FROM pg_stat_database WHERE datname = current_database()";
    let behind = store.db.exclusive().await.unwrap();
    let sessions = async || -> i64 {
        behind.execute("SELECT pg_stat_clear_snapshot()", &[]).await.unwrap();
        behind.query_one(opened, &[]).await.unwrap().get(0)
    };
    all(&store, &by, vault).await;
    // Statistics come late.
    tokio::time::sleep(Duration::from_millis(1200)).await;
    let before = sessions().await;
    for _ in 0..50 {
        let missing = store.contents(&by, VaultId::new(999)).await.err();
        assert!(matches!(missing, Some(StoreError::NotFound)), "{missing:?}");
        assert_eq!(all(&store, &by, vault).await.len(), 64);
    }
    tokio::time::sleep(Duration::from_millis(1200)).await;
    assert_eq!(sessions().await, before);
}

#[tokio::test]
async fn a_connection_comes_back_as_it_was() {
    let (store, _database) = store().await;
    let (by, vault) = world::account(&store).await;
    fill(&store, &by, vault, 500, 9).await;
    let usual: String = query(&store, "SHOW statement_timeout", &[]).await[0].get(0);
    assert_eq!(all(&store, &by, vault).await.len(), 500);
    let sessions = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
         AND application_name <> 'autovacuum' AND backend_type = 'client backend'";
    // One of its own and one that is shared.
    assert_eq!(number(&store, sessions).await, 2);
    let after: String = query(&store, "SHOW statement_timeout", &[]).await[0].get(0);
    assert_eq!(after, usual);
}
