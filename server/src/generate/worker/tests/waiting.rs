//! What jobs wait for, and how long at most.

use super::super::pool::guarded;
use super::*;
use crate::generate::OutputLimits;
use crate::limits::{JOB_PROVIDER_LIMIT, LARGE_OUTPUTS_PER_ACCOUNT};

/// A video of so many MiB, that comes with this pause after each MiB.
fn video(mib: usize, pause: Duration) -> Progress {
    let head = stream::iter([Ok(Bytes::from_static(b"\0\0\0\x10ftypisom\0\0\0\0"))]);
    let piece = move |_| async move {
        sleep(pause).await;
        Ok(Bytes::from(vec![0; 1 << 20]))
    };
    let bytes = head.chain(stream::iter(0..mib).then(piece)).boxed();
    Progress::completed([Output { size: Some((2, 2)), bytes }])
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
        0 => Err(PollError::transient("secret")),
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
    let mut fixture = Fixture::new(at_once(|| Progress::Queued)).await;
    fixture.queue("j", None).await;
    assert_eq!(fixture.step().await, Some(StepOutcome::Released));
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
        let Progress::Completed { outputs, .. } = pictures(3) else { unreachable!() };
        let provider_state = (poll == 0).then(|| "addresses".into());
        Ok(Progress::Completed { outputs, provider_state })
    });
    let fixture = Fixture::with_blobs(provider, blobs).await;
    fixture.queue("j", None).await;
    assert_eq!(fixture.step().await, Some(StepOutcome::RetryLater));
    let state = fixture.state("j").await;
    assert_eq!(&*state.ticket().unwrap().provider_state, "addresses");
    std::fs::remove_file(&images).unwrap();
    std::fs::create_dir(&images).unwrap();
    assert_eq!(fixture.steps_to_the_end("j").await, [StepOutcome::Completed]);
    assert_eq!(fixture.contents(None).await[0].prompt.images.len(), 3);
    assert_eq!(std::fs::read_dir(images).unwrap().count(), 3);
}

#[tokio::test]
async fn a_panic_of_a_step_of_the_store_is_an_error_and_ends_no_task() {
    let step = guarded(async { panic!("the store fails") });
    let outcome: Result<(), _> = step.await;
    assert!(matches!(outcome, Err(StoreError::Internal(_))), "{outcome:?}");
}
