//! How jobs end.

use super::*;
use crate::limits::JOB_PROVIDER_LIMIT;

/// How the provider answers its polls, where outputs go, for how many hours attempts may fail, and how
/// the job ends: the end of its reason, after how many hours, and with how many images.
type Row = (Box<OnPoll>, Blobs, usize, &'static str, u64, usize);

fn row(
    on_poll: impl Fn(usize) -> Result<Progress, PollError> + Send + Sync + 'static,
    reason: &'static str,
    hours: u64,
    images: usize,
) -> Row {
    (Box::new(on_poll), Blobs::in_memory(), 24, reason, hours, images)
}

/// The first output cannot be had.
fn partly(error: PollError, kept: u32) -> impl Fn(usize) -> Result<Progress, PollError> {
    move |_| {
        let Progress::Completed { mut outputs, .. } = pictures(kept) else { unreachable!() };
        let bytes = stream::iter([Err(error.clone())]).boxed();
        outputs.insert(0, Output { size: None, bytes });
        Ok(Progress::completed(outputs))
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_ends_with_its_outputs_or_with_a_reason_and_is_cancelled_when_it_is_given_up() {
    let (_folder, full) = failing_blobs();
    let busy = |_| {
        let (cause, retry_after) = ("busy".to_owned(), Some(PROVIDER_RETRY_AFTER_MAX));
        Err(PollError::Transient { cause, retry_after })
    };
    let (gone, away) = (PollError::permanent("it is gone"), PollError::transient("it is away"));
    let progressed = AtomicBool::new(false);
    let began = OnceLock::new();
    let outage = move |_| match began.get_or_init(Instant::now).elapsed().as_secs() / 3600 {
        // Failed attempts are forgotten after progress.
        20.. if !progressed.swap(true, Ordering::SeqCst) => Ok(Progress::InProgress),
        40.. => Ok(pictures(1)),
        _ => no_answer(),
    };
    let not_polled = "the provider could not be polled for 24 hours";
    let rows: [Row; 11] = [
        row(|_| Err(PollError::permanent("not liked")), "not liked", 0, 0),
        row(|_| Err(PollError::permanent(" \0 ")), "the provider gave no reason", 0, 0),
        row(|_| Ok(pictures(0)), "completed it without output", 0, 0),
        row(partly(gone.clone(), 3), "", 0, 3),
        row(partly(gone, 0), "it is gone", 0, 0),
        row(partly(away, 3), "", 24, 3),
        row(|_| no_answer(), not_polled, 24, 0),
        // By the clock, however long the pauses are.
        row(busy, not_polled, 24, 0),
        row(outage, "", 40, 1),
        (Box::new(|_| no_answer()), Blobs::in_memory(), 2, "not be polled for 2 hours", 2, 0),
        (Box::new(|_| Ok(pictures(1))), full, 24, "output could not be saved for 24 hours", 24, 0),
    ];
    for (at, (polled, blobs, retry_hours, reason, hours, images)) in rows.into_iter().enumerate() {
        let mut fixture = Fixture::new(polled).await;
        fixture.worker.blobs = blobs;
        fixture.worker.settings.retry_hours = retry_hours;
        fixture.queue("j").await;
        let began = Instant::now();
        fixture.steps_to_the_end("j").await;
        let longest = if hours > 0 { 2 * PROVIDER_RETRY_AFTER_MAX } else { SECOND };
        let due = Duration::from_secs(hours * 3600);
        let took = began.elapsed();
        assert!((due..due + longest).contains(&took), "{at}: {took:?}");
        match fixture.state("j").await {
            JobState::Failed(Some(of), shown) => {
                assert!(of == ticket("j") && shown.ends_with(reason), "{at}: {shown}");
                assert!(
                    !reason.is_empty() && fixture.prompts(&fixture.by).await.is_empty(),
                    "{at}"
                );
            }
            JobState::Completed(..) => {
                assert_eq!(
                    fixture.prompts(&fixture.by).await[0].prompt.images.len(),
                    images,
                    "{at}"
                );
            }
            state => panic!("{at}: {state:?}"),
        }
        assert_eq!(fixture.cancels().await, usize::from(reason.ends_with(" hours")), "{at}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_probably_lost_is_asked_for_again_for_minutes_and_the_rest_is_kept() {
    let gone = || PollError::Doubtful("it is gone".to_owned());
    let late = move |poll| if poll < 3 { Err(gone()) } else { Ok(pictures(2)) };
    let rows: [(Box<OnPoll>, u64, usize); 4] = [
        (Box::new(move |_| Err(gone())), 127, 0),
        (Box::new(partly(gone(), 0)), 127, 0),
        (Box::new(partly(gone(), 2)), 127, 2),
        (Box::new(late), 7, 2),
    ];
    for (at, (on_poll, seconds, images)) in rows.into_iter().enumerate() {
        let fixture = Fixture::new(on_poll).await;
        fixture.queue("j").await;
        let began = Instant::now();
        fixture.steps_to_the_end("j").await;
        assert_eq!(began.elapsed().as_secs(), seconds, "{at}");
        if let JobState::Failed(_, reason) = fixture.state("j").await {
            assert_eq!((&*reason, images), ("it is gone", 0), "{at}");
        } else {
            assert_eq!(fixture.prompts(&fixture.by).await[0].prompt.images.len(), images, "{at}");
        }
        assert_eq!(fixture.cancels().await, 0, "{at}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_probably_lost_after_an_outage_is_asked_for_again() {
    let fixture = Fixture::new(|poll| match poll {
        0..20 => no_answer(),
        20 => Err(PollError::Doubtful("not found".to_owned())),
        _ => Ok(pictures(1)),
    });
    let fixture = fixture.await;
    fixture.queue("j").await;
    assert_eq!(fixture.steps_to_the_end("j").await, 22);
    assert!(matches!(fixture.state("j").await, JobState::Completed(..)));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_refuses_this_service_is_polled_for_hours_with_an_error_in_the_log() {
    let (log, _guard) = Log::start();
    let fixture = Fixture::new(|poll| match poll {
        0..50 => Err(PollError::NotAuthorized("no balance".to_owned())),
        _ => Ok(pictures(1)),
    });
    let fixture = fixture.await;
    fixture.queue("j").await;
    assert!(fixture.step().await);
    let reason = "another attempt, because the provider refuses this service";
    assert_eq!(fixture.waits_for("j").await.as_deref(), Some(reason));
    let error = log.error();
    for part in ["the provider refuses this service", "no balance"] {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(fixture.steps_to_the_end("j").await, 50);
    assert!(matches!(fixture.state("j").await, JobState::Completed(..)));
}

#[tokio::test(start_paused = true)]
async fn a_job_that_the_provider_keeps_for_ever_fails_and_is_cancelled() {
    let mut fixture = Fixture::new(|_| Ok(Progress::Queued)).await;
    fixture.queue("j").await;
    let created = fixture.store.job(&fixture.by, "j").await.unwrap().created_at;
    for age in [JOB_PROVIDER_LIMIT, JOB_PROVIDER_LIMIT + SECOND] {
        assert_eq!(fixture.state("j").await, JobState::Queued(ticket("j")));
        fixture.worker.clock = Clock::Manual(crate::clock::ManualClock::new(created + age));
        sleep(10 * SECOND).await;
        assert!(fixture.step().await);
    }
    let reason = "the provider did not complete it within 7 days";
    assert_eq!(fixture.state("j").await, JobState::Failed(Some(ticket("j")), reason.into()));
    assert_eq!(fixture.cancels().await, 1);
}

#[tokio::test(start_paused = true)]
async fn jobs_that_ended_long_ago_are_deleted_and_their_outputs_stay() {
    let mut fixture =
        Fixture::new(|poll| Ok(if poll < 2 { pictures(1) } else { Progress::Queued })).await;
    fixture.worker.settings.keep_days = 0;
    let pool = fixture.pool(1);
    for name in ["first", "second", "third"] {
        fixture.queue(name).await;
        sleep(SECOND).await;
    }
    sleep(3700 * SECOND).await;
    pool.stop().await;
    let left = fixture.store.jobs(&fixture.by, None, 9).await.unwrap();
    let left: Vec<_> = left.iter().map(|job| &*job.key.client_job_id).collect();
    assert_eq!((left, fixture.prompts(&fixture.by).await.len()), (vec!["third"], 2));
}

#[tokio::test]
async fn a_panic_of_a_step_of_the_store_is_an_error_and_ends_no_task() {
    let outcome = super::super::pool::guarded::<()>(async { panic!("the store fails") }).await;
    assert!(matches!(outcome, Err(StoreError::Internal(_))), "{outcome:?}");
}

#[test]
fn intervals_and_delays_grow_to_their_maximum() {
    for (age_ms, interval_ms) in [(0, 100), (400, 100), (1000, 200), (5000, 1000), (60_000, 2000)] {
        let interval = poll_interval(Duration::from_millis(age_ms));
        assert_eq!(interval, Duration::from_millis(interval_ms), "{age_ms}");
    }
    let delays = [0, 1, 2, 3, 8, 9, 31, 32, u32::MAX].map(|n| retry_delay(n).as_secs());
    assert_eq!(delays, [1, 2, 4, 8, 256, 300, 300, 300, 300]);
}
