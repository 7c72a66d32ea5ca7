//! The contract of [`JobStore`](super::JobStore) and [`JobQueue`](super::JobQueue), as tests of
//! any store. [`job_contract_tests`] instantiates them for one [`StoreUnderTest`].

use std::time::Duration;

use futures::TryStreamExt;
use promptarium::{PromptId, VaultId};

use crate::domain::{
    Caller, Claim, GenerationRequest, JobRecord, JobState, NewJob, NewVault, PromptImage,
    ProviderTicket, Release, Reserved, VaultVisibility,
};
use crate::store::{Store, StoreError};

/// A store whose time the tests move.
pub(crate) trait StoreUnderTest {
    fn store(&self) -> &dyn Store;

    /// Moves the store's time forward.
    fn pass(&self, time: Duration);

    /// A caller with a key of this account.
    async fn caller(&self, account: &str) -> Caller;

    /// Checks the store's invariants.
    async fn check(&self);

    async fn vault(&self, by: &Caller) -> VaultId {
        let visibility = VaultVisibility::Public;
        let new = NewVault { name: "Sky".into(), description: None, visibility };
        self.store().create_vault(by, new).await.unwrap().id
    }

    async fn delete_vault(&self, by: &Caller, vault: VaultId) {
        self.store().delete_vault(by, vault).await.unwrap();
    }

    async fn general(&self, by: &Caller) -> VaultId {
        self.store().vaults(by).await.unwrap().last().unwrap().id
    }

    /// The prompts of a vault with their images.
    async fn contents(&self, by: &Caller, vault: VaultId) -> Vec<(PromptId, Vec<PromptImage>)> {
        let contents = self.store().contents(by, vault).await.unwrap();
        let pair =
            |listed: crate::domain::ListedPrompt| (listed.prompt.id, listed.prompt.images.to_vec());
        contents.map_ok(pair).try_collect().await.unwrap()
    }
}

/// Creates a `#[tokio::test]` of each; takes a function that creates the store.
macro_rules! job_contract_tests {
    ($store:path) => {
        $crate::store::jobs::contract_tests::job_contract_tests! { $store:
            a_name_is_taken_once_in_an_account,
            a_job_needs_a_vault_of_its_own_account,
            a_digest_conflict_is_reported_before_an_unknown_vault,
            a_job_is_visible_to_its_account_once_it_is_submitted,
            only_a_submitting_job_is_discarded_and_its_name_is_free_again,
            a_lost_job_has_failed_and_is_not_claimed,
            the_job_that_has_been_due_longest_is_claimed_first,
            late_submissions_and_due_jobs_are_claimed_in_order_of_time,
            an_expired_lease_is_taken_over_and_its_former_holder_changes_nothing,
            an_expired_lease_is_valid_until_it_is_taken_over,
            a_release_sets_state_and_failed_attempts,
            a_late_submission_is_claimed_but_its_result_still_counts,
            a_released_late_submission_is_due_again,
            output_goes_to_the_requested_vault_or_to_general,
            a_request_reads_back_unchanged,
        }
    };
    ($store:path: $($test:ident,)+) => { $(
        #[tokio::test]
        async fn $test() {
            use $crate::store::jobs::contract_tests::{self, StoreUnderTest as _};
            let store_under_test = $store().await;
            contract_tests::$test(&store_under_test).await;
            store_under_test.check().await;
        }
    )+ };
}
pub(crate) use job_contract_tests;

pub(crate) const LEASE: Duration = Duration::from_secs(20);
pub(crate) const LIMIT: Duration = Duration::from_secs(120);
pub(crate) const SECOND: Duration = Duration::from_secs(1);

pub(crate) fn new(name: &str, digest: u8, vault: Option<VaultId>) -> NewJob {
    let request = GenerationRequest { prompt: "A harbour".into(), ..GenerationRequest::default() };
    NewJob { client_job_id: name.into(), digest: [digest; 32], request: request.into(), vault }
}

pub(crate) fn ticket() -> ProviderTicket {
    ProviderTicket { request_id: "r".into(), provider_state: "m".into() }
}

pub(crate) async fn reserved(store: &dyn Store, by: &Caller, new: NewJob) -> JobRecord {
    match store.reserve_job(by, new).await.expect("the name is free") {
        Reserved::New(job) => job,
        Reserved::Existing(job) => panic!("{job:?}"),
    }
}

pub(crate) async fn queued(store: &dyn Store, by: &Caller, name: &str) -> JobRecord {
    let job = reserved(store, by, new(name, 1, None)).await;
    store.job_submitted(&job.key, ticket()).await.expect("it is being submitted")
}

