//! Jobs and their queue.

use std::sync::Arc;
use std::time::Duration;

use promptarium::VaultId;

use super::{StoreUnderTest, assert_error, contract_tests};
use crate::domain::{
    Caller, Claim, GenerationRequest, JobRecord, JobState, NewJob, PromptImage, ProviderTicket,
    Release, Reserved, Turn,
};
use crate::store::{Store, StoreError};

contract_tests! {
    a_job_is_visible_to_its_account_once_it_is_submitted
    jobs_are_listed_newest_first_from_any_of_them_on
    only_a_submitting_job_is_discarded_and_its_name_is_free_again
    a_lost_job_has_failed_and_is_not_claimed
    jobs_of_an_account_are_claimed_in_order_of_time
    accounts_take_turns_however_many_jobs_one_has
    an_expired_lease_is_taken_over_and_its_former_holder_changes_nothing
    an_expired_lease_is_valid_until_it_is_taken_over
    a_release_sets_state_and_failed_attempts
    a_note_is_kept_until_there_is_progress
    only_a_late_submission_is_failed
    a_late_submission_that_the_provider_accepted_is_queued_again
    only_jobs_that_ended_long_ago_are_deleted
}

pub(in crate::store) const LEASE: Duration = Duration::from_secs(20);
pub(in crate::store) const LIMIT: Duration = Duration::from_secs(120);
pub(in crate::store) const SECOND: Duration = Duration::from_secs(1);

pub(in crate::store) fn new(name: &str, digest: u8, vault: Option<VaultId>) -> NewJob {
    let request = GenerationRequest { prompt: "A harbour".into(), ..GenerationRequest::default() };
    NewJob { client_job_id: name.into(), digest: [digest; 32], request: request.into(), vault }
}

pub(in crate::store) fn ticket() -> ProviderTicket {
    ProviderTicket { request_id: "r".into(), provider_state: "m".into() }
}

pub(in crate::store) async fn reserved(
    store: &dyn Store,
    caller: &Caller,
    new: NewJob,
) -> JobRecord {
    match store.reserve_job(caller, new).await.expect("the name is free") {
        Reserved::New(job) => job,
        Reserved::Existing(job) => panic!("{job:?}"),
    }
}

pub(in crate::store) async fn queued(store: &dyn Store, caller: &Caller, name: &str) -> JobRecord {
    let job = reserved(store, caller, new(name, 1, None)).await;
    store.job_submitted(&job.key, ticket()).await.expect("it is being submitted")
}

pub(in crate::store) async fn claim(store: &dyn Store) -> Option<Claim> {
    claim_by(store, &Turn::default()).await
}

async fn claim_by(store: &dyn Store, turn: &Turn) -> Option<Claim> {
    store.claim_job(LEASE, turn).await.expect("the store does not fail")
}

async fn fail_late(store: &dyn Store) -> Vec<String> {
    let failed = store.fail_late_submissions(LIMIT, "lost").await.unwrap();
    let mut names: Vec<_> = failed.iter().map(|key| key.client_job_id.to_string()).collect();
    names.sort();
    names
}

pub(in crate::store) fn image() -> PromptImage {
    let created_at = jiff::Timestamp::from_microsecond(8_000_001).unwrap();
    PromptImage { source: "0123456789abcdefghijklmno0.png".into(), width: 1, height: 2, created_at }
}

async fn a_job_is_visible_to_its_account_once_it_is_submitted(db: Arc<StoreUnderTest>) {
    let store = &*db.store;
    let (alice, bob) = (db.caller("alice").await, db.caller("bob").await);
    let job = reserved(store, &alice, new("j", 1, None)).await;
    assert_error!(store.job(&alice, "j").await, StoreError::NotFound);
    assert_eq!(store.job_by_key(&job.key).await.unwrap(), job);
    let job = store.job_submitted(&job.key, ticket()).await.unwrap();
    assert_eq!(job.state, JobState::Queued(ticket()));
    assert!(job.updated_at > job.created_at);
    assert_eq!(store.job(&alice, "j").await.unwrap(), job);
    assert_error!(store.job(&bob, "j").await, StoreError::NotFound);
    assert_error!(store.job_submitted(&job.key, ticket()).await, StoreError::NotFound);
}

