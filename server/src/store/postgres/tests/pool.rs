//! How the connections are divided, and writes of large vaults.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::TryStreamExt;
use futures::future::join_all;
use promptarium::VaultId;
use tokio::time::timeout;

use super::{caller, fill, number, query, store};
use crate::domain::{Caller, VaultPatch, VaultVisibility};
use crate::limits::{KEY_LOOKUPS_MAX, LONG_WRITE_PROMPTS};
use crate::store::contract_tests::named;
use crate::store::postgres::PostgresStore;
use crate::store::postgres::send::By;
use crate::store::postgres::statement::Statement;
use crate::store::prelude::*;
use crate::store::{StoreError, time_budget};

static SLEEP: Statement = Statement::non_idempotent("test.sleep", "SELECT pg_sleep($1)");
static SLEEP_OF_CALLER: Statement = Statement::non_idempotent(
    "test.sleep_of_caller",
    "SELECT pg_sleep($3) FROM api_key WHERE account_id = $1 AND id = $2",
);
const QUICK: Statement = Statement::non_idempotent(
    "test.quick",
    "SELECT FROM api_key WHERE account_id = $1 AND id = $2",
);
const LOOK_UP: Statement = Statement::read_only("test.look_up", "SELECT pg_sleep(0.2)");

/// Statements that sleep at this moment.
const SLEEPING: &str = "SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event = 'PgSleep'";

async fn sleeping(store: &PostgresStore, expected: i64) {
    let reached = async { while number(store, SLEEPING).await != expected {} };
    timeout(Duration::from_secs(10), reached).await.expect("another number of statements runs");
}

/// A public vault with so many prompts.
async fn vault_of(store: &PostgresStore, caller: &Caller, prompts: i64) -> VaultId {
    let id = store.create_vault(caller, named("Sky")).await.unwrap().id;
    fill(store, caller, id, prompts, 1).await;
    let visibility = Some(VaultVisibility::Public);
    let patch = VaultPatch { visibility, ..VaultPatch::default() };
    store.update_vault(caller, id, patch).await.unwrap();
    id
}

#[tokio::test]
async fn vaults_of_any_size_are_forked_and_deleted_but_no_system_vault() {
    let (store, _database) = store().await;
    let (alice, bob) = (caller(&store, "alice").await, caller(&store, "bob").await);
    for prompts in [0, LONG_WRITE_PROMPTS, LONG_WRITE_PROMPTS + 1] {
        let source = vault_of(&store, &alice, prompts).await;
        let copy = store.fork_vault(&bob, source).await.unwrap();
        let contents = store.contents(&bob, copy.id).await.unwrap();
        let copied: Vec<_> = contents.entries.try_collect().await.unwrap();
        assert_eq!(i64::try_from(copied.len()), Ok(prompts));
        let not_bobs = store.delete_vault(&bob, source).await;
        assert!(matches!(not_bobs, Err(StoreError::NotFound)), "{not_bobs:?}");
        store.delete_vault(&alice, source).await.unwrap();
        let again = store.delete_vault(&alice, source).await;
        assert!(matches!(again, Err(StoreError::NotFound)), "{again:?}");
    }
    let general = store.vaults(&alice).await.unwrap()[0].id;
    fill(&store, &alice, general, LONG_WRITE_PROMPTS + 1, 1).await;
    let outcome = store.delete_vault(&alice, general).await;
    assert!(matches!(outcome, Err(StoreError::SystemVaultDelete)), "{outcome:?}");
}

