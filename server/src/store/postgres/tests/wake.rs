//! Waking workers: by their own server at once, and by the jobs of others within a second.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::{caller, store, store_in};
use crate::clock::Clock;
use crate::domain::Release;
use crate::limits::JOB_POLL;
use crate::store::JobQueue;
use crate::store::contract_tests::jobs::{SECOND, claim, queued};
use crate::store::postgres::PostgresStore;

/// Less than a worker waits without being woken.
const AT_ONCE: Duration = Duration::from_millis(500);

/// How long a worker waits.
async fn waited(store: &PostgresStore) -> Duration {
    let before = Instant::now();
    store.job_due(20 * SECOND, &[]).await;
    before.elapsed()
}

#[tokio::test]
async fn a_job_wakes_a_worker_of_its_server_when_it_is_queued_and_when_it_is_due_again() {
    let (store, _database) = store().await;
    let alice = caller(&store, "alice").await;
    let (wait, _) = tokio::join!(waited(&store), queued(&store, &alice, "j"));
    assert!(wait < AT_ONCE, "{wait:?}");
    let claimed = claim(&store).await.unwrap();
    let wait = waited(&store).await;
    assert!(wait > AT_ONCE, "woken for nothing after {wait:?}");
    let pause = Duration::from_millis(100);
    store.release_job(&claimed.lease, pause, Release::Waiting).await.unwrap();
    let wait = waited(&store).await;
    assert!(wait < AT_ONCE, "{wait:?}");
    assert!(claim(&store).await.is_some());
}

#[tokio::test]
async fn a_job_of_one_server_is_claimed_by_another_within_a_second() {
    let (store, database) = store().await;
    let alice = caller(&store, "alice").await;
    let other = store_in(&database, Clock::System).await;
    assert!(claim(&other).await.is_none());
    let waiting = tokio::spawn(async move {
        other.job_due(20 * SECOND, &[]).await;
        (claim(&other).await, Instant::now())
    });
    queued(&store, &alice, "j").await;
    let began = Instant::now();
    let (claimed, at) = timeout(20 * SECOND, waiting).await.unwrap().unwrap();
    assert!(claimed.is_some(), "it waited less than the job took to be queued");
    assert!(at - began < JOB_POLL, "{:?}", at - began);
}