async fn jobs_are_listed_newest_first_from_any_of_them_on(db: Arc<StoreUnderTest>) {
    let store = &*db.store;
    let (alice, bob) = (db.caller("alice").await, db.caller("bob").await);
    let names = async |caller: &Caller, before: Option<&str>, limit| {
        let jobs = store.jobs(caller, before, limit).await.unwrap();
        jobs.iter().map(|job| job.key.client_job_id.to_string()).collect::<Vec<_>>()
    };
    assert!(names(&alice, None, 9).await.is_empty());
    for name in ["a", "b", "c", "d"] {
        queued(store, &alice, name).await;
        db.clock.advance(SECOND);
    }
    queued(store, &bob, "e").await;
    reserved(store, &alice, new("submitting", 1, None)).await;
    assert_eq!(names(&alice, None, 9).await, ["d", "c", "b", "a"]);
    assert_eq!(names(&alice, None, 2).await, ["d", "c"]);
    assert_eq!(names(&alice, Some("c"), 1).await, ["b"]);
    assert!(names(&alice, Some("a"), 9).await.is_empty());
    for name in ["e", "submitting"] {
        assert_error!(store.jobs(&alice, Some(name), 9).await, StoreError::NotFound);
    }
    let listed = store.jobs(&bob, None, 9).await.unwrap();
    assert_eq!(listed, [store.job(&bob, "e").await.unwrap()]);

    // Of one time.
    queued(store, &bob, "f").await;
    queued(store, &bob, "g").await;
    let all = names(&bob, None, 9).await;
    assert_eq!(all.len(), 3);
    for (at, name) in all.iter().enumerate() {
        assert_eq!(names(&bob, Some(name), 9).await, all[at + 1..]);
    }
}

async fn only_a_submitting_job_is_discarded_and_its_name_is_free_again(db: Arc<StoreUnderTest>) {
    let store = &*db.store;
    let alice = db.caller("alice").await;
    let job = reserved(store, &alice, new("j", 1, None)).await;
    store.discard_job(&job.key).await.unwrap();
    store.discard_job(&job.key).await.unwrap();
    assert_error!(store.job_by_key(&job.key).await, StoreError::NotFound);
    assert_error!(store.job_submitted(&job.key, ticket()).await, StoreError::NotFound);
    reserved(store, &alice, new("j", 2, None)).await;
    store.job_submitted(&job.key, ticket()).await.unwrap();
    store.discard_job(&job.key).await.unwrap();
    assert!(store.job(&alice, "j").await.is_ok());
}

async fn a_lost_job_has_failed_and_is_not_claimed(db: Arc<StoreUnderTest>) {
    let store = &*db.store;
    let alice = db.caller("alice").await;
    let job = reserved(store, &alice, new("j", 1, None)).await;
    store.job_lost(&job.key, "gone").await.unwrap();
    let state = store.job(&alice, "j").await.unwrap().state;
    assert_eq!(state, JobState::Failed(None, "gone".into()));
    assert_error!(store.job_lost(&job.key, "again").await, StoreError::NotFound);
    db.clock.advance(LIMIT + SECOND);
    assert!(claim(store).await.is_none());
}

async fn jobs_of_an_account_are_claimed_in_order_of_time(db: Arc<StoreUnderTest>) {
    let store = &*db.store;
    let alice = db.caller("alice").await;
    for name in ["b", "a", "c"] {
        queued(store, &alice, name).await;
        db.clock.advance(SECOND);
    }
    let first = claim(store).await.unwrap();
    assert_eq!(first.overdue, 3 * SECOND);
    store.release_job(&first.lease, SECOND / 2, Release::Waiting).await.unwrap();
    db.clock.advance(SECOND);
    let mut order = vec![first.job.key.client_job_id.to_string()];
    for _ in 0..3 {
        order.push(claim(store).await.unwrap().job.key.client_job_id.to_string());
    }
    assert_eq!(order, ["b", "a", "c", "b"]);
    assert!(claim(store).await.is_none());
}

async fn accounts_take_turns_however_many_jobs_one_has(db: Arc<StoreUnderTest>) {
    let store = &*db.store;
    let (alice, bob, carol) =
        (db.caller("alice").await, db.caller("bob").await, db.caller("carol").await);
    for at in 0..4 {
        queued(store, &bob, &format!("b{at}")).await;
        db.clock.advance(SECOND);
    }
    queued(store, &carol, "c").await;
    queued(store, &alice, "a0").await;
    db.clock.advance(SECOND);
    queued(store, &alice, "a1").await;
    let mut turn = Turn::default();
    let mut order = Vec::new();
    for _ in 0..4 {
        let claim = claim_by(store, &turn).await.unwrap();
        turn.after = claim.job.key.account;
        order.push(claim.job.key.client_job_id.to_string());
    }
    assert_eq!(order, ["a0", "b0", "c", "a1"]);
    turn.except = vec![bob.account];
    assert!(claim_by(store, &turn).await.is_none());
    turn.except = vec![alice.account, carol.account];
    for after in [alice.account, bob.account, carol.account] {
        turn.after = after;
        assert_eq!(claim_by(store, &turn).await.unwrap().job.key.account, bob.account);
    }
    assert!(claim_by(store, &turn).await.is_none());
}

