//! Facts about generations.

use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use promptarium::VaultId;
use tokio::time::{Instant, advance, timeout};

use super::{caller, contents, done, is_not_found, store, vault};
use crate::generate::Order;
use crate::store::job::{Claim, JobRecord, JobState, NewJob, Reserved, Ticket};
use crate::store::memory::MemoryStore;
use crate::store::{Caller, JobStore, PromptImage, Release, Store, StoreError, VaultVisibility};

const LEASE: Duration = Duration::from_secs(20);
const LIMIT: Duration = Duration::from_secs(120);
const SECOND: Duration = Duration::from_secs(1);

fn new(name: &str, digest: u8, vault: Option<VaultId>) -> NewJob {
    let order = Order { prompt: "A harbour".into(), ..Order::default() };
    NewJob { client_job_id: name.into(), digest: [digest; 32], order: order.into(), vault }
}

fn ticket() -> Ticket {
    Ticket { request_id: "r".into(), memo: "m".into() }
}

fn reserved(store: &MemoryStore, by: &Caller, new: NewJob) -> JobRecord {
    match done(store.reserve_job(by, new)).expect("the name is free") {
        Reserved::New(job) => job,
        Reserved::Existing(job) => panic!("{job:?}"),
    }
}

fn queued(store: &MemoryStore, by: &Caller, name: &str) -> JobRecord {
    let job = reserved(store, by, new(name, 1, None));
    done(store.job_submitted(&job.key, ticket())).expect("it is being submitted")
}

fn claim(store: &MemoryStore) -> Option<Claim> {
    done(store.claim_job(LEASE, LIMIT)).expect("the store does not fail")
}

fn picture() -> PromptImage {
    let created_at = jiff::Timestamp::UNIX_EPOCH;
    PromptImage { url: "http://localhost/a.png".into(), width: 1, height: 2, created_at }
}

fn is_lost<T>(outcome: &Result<T, StoreError>) -> bool {
    matches!(outcome, Err(StoreError::LeaseLost))
}

