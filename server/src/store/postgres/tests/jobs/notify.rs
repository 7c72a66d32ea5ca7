//! Waking workers: which, when, and that listening ends with its store.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::{InPostgres, in_real_time};
use crate::domain::Release;
use crate::limits::JOB_POLL;
use crate::store::JobQueue;
use crate::store::jobs::contract_tests::{LEASE, SECOND, StoreUnderTest as _, claim, queued};

/// Less than a worker waits without a notification.
const AT_ONCE: Duration = Duration::from_millis(500);

const LISTENERS: &str = "FROM pg_stat_activity WHERE datname = current_database() \
                         AND query LIKE 'LISTEN %' AND state = 'idle'";

async fn listeners(world: &InPostgres) -> i64 {
    world.number(&format!("SELECT count(*) {LISTENERS}")).await
}

async fn until_listeners(world: &InPostgres, number: i64) {
    let all = async {
        while listeners(world).await != number {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(10 * SECOND, all).await.unwrap_or_else(|_| panic!("not {number} listeners"));
}

/// Starts listening, and uses up the notification that the start itself gives.
async fn listening(world: &InPostgres, store: &impl JobQueue) {
    store.job_due(Duration::from_millis(1)).await;
    until_listeners(world, 1).await;
    sleep(Duration::from_millis(50)).await;
    store.job_due(Duration::from_millis(1)).await;
}

/// How long a worker waits.
async fn waited(store: &impl JobQueue, at_most: Duration) -> Duration {
    let before = Instant::now();
    store.job_due(at_most).await;
    before.elapsed()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_another_store_took_wakes_one_worker_at_once() {
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    let other = world.another_store().await;
    listening(&world, &other).await;
    let mut workers = JoinSet::new();
    for _ in 0..8 {
        let store = other.clone();
        workers.spawn(async move { waited(&store, 20 * SECOND).await });
    }
    sleep(Duration::from_millis(50)).await;
    queued(&world.store, &by, "j").await;
    let mut waits = workers.join_all().await;
    waits.sort_unstable();
    assert!(waits[0] < AT_ONCE, "{waits:?}");
    assert!(waits[1] >= JOB_POLL / 2, "another woke for nothing: {waits:?}");
    assert!(claim(&other).await.is_some());
}

#[tokio::test]
async fn waiting_ends_without_a_notification() {
    let world = in_real_time().await;
    listening(&world, &world.store).await;
    let short = Duration::from_millis(300);
    let wait = waited(&world.store, short).await;
    assert!(wait >= short && wait < JOB_POLL, "{wait:?}");
    let wait = waited(&world.store, 20 * SECOND).await;
    assert!(wait >= JOB_POLL / 2 && wait < 3 * JOB_POLL, "{wait:?}");
}

#[tokio::test]
async fn waiting_ends_when_a_released_job_is_due() {
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    queued(&world.store, &by, "j").await;
    let held = claim(&world.store).await.unwrap();
    listening(&world, &world.store).await;
    let pause = Duration::from_millis(100);
    world.store.release_job(&held.lease, pause, Release::Waiting).await.unwrap();
    let wait = waited(&world.store, 20 * SECOND).await;
    assert!(wait < AT_ONCE, "{wait:?}");
    sleep(Duration::from_millis(50)).await;
    assert!(claim(&world.store).await.is_some());
}

#[tokio::test]
async fn a_lease_that_expired_in_another_store_is_found() {
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    queued(&world.store, &by, "j").await;
    world.another_store().await.claim_job(SECOND, LEASE).await.unwrap().unwrap();
    let found = async {
        loop {
            world.store.job_due(20 * SECOND).await;
            if let Some(claim) = claim(&world.store).await {
                return claim;
            }
        }
    };
    assert_eq!(timeout(5 * SECOND, found).await.unwrap().failed_attempts, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn listening_starts_again_after_its_connection_broke() {
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    listening(&world, &world.store).await;
    let pid: i32 = world.sql(&format!("SELECT pid {LISTENERS}"), &[]).await[0].get(0);
    world.sql("SELECT pg_terminate_backend($1, 5000)", &[&pid]).await;
    // What was notified meanwhile may be lost, so one worker is woken when it listens again.
    assert!(waited(&world.store, 20 * SECOND).await < AT_ONCE);
    until_listeners(&world, 1).await;
    let store = world.store.clone();
    let waiting = tokio::spawn(async move { waited(&store, 20 * SECOND).await });
    sleep(Duration::from_millis(50)).await;
    queued(&world.store, &by, "j").await;
    assert!(waiting.await.unwrap() < AT_ONCE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_has_one_listener_that_ends_with_it() {
    let world = in_real_time().await;
    let other = world.another_store().await;
    let short = Duration::from_millis(500);
    futures::future::join_all((0..8).map(|_| waited(&other, short))).await;
    assert_eq!(listeners(&world).await, 1);
    drop(other);
    until_listeners(&world, 0).await;
}