async fn an_expired_lease_is_taken_over_and_its_former_holder_changes_nothing(
    db: Arc<StoreUnderTest>,
) {
    let store = &*db.store;
    let alice = db.caller("alice").await;
    queued(store, &alice, "j").await;
    let late = claim(store).await.unwrap();
    db.clock.advance(LEASE - SECOND);
    assert!(claim(store).await.is_none());
    store.renew_lease(&late.lease, LEASE).await.unwrap();
    db.clock.advance(LEASE - SECOND);
    assert!(claim(store).await.is_none(), "the lease was renewed");
    db.clock.advance(2 * SECOND);
    let next = claim(store).await.unwrap();
    assert_ne!(next.lease, late.lease);
    assert_eq!((late.failed_attempts, next.failed_attempts), (0, 1));

    let before = store.job(&alice, "j").await.unwrap();
    assert_error!(store.renew_lease(&late.lease, LEASE).await, StoreError::LeaseLost);
    assert_error!(
        store.release_job(&late.lease, SECOND, Release::InProgress).await,
        StoreError::LeaseLost
    );
    assert_error!(store.fail_job(&late.lease, "late").await, StoreError::LeaseLost);
    assert_error!(store.complete_job(&late.lease, vec![image()]).await, StoreError::LeaseLost);
    assert_eq!(store.job(&alice, "j").await.unwrap(), before);

    let prompt = store.complete_job(&next.lease, vec![image()]).await.unwrap();
    assert_error!(store.complete_job(&next.lease, vec![image()]).await, StoreError::LeaseLost);
    assert_error!(store.fail_job(&next.lease, "late").await, StoreError::LeaseLost);
    let job = store.job(&alice, "j").await.unwrap();
    assert_eq!(job.state, JobState::Completed(ticket(), prompt));
    let contents = db.contents(&alice, job.vault).await;
    let [output] = &contents[..] else { panic!("{contents:?}") };
    assert_eq!((output.prompt.id, &*output.prompt.images), (prompt, &[image()][..]));
}

async fn an_expired_lease_is_valid_until_it_is_taken_over(db: Arc<StoreUnderTest>) {
    let store = &*db.store;
    let alice = db.caller("alice").await;
    queued(store, &alice, "j").await;
    let late = claim(store).await.unwrap();
    db.clock.advance(2 * LEASE);
    store.renew_lease(&late.lease, LEASE).await.unwrap();
    assert!(claim(store).await.is_none());
    db.clock.advance(2 * LEASE);
    store.fail_job(&late.lease, "as asked").await.unwrap();
    assert!(claim(store).await.is_none());
    let state = store.job(&alice, "j").await.unwrap().state;
    assert_eq!(state, JobState::Failed(Some(ticket()), "as asked".into()));
}

async fn a_release_sets_state_and_failed_attempts(db: Arc<StoreUnderTest>) {
    let store = &*db.store;
    let alice = db.caller("alice").await;
    let queued = queued(store, &alice, "j").await;
    for (outcome, failed_attempts, in_progress) in [
        (Release::Waiting, 0, false),
        (Release::FailedAttempt, 1, false),
        (Release::FailedAttempt, 2, false),
        (Release::Shutdown, 2, false),
        (Release::InProgress, 0, true),
        (Release::FailedAttempt, 1, true),
        (Release::Waiting, 0, true),
    ] {
        let held = claim(store).await.unwrap();
        store.release_job(&held.lease, Duration::ZERO, outcome).await.unwrap();
        let held = claim(store).await.unwrap();
        assert_eq!(held.failed_attempts, failed_attempts, "{outcome:?}");
        let expected =
            if in_progress { JobState::InProgress(ticket()) } else { JobState::Queued(ticket()) };
        assert_eq!(held.job.state, expected, "{outcome:?}");
        assert_eq!(held.job.updated_at > queued.updated_at, in_progress);
        store.release_job(&held.lease, Duration::ZERO, Release::Shutdown).await.unwrap();
    }
}

async fn a_note_is_kept_until_there_is_progress(db: Arc<StoreUnderTest>) {
    let store = &*db.store;
    let alice = db.caller("alice").await;
    queued(store, &alice, "j").await;
    let lost = claim(store).await.unwrap().lease;
    store.release_job(&lost, Duration::ZERO, Release::Waiting).await.unwrap();
    let refused = store.note_job(&lost, Some("other"), "nothing").await;
    assert!(matches!(refused, Err(StoreError::LeaseLost)), "{refused:?}");
    for (state, expected, outcome, failing, left) in [
        (Some("new"), "new", Release::FailedAttempt, Duration::ZERO, Some("a friend")),
        (None, "new", Release::Shutdown, 60 * SECOND, Some("a friend")),
        (None, "new", Release::FailedAttempt, 120 * SECOND, Some("a friend")),
        (None, "new", Release::InProgress, 180 * SECOND, None),
        (Some("newer"), "newer", Release::Waiting, Duration::ZERO, None),
    ] {
        let held = claim(store).await.unwrap();
        assert_eq!(held.failing_for, failing, "{outcome:?}");
        store.note_job(&held.lease, state, "a friend").await.unwrap();
        let job = store.job(&alice, "j").await.unwrap();
        assert_eq!(job.waits_for.as_deref(), Some("a friend"));
        assert_eq!(&*job.state.ticket().unwrap().provider_state, expected);
        store.release_job(&held.lease, Duration::ZERO, outcome).await.unwrap();
        let job = store.job(&alice, "j").await.unwrap();
        assert_eq!(job.waits_for.as_deref(), left, "{outcome:?}");
        db.clock.advance(60 * SECOND);
    }
}

