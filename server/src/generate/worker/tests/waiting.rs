//! What jobs wait for, and how long at most.

use std::sync::atomic::AtomicUsize;

use bytes::Bytes;

use super::*;
use crate::domain::{AccountId, JobKey};
use crate::generate::OutputLimits;
use crate::limits::{JOB_PROVIDER_LIMIT, LARGE_OUTPUTS_PER_ACCOUNT};
use crate::store::JobQueue;

/// Videos of so many MiB, at most 100 MiB, that come with this pause after each MiB.
fn video(mib: usize, pause: Duration) -> Progress {
    let open = move || {
        let head = stream::iter([Ok(Bytes::from_static(b"\0\0\0\x10ftypisom\0\0\0\0"))]);
        let piece = move |_| async move {
            sleep(pause).await;
            Ok(Bytes::from(vec![0; 1 << 20]))
        };
        head.chain(stream::iter(0..mib).then(piece)).boxed()
    };
    Progress::Completed(vec![Output::Remote(RemoteOutput {
        size: Some((2, 2)),
        open: Arc::new(open),
    })])
}

impl Fixture {
    async fn video_job(&self, by: &Caller, name: &str) {
        let mut new = new_job(name, "A harbour", None);
        let request = Arc::make_mut(&mut new.request);
        request.kind = crate::domain::OutputKind::Video;
        queue(&self.store, by, new).await;
    }

    async fn waits_for(&self, by: &Caller, name: &str) -> Option<Arc<str>> {
        self.store.job(by, name).await.unwrap().waits_for
    }
}