pub(crate) async fn claim(store: &dyn Store) -> Option<Claim> {
    store.claim_job(LEASE, LIMIT).await.expect("the store does not fail")
}

/// The name of the job that is claimed next.
async fn claimed(store: &dyn Store) -> String {
    claim(store).await.expect("one is due").job.key.client_job_id.to_string()
}

pub(crate) fn image() -> PromptImage {
    let created_at = jiff::Timestamp::UNIX_EPOCH;
    PromptImage { url: "http://localhost/a.png".into(), width: 1, height: 2, created_at }
}

pub(crate) fn is_lost<T>(outcome: &Result<T, StoreError>) -> bool {
    matches!(outcome, Err(StoreError::LeaseLost))
}

fn is_not_found<T>(outcome: &Result<T, StoreError>) -> bool {
    matches!(outcome, Err(StoreError::NotFound))
}

pub(crate) async fn a_name_is_taken_once_in_an_account(store_under_test: &impl StoreUnderTest) {
    let store = store_under_test.store();
    let (alice, bob) =
        (store_under_test.caller("alice").await, store_under_test.caller("bob").await);
    let job = reserved(store, &alice, new("j", 1, None)).await;
    assert_eq!(job.state, JobState::Submitting);
    assert_eq!(job.vault, store_under_test.general(&alice).await);
    let again = store.reserve_job(&alice, new("j", 1, None)).await;
    assert!(matches!(again, Ok(Reserved::Existing(same)) if same == job));
    let other = store.reserve_job(&alice, new("j", 2, None)).await;
    assert!(matches!(other, Err(StoreError::JobConflict)));
    reserved(store, &bob, new("j", 2, None)).await;
}

pub(crate) async fn a_job_needs_a_vault_of_its_own_account(store_under_test: &impl StoreUnderTest) {
    let store = store_under_test.store();
    let (alice, bob) =
        (store_under_test.caller("alice").await, store_under_test.caller("bob").await);
    let foreign = store_under_test.vault(&bob).await;
    let refused = store.reserve_job(&alice, new("j", 1, Some(foreign))).await;
    assert!(matches!(refused, Err(StoreError::UnknownVault)));
    let own = store_under_test.vault(&alice).await;
    assert_eq!(reserved(store, &alice, new("j", 1, Some(own))).await.vault, own);
    store_under_test.delete_vault(&alice, own).await;
    let again = store.reserve_job(&alice, new("j", 1, Some(own))).await;
    assert!(matches!(again, Ok(Reserved::Existing(_))), "the same request has the same job");
}

pub(crate) async fn a_digest_conflict_is_reported_before_an_unknown_vault(
    store_under_test: &impl StoreUnderTest,
) {
    let by = store_under_test.caller("alice").await;
    reserved(store_under_test.store(), &by, new("j", 1, None)).await;
    let nowhere = Some(VaultId::new(i64::MAX));
    let other = store_under_test.store().reserve_job(&by, new("j", 2, nowhere)).await;
    assert!(matches!(other, Err(StoreError::JobConflict)), "{other:?}");
}

pub(crate) async fn a_job_is_visible_to_its_account_once_it_is_submitted(
    store_under_test: &impl StoreUnderTest,
) {
    let store = store_under_test.store();
    let (alice, bob) =
        (store_under_test.caller("alice").await, store_under_test.caller("bob").await);
    let job = reserved(store, &alice, new("j", 1, None)).await;
    assert!(is_not_found(&store.job(&alice, "j").await));
    assert_eq!(store.job_by_key(&job.key).await.unwrap(), job);
    let job = store.job_submitted(&job.key, ticket()).await.unwrap();
    assert_eq!(job.state, JobState::Queued(ticket()));
    assert!(job.updated_at > job.created_at);
    assert_eq!(store.job(&alice, "j").await.unwrap(), job);
    assert!(is_not_found(&store.job(&bob, "j").await));
    assert!(is_not_found(&store.job_submitted(&job.key, ticket()).await));
}

pub(crate) async fn only_a_submitting_job_is_discarded_and_its_name_is_free_again(
    store_under_test: &impl StoreUnderTest,
) {
    let store = store_under_test.store();
    let by = store_under_test.caller("alice").await;
    let job = reserved(store, &by, new("j", 1, None)).await;
    store.discard_job(&job.key).await.unwrap();
    store.discard_job(&job.key).await.unwrap();
    assert!(is_not_found(&store.job_by_key(&job.key).await));
    assert!(is_not_found(&store.job_submitted(&job.key, ticket()).await));
    reserved(store, &by, new("j", 2, None)).await;
    store.job_submitted(&job.key, ticket()).await.unwrap();
    store.discard_job(&job.key).await.unwrap();
    assert!(store.job(&by, "j").await.is_ok());
}

