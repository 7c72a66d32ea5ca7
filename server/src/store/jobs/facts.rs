//! Facts about generations that hold in every store.
//!
//! Each is told of a [`World`]: a store whose time a test moves by hand.
//! [`job_facts`] makes a test of each for one kind of world.

use std::time::Duration;

use futures::TryStreamExt;
use promptarium::{PromptId, VaultId};

use crate::domain::{
    Caller, Claim, GenerationRequest, JobRecord, JobState, NewJob, NewVault, PromptImage,
    ProviderTicket, Release, Reserved, VaultVisibility,
};
use crate::store::{Store, StoreError};

/// What a fact is told of.
pub(crate) trait World {
    fn store(&self) -> &dyn Store;

    /// Moves the time of the store forward.
    fn pass(&self, time: Duration);

    /// Whoever holds a key of this account.
    async fn caller(&self, account: &str) -> Caller;

    /// Looks whether the store is whole.
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

    /// The prompts of a vault, with their pictures.
    async fn contents(&self, by: &Caller, vault: VaultId) -> Vec<(PromptId, Vec<PromptImage>)> {
        let contents = self.store().contents(by, vault).await.unwrap();
        let pair =
            |listed: crate::domain::ListedPrompt| (listed.prompt.id, listed.prompt.images.to_vec());
        contents.map_ok(pair).try_collect().await.unwrap()
    }
}

/// Makes a test of each fact; takes what makes a world.
macro_rules! job_facts {
    ($world:path) => {
        $crate::store::jobs::facts::job_facts! { $world:
            a_name_is_taken_once_in_an_account,
            a_vault_that_is_not_the_callers_takes_no_job,
            another_request_under_a_name_is_refused_before_its_vault_is_looked_at,
            a_job_is_seen_by_its_account_once_the_provider_has_it,
            a_discarded_job_never_was_and_a_queued_one_is_not_discarded,
            a_lost_job_has_failed_and_nobody_works_on_it,
            the_job_that_has_been_due_longest_comes_first,
            a_late_submission_takes_its_turn_among_the_jobs_that_are_due,
            a_lease_that_ran_out_goes_to_the_next_and_the_last_holder_writes_nothing,
            a_lease_that_ran_out_is_good_until_somebody_else_has_the_job,
            what_a_worker_saw_shows_in_state_and_setbacks,
            a_submission_without_end_goes_to_a_worker_but_its_end_still_counts,
            a_late_submission_that_is_handed_back_is_due_again_at_once,
            output_goes_to_the_vault_that_was_asked_for_or_to_general,
            an_order_comes_back_as_it_was_given,
        }
    };
    ($world:path: $($fact:ident,)+) => { $(
        #[tokio::test]
        async fn $fact() {
            use $crate::store::jobs::facts::{self, World as _};
            let world = $world().await;
            facts::$fact(&world).await;
            world.check().await;
        }
    )+ };
}
pub(crate) use job_facts;

pub(crate) const LEASE: Duration = Duration::from_secs(20);
pub(crate) const LIMIT: Duration = Duration::from_secs(120);
pub(crate) const SECOND: Duration = Duration::from_secs(1);

pub(crate) fn new(name: &str, digest: u8, vault: Option<VaultId>) -> NewJob {
    let order = GenerationRequest { prompt: "A harbour".into(), ..GenerationRequest::default() };
    NewJob { client_job_id: name.into(), digest: [digest; 32], order: order.into(), vault }
}