/// The first two downloads are endless, the others have 40 MiB.
#[tokio::test(start_paused = true)]
async fn endless_outputs_hold_back_only_large_ones_of_their_account_which_say_so() {
    let provider = Scripted::on_poll(Duration::ZERO, |poll| {
        Ok(match poll {
            0..LARGE_OUTPUTS_PER_ACCOUNT => video(10_000, SECOND),
            4 => video(15, Duration::ZERO),
            _ => video(40, Duration::ZERO),
        })
    });
    let mut fixture = Fixture::new(provider).await;
    fixture.worker.outputs.limits = OutputLimits::new(512);
    let bob = account(&fixture.store, "bob").await;
    let alice = fixture.by.clone();
    let pool = fixture.pool(16);
    for at in 0..LARGE_OUTPUTS_PER_ACCOUNT {
        fixture.video_job(&alice, &format!("endless {at}")).await;
    }
    sleep(30 * SECOND).await;
    fixture.video_job(&alice, "large").await;
    fixture.video_job(&bob, "other").await;
    sleep(10 * SECOND).await;
    fixture.video_job(&alice, "small").await;
    sleep(SECOND).await;
    let state = async |by: &Caller, name: &str| fixture.store.job(by, name).await.unwrap().state;
    assert!(matches!(state(&bob, "other").await, JobState::Completed(..)));
    assert!(matches!(state(&alice, "small").await, JobState::Completed(..)));
    assert!(matches!(state(&alice, "large").await, JobState::Queued(_)));
    let expected = "other large outputs, of which few are downloaded at once";
    assert_eq!(fixture.waits_for(&alice, "large").await.as_deref(), Some(expected));
    let expected = Some("the download of its output");
    assert_eq!(fixture.waits_for(&alice, "endless 0").await.as_deref(), expected);
    sleep(600 * SECOND).await;
    assert!(matches!(state(&alice, "endless 0").await, JobState::Failed(..)));
    assert!(matches!(state(&alice, "large").await, JobState::Completed(..)));
    pool.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_job_says_why_it_waits_for_another_attempt_until_the_next_progress() {
    let fixture = Fixture::new(Scripted::on_poll(Duration::ZERO, |poll| match poll {
        0 => Err(PollError::new("secret")),
        _ => Ok(Progress::InProgress),
    }));
    let fixture = fixture.await;
    fixture.queue("j", None).await;
    for expected in [Some("another attempt, because the provider could not be polled"), None] {
        fixture.step().await.unwrap();
        assert_eq!(fixture.waits_for(&fixture.by, "j").await.as_deref(), expected);
        sleep(2 * SECOND).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_that_the_provider_keeps_for_ever_fails_and_is_cancelled() {
    let mut fixture = Fixture::new(at_once(Progress::Queued)).await;
    fixture.queue("j", None).await;
    assert_eq!(fixture.step().await, Some(StepOutcome::Waiting));
    let created = fixture.store.job(&fixture.by, "j").await.unwrap().created_at;
    let late = created + JOB_PROVIDER_LIMIT + SECOND;
    fixture.worker.clock = Clock::Manual(crate::clock::ManualClock::new(late));
    sleep(10 * SECOND).await;
    assert_eq!(fixture.step().await, Some(StepOutcome::Failed));
    let reason = "the provider did not complete it within 7 days";
    assert_eq!(fixture.state("j").await, JobState::Failed(Some(ticket("j")), reason.into()));
    tokio::task::yield_now().await;
    assert_eq!(fixture.provider.cancels.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_finished_request_keeps_its_new_state_and_its_outputs_are_stored_once() {
    let (folder, blobs) = failing_blobs();
    let images = folder.path().join("images");
    let provider = Scripted::on_poll(Duration::ZERO, |poll| {
        Ok(if poll == 0 { Progress::Ready("addresses".into()) } else { pictures(3) })
    });
    let fixture = Fixture::with_blobs(provider, blobs).await;
    fixture.queue("j", None).await;
    assert_eq!(fixture.step().await, Some(StepOutcome::RetryLater));
    let state = fixture.state("j").await;
    assert_eq!(&*state.ticket().unwrap().provider_state, "addresses");
    std::fs::remove_file(&images).unwrap();
    assert_eq!(fixture.steps_to_the_end("j").await, [StepOutcome::Completed]);
    assert_eq!(fixture.contents(None).await[0].prompt.images.len(), 3);
    assert_eq!(std::fs::read_dir(images).unwrap().count(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_draining_pool_claims_nothing_and_ends_what_it_has() {
    let fixture = Fixture::new(Scripted::on_poll(5 * SECOND, |_| Ok(pictures(1)))).await;
    fixture.queue("first", None).await;
    let pool = fixture.pool(1);
    sleep(SECOND).await;
    fixture.queue("second", None).await;
    pool.drain().cancel();
    sleep(30 * SECOND).await;
    assert!(matches!(fixture.state("first").await, JobState::Completed(..)));
    assert_eq!(
        (fixture.state("second").await, fixture.provider.calls().1),
        (JobState::Queued(ticket("second")), 1)
    );
    pool.stop().await;
}

/// A queue whose clean-up panics the first time.
struct Panicking {
    inner: Arc<MemoryStore>,
    calls: AtomicUsize,
}

#[async_trait::async_trait]
impl JobQueue for Panicking {
    async fn claim_job(&self, _: Duration, _: &Turn) -> Result<Option<Claim>, StoreError> {
        Ok(None)
    }

    async fn fail_late_submissions(
        &self,
        limit: Duration,
        reason: &str,
    ) -> Result<Vec<JobKey>, StoreError> {
        assert!(self.calls.fetch_add(1, Ordering::SeqCst) > 0, "the first call panics");
        self.inner.fail_late_submissions(limit, reason).await
    }

    async fn delete_ended_jobs(&self, _: Duration) -> Result<usize, StoreError> {
        panic!("every call panics");
    }

    async fn renew_lease(&self, _: &Lease, _: Duration) -> Result<(), StoreError> {
        Err(StoreError::LeaseLost)
    }

    async fn note_job(&self, _: &Lease, _: Option<&str>, _: &str) -> Result<(), StoreError> {
        Err(StoreError::LeaseLost)
    }

    async fn release_job(&self, _: &Lease, _: Duration, _: Release) -> Result<(), StoreError> {
        Err(StoreError::LeaseLost)
    }

    async fn complete_job(
        &self,
        _: &Lease,
        _: Vec<crate::domain::PromptImage>,
    ) -> Result<promptarium::PromptId, StoreError> {
        Err(StoreError::LeaseLost)
    }

    async fn fail_job(&self, _: &Lease, _: &str) -> Result<(), StoreError> {
        Err(StoreError::LeaseLost)
    }

    async fn job_due(&self, at_most: Duration, _: &[AccountId]) {
        sleep(at_most).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_the_clean_up_does_not_end_it() {
    let fixture = Fixture::new(at_once(pictures(1))).await;
    fixture.store.reserve_job(&fixture.by, new_job("j", "p", None)).await.unwrap();
    let store = Arc::new(Panicking { inner: fixture.store.clone(), calls: AtomicUsize::new(0) });
    let pool = WorkerPool::start(&Worker { store, ..fixture.worker.clone() });
    sleep(2 * SUBMIT_LIMIT).await;
    pool.stop().await;
    assert_eq!(fixture.state("j").await, JobState::Failed(None, SUBMIT_UNKNOWN.into()));
}
