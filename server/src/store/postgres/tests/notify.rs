//! Waking workers: which, when, and that listening ends with its store.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::{caller, number, query, store, store_in};
use crate::clock::Clock;
use crate::domain::Release;
use crate::limits::JOB_POLL;
use crate::store::JobQueue;
use crate::store::contract_tests::jobs::{SECOND, claim, queued};
use crate::store::postgres::PostgresStore;

/// Less than a worker waits without a notification.
const AT_ONCE: Duration = Duration::from_millis(500);

const LISTENERS: &str = "FROM pg_stat_activity WHERE datname = current_database() \
                         AND query LIKE 'LISTEN %' AND state = 'idle'";

async fn listeners(store: &PostgresStore) -> i64 {
    number(store, &format!("SELECT count(*) {LISTENERS}")).await
}

async fn until_listeners(store: &PostgresStore, number: i64) {
    let all = async {
        while listeners(store).await != number {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(10 * SECOND, all).await.unwrap_or_else(|_| panic!("not {number} listeners"));
}

/// Starts listening, and uses up the notification that the start itself gives.
async fn listening(store: &PostgresStore) {
    store.job_due(Duration::from_millis(1), &[]).await;
    until_listeners(store, 1).await;
    sleep(Duration::from_millis(50)).await;
    store.job_due(Duration::from_millis(1), &[]).await;
}

/// How long a worker waits.
async fn waited(store: &PostgresStore, at_most: Duration) -> Duration {
    let before = Instant::now();
    store.job_due(at_most, &[]).await;
    before.elapsed()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_another_store_took_wakes_one_worker_at_once() {
    let (store, database) = store().await;
    let alice = caller(&store, "alice").await;
    let other = store_in(&database, Clock::System).await;
    listening(&other).await;
    let mut workers = JoinSet::new();
    for _ in 0..8 {
        let other = other.clone();
        workers.spawn(async move { waited(&other, 20 * SECOND).await });
    }
    sleep(Duration::from_millis(50)).await;
    queued(&store, &alice, "j").await;
    let mut waits = workers.join_all().await;
    waits.sort_unstable();
    assert!(waits[0] < AT_ONCE, "{waits:?}");
    assert!(waits[1] >= JOB_POLL / 2, "another woke for nothing: {waits:?}");
    assert!(claim(&other).await.is_some());
}

#[tokio::test]
async fn waiting_ends_when_a_released_job_is_due_or_without_a_notification() {
    let (store, _database) = store().await;
    let alice = caller(&store, "alice").await;
    queued(&store, &alice, "j").await;
    let claimed = claim(&store).await.unwrap();
    listening(&store).await;
    let wait = waited(&store, 20 * SECOND).await;
    assert!(wait >= JOB_POLL / 2 && wait < 3 * JOB_POLL, "{wait:?}");
    let pause = Duration::from_millis(100);
    store.release_job(&claimed.lease, pause, Release::Waiting).await.unwrap();
    let wait = waited(&store, 20 * SECOND).await;
    assert!(wait < AT_ONCE, "{wait:?}");
    sleep(Duration::from_millis(50)).await;
    assert!(claim(&store).await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn listening_starts_again_after_its_connection_broke() {
    let (store, _database) = store().await;
    let alice = caller(&store, "alice").await;
    listening(&store).await;
    let pid: i32 = query(&store, &format!("SELECT pid {LISTENERS}"), &[]).await[0].get(0);
    query(&store, "SELECT pg_terminate_backend($1, 5000)", &[&pid]).await;
    // What was notified meanwhile may be lost, so one worker is woken when it listens again.
    assert!(waited(&store, 20 * SECOND).await < AT_ONCE);
    until_listeners(&store, 1).await;
    let worker = store.clone();
    let waiting = tokio::spawn(async move { waited(&worker, 20 * SECOND).await });
    sleep(Duration::from_millis(50)).await;
    queued(&store, &alice, "j").await;
    assert!(waiting.await.unwrap() < AT_ONCE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_has_one_listener_that_ends_with_it() {
    let (store, database) = store().await;
    let other = store_in(&database, Clock::System).await;
    let short = Duration::from_millis(500);
    futures::future::join_all((0..8).map(|_| waited(&other, short))).await;
    until_listeners(&store, 1).await;
    drop(other);
    until_listeners(&store, 0).await;
}