#[test]
fn a_name_is_taken_once_in_an_account() {
    let store = store();
    let (alice, bob) = (caller(&store, "alice"), caller(&store, "bob"));
    let job = reserved(&store, &alice, new("j", 1, None));
    assert_eq!(job.state, JobState::Submitting);
    let again = done(store.reserve_job(&alice, new("j", 1, None)));
    assert!(matches!(again, Ok(Reserved::Existing(same)) if same == job));
    let other = done(store.reserve_job(&alice, new("j", 2, None)));
    assert!(matches!(other, Err(StoreError::JobConflict)));
    reserved(&store, &bob, new("j", 2, None));
    store.check_invariants();
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
fn a_vault_that_is_not_the_callers_takes_no_job() {
    let store = store();
    let (alice, bob) = (caller(&store, "alice"), caller(&store, "bob"));
    let foreign = vault(&store, &bob, VaultVisibility::Public).id;
    let refused = done(store.reserve_job(&alice, new("j", 1, Some(foreign))));
    assert!(matches!(refused, Err(StoreError::UnknownVault)));
    let own = vault(&store, &alice, VaultVisibility::Private).id;
    assert_eq!(reserved(&store, &alice, new("j", 1, Some(own))).vault, own);
    done(store.delete_vault(&alice, own)).unwrap();
    let again = done(store.reserve_job(&alice, new("j", 1, Some(own))));
    assert!(matches!(again, Ok(Reserved::Existing(_))), "the same request has the same job");
}

#[test]
fn a_job_is_seen_by_its_account_once_the_provider_has_it() {
    let store = store();
    let (alice, bob) = (caller(&store, "alice"), caller(&store, "bob"));
    let job = reserved(&store, &alice, new("j", 1, None));
    assert!(is_not_found(&done(store.job(&alice, "j"))));
    assert_eq!(done(store.job_by_key(&job.key)).unwrap(), job);
    let job = done(store.job_submitted(&job.key, ticket())).unwrap();
    assert_eq!(job.state, JobState::Queued(ticket()));
    assert!(job.updated_at > job.created_at);
    assert_eq!(done(store.job(&alice, "j")).unwrap(), job);
    assert!(is_not_found(&done(store.job(&bob, "j"))));
    assert!(is_not_found(&done(store.job_submitted(&job.key, ticket()))));
}

#[test]
fn a_discarded_job_never_was_and_a_queued_one_is_not_discarded() {
    let store = store();
    let by = caller(&store, "alice");
    let job = reserved(&store, &by, new("j", 1, None));
    done(store.discard_job(&job.key)).unwrap();
    done(store.discard_job(&job.key)).unwrap();
    assert!(is_not_found(&done(store.job_by_key(&job.key))));
    assert!(is_not_found(&done(store.job_submitted(&job.key, ticket()))));
    reserved(&store, &by, new("j", 2, None));
    done(store.job_submitted(&job.key, ticket())).unwrap();
    done(store.discard_job(&job.key)).unwrap();
    assert!(done(store.job(&by, "j")).is_ok());
    store.check_invariants();
}

#[tokio::test(start_paused = true)]
async fn a_lost_job_has_failed_and_nobody_works_on_it() {
    let store = store();
    let by = caller(&store, "alice");
    let job = reserved(&store, &by, new("j", 1, None));
    done(store.job_lost(&job.key, "gone")).unwrap();
    assert_eq!(done(store.job(&by, "j")).unwrap().state, JobState::Failed(None, "gone".into()));
    assert!(is_not_found(&done(store.job_lost(&job.key, "again"))));
    advance(LIMIT + SECOND).await;
    assert!(claim(&store).is_none());
    store.check_invariants();
}

#[test]
fn no_two_claims_hold_one_job() {
    let store = store();
    let by = caller(&store, "alice");
    for at in 0..400 {
        queued(&store, &by, &format!("{at}"));
    }
    let claimed = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(claim) = claim(&store) {
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
async fn the_job_that_has_been_due_longest_comes_first() {
    let store = store();
    let (alice, bob) = (caller(&store, "alice"), caller(&store, "bob"));
    queued(&store, &alice, "a");
    advance(SECOND).await;
    queued(&store, &bob, "b");
    let a = claim(&store).unwrap();
    assert_eq!(&*a.job.key.client_job_id, "a");
    done(store.release_job(&a.lease, 2 * SECOND, Release::Waiting)).unwrap();
    assert_eq!(&*claim(&store).unwrap().job.key.client_job_id, "b");
    assert!(claim(&store).is_none(), "it was handed back until later");
    advance(2 * SECOND).await;
    assert_eq!(&*claim(&store).unwrap().job.key.client_job_id, "a");
    store.check_invariants();
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_ran_out_goes_to_the_next_and_the_last_holder_writes_nothing() {
    let store = store();
    let by = caller(&store, "alice");
    queued(&store, &by, "j");
    let late = claim(&store).unwrap();
    advance(LEASE - SECOND).await;
    assert!(claim(&store).is_none());
    done(store.renew_lease(&late.lease, LEASE)).unwrap();
    advance(LEASE - SECOND).await;
    assert!(claim(&store).is_none(), "the lease was renewed");
    advance(2 * SECOND).await;
    let next = claim(&store).unwrap();
    assert_ne!(next.lease, late.lease);
    assert_eq!((late.setbacks, next.setbacks), (0, 1));

    let before = done(store.job(&by, "j")).unwrap();
    assert!(is_lost(&done(store.renew_lease(&late.lease, LEASE))));
    assert!(is_lost(&done(store.release_job(&late.lease, SECOND, Release::AtWork))));
    assert!(is_lost(&done(store.fail_job(&late.lease, "late"))));
    assert!(is_lost(&done(store.complete_job(&late.lease, vec![picture()]))));
    assert_eq!(done(store.job(&by, "j")).unwrap(), before);

    let prompt = done(store.complete_job(&next.lease, vec![picture()])).unwrap();
    assert!(is_lost(&done(store.complete_job(&next.lease, vec![picture()]))));
    assert!(is_lost(&done(store.fail_job(&next.lease, "late"))));
    let job = done(store.job(&by, "j")).unwrap();
    assert_eq!(job.state, JobState::Completed(ticket(), prompt));
    let listed = contents(&store, &by, job.vault);
    assert_eq!((listed.len(), listed[0].prompt.id), (1, prompt));
    assert_eq!(*listed[0].prompt.images, [picture()]);
    store.check_invariants();
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_ran_out_is_good_until_somebody_else_has_the_job() {
    let store = store();
    let by = caller(&store, "alice");
    queued(&store, &by, "j");
    let late = claim(&store).unwrap();
    advance(2 * LEASE).await;
    done(store.fail_job(&late.lease, "as asked")).unwrap();
    assert!(claim(&store).is_none());
}

#[tokio::test(start_paused = true)]
async fn what_a_worker_saw_shows_in_state_and_setbacks() {
    let store = store();
    let by = caller(&store, "alice");
    let queued = queued(&store, &by, "j");
    for (outcome, setbacks, at_work) in [
        (Release::Waiting, 0, false),
        (Release::Setback, 1, false),
        (Release::Setback, 2, false),
        (Release::Leaving, 2, false),
        (Release::AtWork, 0, true),
        (Release::Setback, 1, true),
        (Release::Waiting, 0, true),
    ] {
        let held = claim(&store).unwrap();
        done(store.release_job(&held.lease, Duration::ZERO, outcome)).unwrap();
        let held = claim(&store).unwrap();
        assert_eq!(held.setbacks, setbacks, "{outcome:?}");
        let expected =
            if at_work { JobState::InProgress(ticket()) } else { JobState::Queued(ticket()) };
        assert_eq!(held.job.state, expected, "{outcome:?}");
        assert_eq!(held.job.updated_at > queued.updated_at, at_work);
        done(store.release_job(&held.lease, Duration::ZERO, Release::Leaving)).unwrap();
    }
    store.check_invariants();
}

#[tokio::test(start_paused = true)]
async fn a_submission_without_end_goes_to_a_worker_but_its_end_still_counts() {
    let store = store();
    let by = caller(&store, "alice");
    let job = reserved(&store, &by, new("j", 1, None));
    advance(LIMIT - SECOND).await;
    assert!(claim(&store).is_none());
    advance(2 * SECOND).await;
    let held = claim(&store).unwrap();
    assert_eq!(held.job.state, JobState::Submitting);
    assert!(is_lost(&done(store.complete_job(&held.lease, vec![picture()]))));
    done(store.job_submitted(&job.key, ticket())).unwrap();
    assert!(is_lost(&done(store.fail_job(&held.lease, "unknown"))));
    assert_eq!(done(store.job(&by, "j")).unwrap().state, JobState::Queued(ticket()));
    assert!(claim(&store).is_some());
    store.check_invariants();
}

#[test]
fn output_goes_to_the_vault_that_was_asked_for_or_to_general() {
    let store = store();
    let by = caller(&store, "alice");
    let general = done(store.vaults(&by)).unwrap()[0].id;
    let [kept, gone] = [(); 2].map(|()| vault(&store, &by, VaultVisibility::Private).id);
    for (asked, expected) in [(None, general), (Some(kept), kept), (Some(gone), general)] {
        let name = format!("{asked:?}");
        let job = reserved(&store, &by, new(&name, 1, asked));
        done(store.job_submitted(&job.key, ticket())).unwrap();
        if asked == Some(gone) {
            done(store.delete_vault(&by, gone)).unwrap();
        }
        let held = claim(&store).unwrap();
        let prompt = done(store.complete_job(&held.lease, vec![picture()])).unwrap();
        assert_eq!(done(store.prompt(&by, prompt)).unwrap().vault_ids, [expected]);
        assert_eq!(done(store.job(&by, &name)).unwrap().vault, expected);
    }
    store.check_invariants();
}

#[tokio::test(start_paused = true)]
async fn waiting_for_work_ends_when_there_is_some() {
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
        queued(&store, &by, "j");
    };
    assert_eq!(tokio::join!(waiting, ordering).0, 6 * SECOND);

    let held = claim(&store).unwrap();
    done(store.release_job(&held.lease, 7 * SECOND, Release::Waiting)).unwrap();
    // What has changed already may end the first wait at once.
    store.job_due(SECOND / 1000).await;
    let due = Instant::now();
    timeout(60 * SECOND, store.job_due(60 * SECOND)).await.unwrap();
    assert!(due.elapsed() <= 7 * SECOND, "{:?}", due.elapsed());
    assert!(claim(&store).is_some());
}