#[tokio::test]
async fn a_fork_or_deletion_that_takes_too_long_says_so_and_changes_nothing() {
    let (mut store, _database) = store().await;
    let (alice, bob) = (caller(&store, "alice").await, caller(&store, "bob").await);
    let vault = vault_of(&store, &alice, LONG_WRITE_PROMPTS + 1).await;
    // Waiting for a lock is as slow as millions of prompts.
    let holder = store.db.exclusive().await.unwrap();
    let lock = "BEGIN; SELECT FROM vault FOR UPDATE;
        INSERT INTO vault (account_id, name, slug, visibility, created_at, updated_at)
        SELECT id, 'Sky', 'sky', 'private', now(), now() FROM account WHERE name = 'bob'";
    holder.batch_execute(lock).await.unwrap();
    Arc::make_mut(&mut store.db).long_limit = Duration::from_millis(300);
    let forked = store.fork_vault(&bob, vault).await;
    assert!(matches!(forked, Err(StoreError::TooLarge)), "{forked:?}");
    let deleted = store.delete_vault(&alice, vault).await;
    assert!(matches!(deleted, Err(StoreError::TooLarge)), "{deleted:?}");
    holder.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(store.vaults(&bob).await.unwrap().len(), 1);
    let prompts = store.vault(&alice, vault).await.unwrap().prompt_count;
    assert_eq!(i64::try_from(prompts), Ok(LONG_WRITE_PROMPTS + 1));
}

/// Each account has at most a share, and changes do not wait for long writes.
#[tokio::test]
async fn long_writes_and_the_changes_of_one_account_have_a_share_of_the_connections() {
    let (store, _database) = store().await;
    let callers = join_all(["a", "b", "c", "d"].map(|name| caller(&store, name))).await;
    let long = Some(store.db.long_limit);
    // Of the twelve connections, all long writes have three, and one account has six.
    for (long, by, at_once) in [(long, &callers[..], 3), (None, &callers[..1], 6)] {
        let tasks = (0..40).map(|number| {
            let (store, caller) = (store.clone(), by[number % by.len()].clone());
            let step = async move {
                let by = long.map_or(By::Caller(&caller), |long| By::LongWrite(&caller, long));
                store.db.row_of_steps(by, &[(&SLEEP_OF_CALLER, &[&1.5_f64])]).await
            };
            tokio::spawn(step)
        });
        let tasks: Vec<_> = tasks.collect();
        sleeping(&store, at_once).await;
        let began = Instant::now();
        store.db.row_of_caller(&callers[3], &QUICK, &[]).await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
        assert_eq!(number(&store, SLEEPING).await, at_once);
        let outcomes = join_all(tasks).await;
        let refused = outcomes.iter().filter(|outcome| outcome.as_ref().unwrap().is_err()).count();
        assert!((6..40).contains(&refused), "{refused} of 40 were refused");
    }
}

#[tokio::test]
async fn the_steps_of_one_request_share_its_time() {
    let (mut store, _database) = store().await;
    Arc::make_mut(&mut store.db).limit = Duration::from_secs(60);
    query(&store, "SET statement_timeout = 0", &[]).await;
    let began = Instant::now();
    let steps = time_budget::of_request(async {
        time_budget::spend(Duration::from_millis(8_500));
        store.db.rows(By::Server, &[(&SLEEP, &[&30.0_f64])]).await
    });
    let outcome = steps.await;
    assert!(matches!(outcome, Err(StoreError::OutcomeUnknown(_))), "{outcome:?}");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[tokio::test]
async fn few_unknown_keys_are_looked_up_at_once() {
    let (store, _database) = store().await;
    let look_ups =
        join_all((0..4 * KEY_LOOKUPS_MAX).map(|_| store.db.rows(By::LookUp, &[(&LOOK_UP, &[])])));
    let watching = async {
        let mut most = 0;
        for _ in 0..20 {
            most = most.max(number(&store, SLEEPING).await);
        }
        most
    };
    let (outcomes, most) = tokio::join!(look_ups, watching);
    assert!(outcomes.iter().all(Result::is_ok));
    assert!(most > 0 && usize::try_from(most).unwrap() <= KEY_LOOKUPS_MAX, "{most}");
}

#[tokio::test]
async fn a_wrong_secret_is_looked_up_like_an_unknown_key_and_a_new_key_works_at_once() {
    let (store, _database) = store().await;
    caller(&store, "alice").await;
    assert!(store.cached_key("key-of-alice", &[7; 32]).is_some());
    assert!(store.cached_key("key-of-alice", &[8; 32]).is_none());
    assert!(store.find_key("key-of-bob", &[7; 32]).await.unwrap().is_none());
    caller(&store, "bob").await;
}