pub(crate) async fn a_lost_job_has_failed_and_is_not_claimed(
    store_under_test: &impl StoreUnderTest,
) {
    let store = store_under_test.store();
    let by = store_under_test.caller("alice").await;
    let job = reserved(store, &by, new("j", 1, None)).await;
    store.job_lost(&job.key, "gone").await.unwrap();
    let state = store.job(&by, "j").await.unwrap().state;
    assert_eq!(state, JobState::Failed(None, "gone".into()));
    assert!(is_not_found(&store.job_lost(&job.key, "again").await));
    store_under_test.pass(LIMIT + SECOND);
    assert!(claim(store).await.is_none());
}

pub(crate) async fn the_job_that_has_been_due_longest_is_claimed_first(
    store_under_test: &impl StoreUnderTest,
) {
    let store = store_under_test.store();
    let (alice, bob) =
        (store_under_test.caller("alice").await, store_under_test.caller("bob").await);
    queued(store, &alice, "a").await;
    store_under_test.pass(SECOND);
    queued(store, &bob, "b").await;
    let a = claim(store).await.unwrap();
    assert_eq!(&*a.job.key.client_job_id, "a");
    store.release_job(&a.lease, 2 * SECOND, Release::Waiting).await.unwrap();
    assert_eq!(claimed(store).await, "b");
    assert!(claim(store).await.is_none(), "it was handed back until later");
    store_under_test.pass(2 * SECOND);
    assert_eq!(claimed(store).await, "a");
}

pub(crate) async fn late_submissions_and_due_jobs_are_claimed_in_order_of_time(
    store_under_test: &impl StoreUnderTest,
) {
    let store = store_under_test.store();
    let by = store_under_test.caller("alice").await;
    for name in ["a", "b"] {
        reserved(store, &by, new(name, 1, None)).await;
        store_under_test.pass(SECOND);
    }
    // Each is late `LIMIT` after its own beginning.
    store_under_test.pass(LIMIT - 3 * SECOND);
    queued(store, &by, "before a").await;
    store_under_test.pass(SECOND + SECOND / 2);
    queued(store, &by, "after a").await;
    store_under_test.pass(LEASE / 2);
    let mut order = Vec::new();
    for _ in 0..4 {
        order.push(claimed(store).await);
    }
    assert_eq!(order, ["before a", "a", "after a", "b"]);
    assert!(claim(store).await.is_none());
}

pub(crate) async fn an_expired_lease_is_taken_over_and_its_former_holder_changes_nothing(
    store_under_test: &impl StoreUnderTest,
) {
    let store = store_under_test.store();
    let by = store_under_test.caller("alice").await;
    queued(store, &by, "j").await;
    let late = claim(store).await.unwrap();
    store_under_test.pass(LEASE - SECOND);
    assert!(claim(store).await.is_none());
    store.renew_lease(&late.lease, LEASE).await.unwrap();
    store_under_test.pass(LEASE - SECOND);
    assert!(claim(store).await.is_none(), "the lease was renewed");
    store_under_test.pass(2 * SECOND);
    let next = claim(store).await.unwrap();
    assert_ne!(next.lease, late.lease);
    assert_eq!((late.failed_attempts, next.failed_attempts), (0, 1));

    let before = store.job(&by, "j").await.unwrap();
    assert!(is_lost(&store.renew_lease(&late.lease, LEASE).await));
    assert!(is_lost(&store.release_job(&late.lease, SECOND, Release::InProgress).await));
    assert!(is_lost(&store.fail_job(&late.lease, "late").await));
    assert!(is_lost(&store.complete_job(&late.lease, vec![image()]).await));
    assert_eq!(store.job(&by, "j").await.unwrap(), before);

    let prompt = store.complete_job(&next.lease, vec![image()]).await.unwrap();
    assert!(is_lost(&store.complete_job(&next.lease, vec![image()]).await));
    assert!(is_lost(&store.fail_job(&next.lease, "late").await));
    let job = store.job(&by, "j").await.unwrap();
    assert_eq!(job.state, JobState::Completed(ticket(), prompt));
    assert_eq!(store_under_test.contents(&by, job.vault).await, [(prompt, vec![image()])]);
}

pub(crate) async fn an_expired_lease_is_valid_until_it_is_taken_over(
    store_under_test: &impl StoreUnderTest,
) {
    let store = store_under_test.store();
    let by = store_under_test.caller("alice").await;
    queued(store, &by, "j").await;
    let late = claim(store).await.unwrap();
    store_under_test.pass(2 * LEASE);
    store.renew_lease(&late.lease, LEASE).await.unwrap();
    assert!(claim(store).await.is_none());
    store_under_test.pass(2 * LEASE);
    store.fail_job(&late.lease, "as asked").await.unwrap();
    assert!(claim(store).await.is_none());
    let state = store.job(&by, "j").await.unwrap().state;
    assert_eq!(state, JobState::Failed(Some(ticket()), "as asked".into()));
}