async fn only_a_late_submission_is_failed(db: Arc<StoreUnderTest>) {
    let store = &*db.store;
    let (alice, bob) = (db.caller("alice").await, db.caller("bob").await);
    reserved(store, &alice, new("late", 1, None)).await;
    reserved(store, &bob, new("late too", 1, None)).await;
    queued(store, &alice, "queued").await;
    db.clock.advance(LIMIT - SECOND);
    reserved(store, &alice, new("young", 1, None)).await;
    assert!(fail_late(store).await.is_empty());
    db.clock.advance(SECOND);
    assert_eq!(fail_late(store).await, ["late", "late too"]);
    assert!(fail_late(store).await.is_empty());
    let job = store.job(&alice, "late").await.unwrap();
    assert_eq!(job.state, JobState::Failed(None, "lost".into()));
    assert!(job.updated_at > job.created_at);
    assert_eq!(&*claim(store).await.unwrap().job.key.client_job_id, "queued");
    assert!(claim(store).await.is_none());
    assert_error!(store.job(&alice, "young").await, StoreError::NotFound);
}

async fn a_late_submission_that_the_provider_accepted_is_queued_again(db: Arc<StoreUnderTest>) {
    let store = &*db.store;
    let alice = db.caller("alice").await;
    let late = reserved(store, &alice, new("late", 1, None)).await;
    db.clock.advance(LIMIT);
    assert_eq!(fail_late(store).await, ["late"]);
    let queued = store.job_submitted(&late.key, ticket()).await.unwrap();
    assert_eq!(queued.state, JobState::Queued(ticket()));
    assert_eq!(store.job(&alice, "late").await.unwrap(), queued);
    let claim = claim(store).await.unwrap();
    assert_eq!(claim.job, queued);
    // A job that failed after it was queued has ended.
    store.fail_job(&claim.lease, "as asked").await.unwrap();
    assert_error!(store.job_submitted(&late.key, ticket()).await, StoreError::NotFound);
}

async fn only_jobs_that_ended_long_ago_are_deleted(db: Arc<StoreUnderTest>) {
    let store = &*db.store;
    let (alice, bob) = (db.caller("alice").await, db.caller("bob").await);
    let age = 10 * SECOND;
    for name in ["completed", "failed"] {
        queued(store, &alice, name).await;
    }
    let prompt = {
        let claim = claim(store).await.unwrap();
        store.complete_job(&claim.lease, vec![image()]).await.unwrap()
    };
    store.fail_job(&claim(store).await.unwrap().lease, "as asked").await.unwrap();
    let lost = reserved(store, &bob, new("lost", 1, None)).await;
    store.job_lost(&lost.key, "gone").await.unwrap();
    queued(store, &alice, "queued").await;
    reserved(store, &alice, new("submitting", 1, None)).await;
    db.clock.advance(age - SECOND);
    assert_eq!(store.delete_ended_jobs(age).await.unwrap(), 0);
    queued(store, &bob, "young").await;
    let turn = Turn { after: alice.account, ..Turn::default() };
    let young = claim_by(store, &turn).await.unwrap();
    store.fail_job(&young.lease, "as asked").await.unwrap();
    db.clock.advance(2 * SECOND);
    assert_eq!(store.delete_ended_jobs(age).await.unwrap(), 3);
    assert_eq!(store.delete_ended_jobs(age).await.unwrap(), 0);
    for name in ["completed", "failed"] {
        assert_error!(store.job(&alice, name).await, StoreError::NotFound);
    }
    assert_error!(store.job(&bob, "lost").await, StoreError::NotFound);
    assert!(store.prompt(&alice, prompt).await.is_ok());
    let left =
        [store.jobs(&alice, None, 9).await.unwrap(), store.jobs(&bob, None, 9).await.unwrap()];
    let left: Vec<_> = left.iter().flatten().map(|job| &*job.key.client_job_id).collect();
    assert_eq!(left, ["queued", "young"]);
    // The name is free again.
    reserved(store, &alice, new("completed", 2, None)).await;
}