pub(crate) fn ticket() -> ProviderTicket {
    ProviderTicket { request_id: "r".into(), memo: "m".into() }
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

pub(crate) fn picture() -> PromptImage {
    let created_at = jiff::Timestamp::UNIX_EPOCH;
    PromptImage { url: "http://localhost/a.png".into(), width: 1, height: 2, created_at }
}

pub(crate) fn is_lost<T>(outcome: &Result<T, StoreError>) -> bool {
    matches!(outcome, Err(StoreError::LeaseLost))
}

fn is_not_found<T>(outcome: &Result<T, StoreError>) -> bool {
    matches!(outcome, Err(StoreError::NotFound))
}

pub(crate) async fn a_name_is_taken_once_in_an_account(world: &impl World) {
    let store = world.store();
    let (alice, bob) = (world.caller("alice").await, world.caller("bob").await);
    let job = reserved(store, &alice, new("j", 1, None)).await;
    assert_eq!(job.state, JobState::Submitting);
    assert_eq!(job.vault, world.general(&alice).await);
    let again = store.reserve_job(&alice, new("j", 1, None)).await;
    assert!(matches!(again, Ok(Reserved::Existing(same)) if same == job));
    let other = store.reserve_job(&alice, new("j", 2, None)).await;
    assert!(matches!(other, Err(StoreError::JobConflict)));
    reserved(store, &bob, new("j", 2, None)).await;
}

pub(crate) async fn a_vault_that_is_not_the_callers_takes_no_job(world: &impl World) {
    let store = world.store();
    let (alice, bob) = (world.caller("alice").await, world.caller("bob").await);
    let foreign = world.vault(&bob).await;
    let refused = store.reserve_job(&alice, new("j", 1, Some(foreign))).await;
    assert!(matches!(refused, Err(StoreError::UnknownVault)));
    let own = world.vault(&alice).await;
    assert_eq!(reserved(store, &alice, new("j", 1, Some(own))).await.vault, own);
    world.delete_vault(&alice, own).await;
    let again = store.reserve_job(&alice, new("j", 1, Some(own))).await;
    assert!(matches!(again, Ok(Reserved::Existing(_))), "the same request has the same job");
}

pub(crate) async fn another_request_under_a_name_is_refused_before_its_vault_is_looked_at(
    world: &impl World,
) {
    let by = world.caller("alice").await;
    reserved(world.store(), &by, new("j", 1, None)).await;
    let nowhere = Some(VaultId::new(i64::MAX));
    let other = world.store().reserve_job(&by, new("j", 2, nowhere)).await;
    assert!(matches!(other, Err(StoreError::JobConflict)), "{other:?}");
}

pub(crate) async fn a_job_is_seen_by_its_account_once_the_provider_has_it(world: &impl World) {
    let store = world.store();
    let (alice, bob) = (world.caller("alice").await, world.caller("bob").await);
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

pub(crate) async fn a_discarded_job_never_was_and_a_queued_one_is_not_discarded(
    world: &impl World,
) {
    let store = world.store();
    let by = world.caller("alice").await;
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

pub(crate) async fn a_lost_job_has_failed_and_nobody_works_on_it(world: &impl World) {
    let store = world.store();
    let by = world.caller("alice").await;
    let job = reserved(store, &by, new("j", 1, None)).await;
    store.job_lost(&job.key, "gone").await.unwrap();
    let state = store.job(&by, "j").await.unwrap().state;
    assert_eq!(state, JobState::Failed(None, "gone".into()));
    assert!(is_not_found(&store.job_lost(&job.key, "again").await));
    world.pass(LIMIT + SECOND);
    assert!(claim(store).await.is_none());
}

pub(crate) async fn the_job_that_has_been_due_longest_comes_first(world: &impl World) {
    let store = world.store();
    let (alice, bob) = (world.caller("alice").await, world.caller("bob").await);
    queued(store, &alice, "a").await;
    world.pass(SECOND);
    queued(store, &bob, "b").await;
    let a = claim(store).await.unwrap();
    assert_eq!(&*a.job.key.client_job_id, "a");
    store.release_job(&a.lease, 2 * SECOND, Release::Waiting).await.unwrap();
    assert_eq!(claimed(store).await, "b");
    assert!(claim(store).await.is_none(), "it was handed back until later");
    world.pass(2 * SECOND);
    assert_eq!(claimed(store).await, "a");
}

pub(crate) async fn a_late_submission_takes_its_turn_among_the_jobs_that_are_due(
    world: &impl World,
) {
    let store = world.store();
    let by = world.caller("alice").await;
    for name in ["a", "b"] {
        reserved(store, &by, new(name, 1, None)).await;
        world.pass(SECOND);
    }
    // They are taken for lost after `LIMIT`, counted from each one's beginning.
    world.pass(LIMIT - 3 * SECOND);
    queued(store, &by, "before a").await;
    world.pass(SECOND + SECOND / 2);
    queued(store, &by, "after a").await;
    world.pass(LEASE / 2);
    let mut order = Vec::new();
    for _ in 0..4 {
        order.push(claimed(store).await);
    }
    assert_eq!(order, ["before a", "a", "after a", "b"]);
    assert!(claim(store).await.is_none());
}

pub(crate) async fn a_lease_that_ran_out_goes_to_the_next_and_the_last_holder_writes_nothing(
    world: &impl World,
) {
    let store = world.store();
    let by = world.caller("alice").await;
    queued(store, &by, "j").await;
    let late = claim(store).await.unwrap();
    world.pass(LEASE - SECOND);
    assert!(claim(store).await.is_none());
    store.renew_lease(&late.lease, LEASE).await.unwrap();
    world.pass(LEASE - SECOND);
    assert!(claim(store).await.is_none(), "the lease was renewed");
    world.pass(2 * SECOND);
    let next = claim(store).await.unwrap();
    assert_ne!(next.lease, late.lease);
    assert_eq!((late.setbacks, next.setbacks), (0, 1));

    let before = store.job(&by, "j").await.unwrap();
    assert!(is_lost(&store.renew_lease(&late.lease, LEASE).await));
    assert!(is_lost(&store.release_job(&late.lease, SECOND, Release::InProgress).await));
    assert!(is_lost(&store.fail_job(&late.lease, "late").await));
    assert!(is_lost(&store.complete_job(&late.lease, vec![picture()]).await));
    assert_eq!(store.job(&by, "j").await.unwrap(), before);

    let prompt = store.complete_job(&next.lease, vec![picture()]).await.unwrap();
    assert!(is_lost(&store.complete_job(&next.lease, vec![picture()]).await));
    assert!(is_lost(&store.fail_job(&next.lease, "late").await));
    let job = store.job(&by, "j").await.unwrap();
    assert_eq!(job.state, JobState::Completed(ticket(), prompt));
    assert_eq!(world.contents(&by, job.vault).await, [(prompt, vec![picture()])]);
}

pub(crate) async fn a_lease_that_ran_out_is_good_until_somebody_else_has_the_job(
    world: &impl World,
) {
    let store = world.store();
    let by = world.caller("alice").await;
    queued(store, &by, "j").await;
    let late = claim(store).await.unwrap();
    world.pass(2 * LEASE);
    store.renew_lease(&late.lease, LEASE).await.unwrap();
    assert!(claim(store).await.is_none());
    world.pass(2 * LEASE);
    store.fail_job(&late.lease, "as asked").await.unwrap();
    assert!(claim(store).await.is_none());
    let state = store.job(&by, "j").await.unwrap().state;
    assert_eq!(state, JobState::Failed(Some(ticket()), "as asked".into()));
}

pub(crate) async fn what_a_worker_saw_shows_in_state_and_setbacks(world: &impl World) {
    let store = world.store();
    let by = world.caller("alice").await;
    let queued = queued(store, &by, "j").await;
    for (outcome, setbacks, at_work) in [
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
        assert_eq!(held.setbacks, setbacks, "{outcome:?}");
        let expected =
            if at_work { JobState::InProgress(ticket()) } else { JobState::Queued(ticket()) };
        assert_eq!(held.job.state, expected, "{outcome:?}");
        assert_eq!(held.job.updated_at > queued.updated_at, at_work);
        store.release_job(&held.lease, Duration::ZERO, Release::Shutdown).await.unwrap();
    }
}

pub(crate) async fn a_submission_without_end_goes_to_a_worker_but_its_end_still_counts(
    world: &impl World,
) {
    let store = world.store();
    let by = world.caller("alice").await;
    let job = reserved(store, &by, new("j", 1, None)).await;
    world.pass(LIMIT - SECOND);
    assert!(claim(store).await.is_none());
    world.pass(2 * SECOND);
    let held = claim(store).await.unwrap();
    assert_eq!((held.job.state, held.setbacks), (JobState::Submitting, 0));
    assert!(is_lost(&store.complete_job(&held.lease, vec![picture()]).await));
    store.job_submitted(&job.key, ticket()).await.unwrap();
    assert!(is_lost(&store.fail_job(&held.lease, "unknown").await));
    assert_eq!(store.job(&by, "j").await.unwrap().state, JobState::Queued(ticket()));
    assert!(claim(store).await.is_some());
}

pub(crate) async fn a_late_submission_that_is_handed_back_is_due_again_at_once(world: &impl World) {
    let store = world.store();
    let by = world.caller("alice").await;
    reserved(store, &by, new("j", 1, None)).await;
    world.pass(LIMIT);
    let held = claim(store).await.unwrap();
    store.release_job(&held.lease, Duration::ZERO, Release::Shutdown).await.unwrap();
    let held = claim(store).await.unwrap();
    assert_eq!((held.job.state, held.setbacks), (JobState::Submitting, 0));
    world.pass(LEASE);
    let held = claim(store).await.unwrap();
    assert_eq!((held.job.state, held.setbacks), (JobState::Submitting, 1));
    store.fail_job(&held.lease, "unknown").await.unwrap();
    let state = store.job(&by, "j").await.unwrap().state;
    assert_eq!(state, JobState::Failed(None, "unknown".into()));
}

pub(crate) async fn output_goes_to_the_vault_that_was_asked_for_or_to_general(world: &impl World) {
    let store = world.store();
    let by = world.caller("alice").await;
    let general = world.general(&by).await;
    let (kept, gone) = (world.vault(&by).await, world.vault(&by).await);
    for (asked, expected) in [(None, general), (Some(kept), kept), (Some(gone), general)] {
        let name = format!("{asked:?}");
        let job = reserved(store, &by, new(&name, 1, asked)).await;
        store.job_submitted(&job.key, ticket()).await.unwrap();
        if asked == Some(gone) {
            world.delete_vault(&by, gone).await;
        }
        let held = claim(store).await.unwrap();
        let prompt = store.complete_job(&held.lease, vec![picture()]).await.unwrap();
        let contents = world.contents(&by, expected).await;
        assert_eq!(contents.first(), Some(&(prompt, vec![picture()])), "{asked:?}");
        assert_eq!(store.job(&by, &name).await.unwrap().vault, expected);
    }
}

pub(crate) async fn an_order_comes_back_as_it_was_given(world: &impl World) {
    let store = world.store();
    let by = world.caller("alice").await;
    let parameters =
        r#"{"seed": 18446744073709551615, "w": [1e16, -0.0, 1.0, 5e-324, null], "": {}}"#;
    let order = GenerationRequest {
        model_id: "local/plasma".into(),
        prompt: "A \"harbour\"\n\u{1f30a}".into(),
        negative_prompt: Some("".into()),
        parameters: serde_json::from_str(parameters).unwrap(),
        reference_image_urls: vec!["http://localhost/a.png".into()],
        ..GenerationRequest::default()
    };
    let job = NewJob { order: order.clone().into(), ..new("j", 1, None) };
    assert_eq!(*reserved(store, &by, job.clone()).await.order, order);
    let Reserved::Existing(job) = store.reserve_job(&by, job).await.unwrap() else {
        panic!("it was reserved twice");
    };
    assert_eq!(format!("{:?}", job.order), format!("{order:?}"));
}