pub(crate) async fn a_release_sets_state_and_failed_attempts(
    store_under_test: &impl StoreUnderTest,
) {
    let store = store_under_test.store();
    let by = store_under_test.caller("alice").await;
    let queued = queued(store, &by, "j").await;
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

pub(crate) async fn a_late_submission_is_claimed_but_its_result_still_counts(
    store_under_test: &impl StoreUnderTest,
) {
    let store = store_under_test.store();
    let by = store_under_test.caller("alice").await;
    let job = reserved(store, &by, new("j", 1, None)).await;
    store_under_test.pass(LIMIT - SECOND);
    assert!(claim(store).await.is_none());
    store_under_test.pass(2 * SECOND);
    let held = claim(store).await.unwrap();
    assert_eq!((held.job.state, held.failed_attempts), (JobState::Submitting, 0));
    assert!(is_lost(&store.complete_job(&held.lease, vec![image()]).await));
    store.job_submitted(&job.key, ticket()).await.unwrap();
    assert!(is_lost(&store.fail_job(&held.lease, "unknown").await));
    assert_eq!(store.job(&by, "j").await.unwrap().state, JobState::Queued(ticket()));
    assert!(claim(store).await.is_some());
}

pub(crate) async fn a_released_late_submission_is_due_again(
    store_under_test: &impl StoreUnderTest,
) {
    let store = store_under_test.store();
    let by = store_under_test.caller("alice").await;
    reserved(store, &by, new("j", 1, None)).await;
    store_under_test.pass(LIMIT);
    let held = claim(store).await.unwrap();
    store.release_job(&held.lease, Duration::ZERO, Release::Shutdown).await.unwrap();
    let held = claim(store).await.unwrap();
    assert_eq!((held.job.state, held.failed_attempts), (JobState::Submitting, 0));
    store_under_test.pass(LEASE);
    let held = claim(store).await.unwrap();
    assert_eq!((held.job.state, held.failed_attempts), (JobState::Submitting, 1));
    store.fail_job(&held.lease, "unknown").await.unwrap();
    let state = store.job(&by, "j").await.unwrap().state;
    assert_eq!(state, JobState::Failed(None, "unknown".into()));
}

pub(crate) async fn output_goes_to_the_requested_vault_or_to_general(
    store_under_test: &impl StoreUnderTest,
) {
    let store = store_under_test.store();
    let by = store_under_test.caller("alice").await;
    let general = store_under_test.general(&by).await;
    let (kept, gone) = (store_under_test.vault(&by).await, store_under_test.vault(&by).await);
    for (asked, expected) in [(None, general), (Some(kept), kept), (Some(gone), general)] {
        let name = format!("{asked:?}");
        let job = reserved(store, &by, new(&name, 1, asked)).await;
        store.job_submitted(&job.key, ticket()).await.unwrap();
        if asked == Some(gone) {
            store_under_test.delete_vault(&by, gone).await;
        }
        let held = claim(store).await.unwrap();
        let prompt = store.complete_job(&held.lease, vec![image()]).await.unwrap();
        let contents = store_under_test.contents(&by, expected).await;
        assert_eq!(contents.first(), Some(&(prompt, vec![image()])), "{asked:?}");
        assert_eq!(store.job(&by, &name).await.unwrap().vault, expected);
    }
}

pub(crate) async fn a_request_reads_back_unchanged(store_under_test: &impl StoreUnderTest) {
    let store = store_under_test.store();
    let by = store_under_test.caller("alice").await;
    let parameters =
        r#"{"seed": 18446744073709551615, "w": [1e16, -0.0, 1.0, 5e-324, null], "": {}}"#;
    let request = GenerationRequest {
        model_id: "local/plasma".into(),
        prompt: "A \"harbour\"\n\u{1f30a}".into(),
        negative_prompt: Some("".into()),
        parameters: serde_json::from_str(parameters).unwrap(),
        reference_image_urls: vec!["http://localhost/a.png".into()],
        ..GenerationRequest::default()
    };
    let job = NewJob { request: request.clone().into(), ..new("j", 1, None) };
    assert_eq!(*reserved(store, &by, job.clone()).await.request, request);
    let Reserved::Existing(job) = store.reserve_job(&by, job).await.unwrap() else {
        panic!("it was reserved twice");
    };
    assert_eq!(format!("{:?}", job.request), format!("{request:?}"));
}
