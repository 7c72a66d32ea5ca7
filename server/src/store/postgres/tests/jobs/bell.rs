//! The bell: who wakes, when, and that it ends with its store.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::{InPostgres, StoreUnderTest, in_real_time};
use crate::domain::Release;
use crate::store::JobQueue as _;
use crate::store::jobs::contract_tests::{LEASE, SECOND, claim, queued};

/// Those who listen and have looked for themselves, or are about to.
const LISTENERS: &str = "FROM pg_stat_activity WHERE datname = current_database() \
                         AND query LIKE '%micros_to_next%' AND pid <> pg_backend_pid()";

async fn listeners(world: &InPostgres) -> i64 {
    world.number(&format!("SELECT count(*) {LISTENERS}")).await
}

/// Waits for this, at most some seconds.
async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    let all = async {
        while !is_so().await {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(10 * SECOND, all).await.unwrap_or_else(|_| panic!("{what}"));
}

/// Waits until one listens and has just looked, so that no look comes for a while.
async fn until_it_has_looked(world: &InPostgres) {
    let since = "SELECT coalesce(max(extract(epoch FROM query_start) * 1000000), 0)::bigint";
    let since = format!("{since} {LISTENERS} AND state = 'idle'");
    until("nobody listens", async || world.number(&since).await > 0).await;
    let first = world.number(&since).await;
    until("nobody looks", async || world.number(&since).await > first).await;
}

/// How long a worker waits for this.
async fn waited(store: &impl crate::store::JobQueue, at_most: Duration) -> Duration {
    let before = Instant::now();
    store.job_due(at_most).await;
    before.elapsed()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_another_store_took_on_wakes_a_worker_at_once() {
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    let other = world.another_store().await;
    let waiting = tokio::spawn(async move {
        let waited = waited(&other, 20 * SECOND).await;
        (waited, claim(&other).await)
    });
    until_it_has_looked(&world).await;
    let before = Instant::now();
    queued(&world.store, &by, "j").await;
    let (_, claim) = waiting.await.unwrap();
    assert!(claim.is_some());
    assert!(before.elapsed() < Duration::from_millis(500), "{:?}", before.elapsed());
}

#[tokio::test]
async fn waiting_ends_when_its_time_is_over() {
    let world = in_real_time().await;
    let waited = waited(&world.store, Duration::from_millis(1500)).await;
    assert!(waited >= Duration::from_millis(1500), "{waited:?}");
    assert!(waited < 4 * SECOND, "{waited:?}");
}

#[tokio::test]
async fn a_job_that_was_due_before_anybody_waited_ends_the_wait() {
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    queued(&world.store, &by, "j").await;
    let waited = waited(&world.store, 20 * SECOND).await;
    assert!(waited < 2 * SECOND, "{waited:?}");
    assert!(claim(&world.store).await.is_some());
}

#[tokio::test]
async fn waiting_ends_when_a_job_comes_due_that_was_handed_back_for_later() {
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    queued(&world.store, &by, "j").await;
    let held = claim(&world.store).await.unwrap();
    let store = world.store.clone();
    let waiting = tokio::spawn(async move { waited(&store, 20 * SECOND).await });
    until_it_has_looked(&world).await;
    let (before, pause) = (Instant::now(), Duration::from_millis(100));
    world.store.release_job(&held.lease, pause, Release::Waiting).await.unwrap();
    waiting.await.unwrap();
    assert!(before.elapsed() < Duration::from_millis(600), "{:?}", before.elapsed());
    assert!(claim(&world.store).await.is_some());
}

#[tokio::test]
async fn a_lease_that_runs_out_in_another_store_ends_the_wait() {
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    queued(&world.store, &by, "j").await;
    let other = world.another_store().await;
    other.claim_job(SECOND, LEASE).await.unwrap().unwrap();
    let waited = waited(&world.store, 20 * SECOND).await;
    assert!(waited < 4 * SECOND, "{waited:?}");
    assert_eq!(claim(&world.store).await.unwrap().failed_attempts, 1);
}

/// Cuts the connection of the one who listens, and waits until it is gone.
async fn cut(world: &InPostgres) {
    let rows = world.sql(&format!("SELECT pid {LISTENERS}"), &[]).await;
    let pid: i32 = rows[0].get(0);
    world.sql("SELECT pg_terminate_backend($1, 5000)", &[&pid]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hearing_comes_back_after_its_connection_was_cut() {
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    let store = world.store.clone();
    let waiting = tokio::spawn(async move { waited(&store, 60 * SECOND).await });
    until_it_has_looked(&world).await;
    cut(&world).await;
    until_it_has_looked(&world).await;
    let before = Instant::now();
    queued(&world.store, &by, "j").await;
    waiting.await.unwrap();
    assert!(before.elapsed() < Duration::from_millis(500), "{:?}", before.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_notified_while_nobody_hears_is_found_when_hearing_comes_back() {
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    let store = world.store.clone();
    let waiting = tokio::spawn(async move { waited(&store, 60 * SECOND).await });
    until_it_has_looked(&world).await;
    cut(&world).await;
    queued(&world.store, &by, "j").await;
    timeout(10 * SECOND, waiting).await.expect("the job was not found").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_of_one_store_share_one_listener() {
    let world = in_real_time().await;
    let all = (0..8).map(|_| waited(&world.store, 3 * SECOND));
    let looking = async {
        until_it_has_looked(&world).await;
        listeners(&world).await
    };
    assert_eq!(tokio::join!(futures::future::join_all(all), looking).1, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_job_wakes_one_worker() {
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let store = world.store.clone();
        workers.spawn(async move {
            store.job_due(60 * SECOND).await;
            claim(&store).await.is_some()
        });
    }
    until_it_has_looked(&world).await;
    queued(&world.store, &by, "j").await;
    assert!(workers.join_next().await.unwrap().unwrap(), "it found the job");
    let second = timeout(2 * SECOND, workers.join_next()).await;
    assert!(second.is_err(), "another woke for nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_goes_on_when_the_store_is_gone() {
    let world = in_real_time().await;
    let other = world.another_store().await;
    let everybody = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()";
    waited(&other, 2 * SECOND).await;
    assert_eq!(listeners(&world).await, 1);
    drop(other);
    until("the listener stays", async || listeners(&world).await == 0).await;
    // The world's own store has one, and whoever looks behind it another.
    until("a connection stays", async || world.number(everybody).await <= 2).await;
}
