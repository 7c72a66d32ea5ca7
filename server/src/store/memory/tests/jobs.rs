//! Generation jobs: the contract of every store, and concurrency of this one.

use std::future::{Ready, ready};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::{caller, done, manual_clock};
use crate::clock::{Clock, ManualClock};
use crate::domain::{Caller, Release, Reserved};
use crate::store::jobs::contract_tests::{
    LEASE, LIMIT, SECOND, StoreUnderTest, job_contract_tests, new, queued,
};
use crate::store::memory::MemoryStore;
use crate::store::{JobQueue, JobStore, Store};

struct InMemory {
    store: MemoryStore,
    clock: ManualClock,
}

fn in_memory() -> Ready<InMemory> {
    let (clock, shared) = manual_clock();
    ready(InMemory { store: MemoryStore::new(shared), clock })
}

impl StoreUnderTest for InMemory {
    fn store(&self) -> &dyn Store {
        &self.store
    }

    fn pass(&self, time: Duration) {
        self.clock.advance(time);
    }

    async fn caller(&self, account: &str) -> Caller {
        caller(&self.store, account)
    }

    async fn check(&self) {
        self.store.check_invariants();
    }
}

job_contract_tests!(in_memory);

/// Its schedule uses the time of the runtime.
fn store() -> MemoryStore {
    MemoryStore::new(Clock::System)
}

#[test]
fn of_many_reservations_at_once_one_is_new() {
    for _ in 0..50 {
        let store = store();
        let by = caller(&store, "alice");
        let news = Mutex::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| match done(store.reserve_job(&by, new("j", 1, None))) {
                    Ok(Reserved::New(_)) => *news.lock().unwrap() += 1,
                    Ok(Reserved::Existing(_)) => {}
                    Err(error) => panic!("{error:?}"),
                });
            }
        });
        assert_eq!(*news.lock().unwrap(), 1);
        store.check_invariants();
    }
}

#[test]
fn no_two_claims_hold_one_job() {
    let store = store();
    let by = caller(&store, "alice");
    for at in 0..400 {
        done(queued(&store, &by, &format!("{at}")));
    }
    let claimed = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(claim) = done(store.claim_job(LEASE, LIMIT)).unwrap() {
                    claimed.lock().unwrap().push(claim.job.key.client_job_id);
                }
            });
        }
    });
    let mut claimed = claimed.into_inner().unwrap();
    claimed.sort_unstable();
    claimed.dedup();
    assert_eq!(claimed.len(), 400);
    store.check_invariants();
}

#[tokio::test(start_paused = true)]
async fn job_due_returns_when_a_job_is_due_or_changes() {
    let store = store();
    let by = caller(&store, "alice");
    let before = Instant::now();
    store.job_due(5 * SECOND).await;
    assert_eq!(before.elapsed(), 5 * SECOND);

    let waiting = async {
        store.job_due(60 * SECOND).await;
        before.elapsed()
    };
    let ordering = async {
        tokio::time::sleep(SECOND).await;
        queued(&store, &by, "j").await;
    };
    assert_eq!(tokio::join!(waiting, ordering).0, 6 * SECOND);

    let held = store.claim_job(LEASE, LIMIT).await.unwrap().unwrap();
    store.release_job(&held.lease, 7 * SECOND, Release::Waiting).await.unwrap();
    // What has changed already may end the first wait at once.
    store.job_due(SECOND / 1000).await;
    let due = Instant::now();
    timeout(60 * SECOND, store.job_due(60 * SECOND)).await.unwrap();
    assert!(due.elapsed() <= 7 * SECOND, "{:?}", due.elapsed());
    assert!(store.claim_job(LEASE, LIMIT).await.unwrap().is_some());
}
