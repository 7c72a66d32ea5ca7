use std::sync::Mutex;
use std::time::Duration;

use futures::future::join_all;

use super::*;
use crate::generate::tests::{Log, Scripted, assets, new_job, store, ticket};
use crate::store::JobQueue;
use crate::store::memory::MemoryStore;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn of_many_equal_requests_one_is_submitted_and_all_get_its_job() {
    let (store, by) = store().await;
    let provider = Scripted::on_submit(3 * SECOND, |_| Ok(()));
    let submitter = Submitter::new(store, provider.clone(), assets());
    let submit = || submitter.submit(&by, new_job("j", "A harbour", None), ());
    let mut all = join_all((0..32).map(|_| submit())).await;
    all.push(submit().await);
    for outcome in all {
        let (job, ticket) = outcome.unwrap();
        assert_eq!((&*job.client_job_id, &*ticket.request_id), ("j", "r-0"));
    }
    assert_eq!(provider.calls().0, 1);
}

#[tokio::test(start_paused = true)]
async fn a_refused_submission_leaves_no_job_and_its_name_is_free() {
    use SubmitError::{Busy, NotAuthorized, Refused, Unavailable};
    let (store, by) = store().await;
    let provider = Scripted::on_submit(SECOND, |number| match number {
        0..8 => Err(Refused("no\0 such model".into())),
        8 => Err(Unavailable("down".into())),
        9 => Err(Busy("full".into(), 17 * SECOND)),
        10 => Err(NotAuthorized("Exhausted balance".into())),
        _ => Ok(()),
    });
    let submitter = Submitter::new(store.clone(), provider.clone(), assets());
    let submit = || submitter.submit(&by, new_job("the-job", "A harbour", None), ());
    let error_of = |outcome: Submission| match outcome {
        Err(SubmissionError::Provider(error)) => error,
        other => panic!("{other:?}"),
    };
    for refused in join_all((0..8).map(|_| submit())).await {
        assert_eq!(error_of(refused), Refused("no such model".into()));
    }
    assert_eq!(error_of(submit().await), Unavailable("down".into()));
    assert_eq!(error_of(submit().await), Busy("full".into(), 17 * SECOND));
    let log = Log::default();
    let guard = log.subscribe();
    let outcome = submit().await;
    drop(guard);
    let shown = "the provider does not accept requests of this service at the moment";
    assert_eq!(outcome.unwrap_err().to_string(), shown);
    let line = log.error();
    assert!(line.contains("the-job") && line.contains("Exhausted balance"), "{line}");
    assert!(matches!(store.job(&by, "the-job").await, Err(StoreError::NotFound)));
    assert!(submit().await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_submission_without_a_clear_result_is_a_failed_job_and_never_repeated() {
    let (store, by) = store().await;
    for (name, delay, script) in [
        ("broken", SECOND, (|_| Err(SubmitError::Unknown("broke off".into()))) as fn(usize) -> _),
        ("panics", SECOND, |_| panic!("the provider fails")),
        ("hangs", SUBMIT_TIMEOUT + SECOND, |_| Ok(())),
    ] {
        let provider = Scripted::on_submit(delay, script);
        let submitter = Submitter::new(store.clone(), provider.clone(), assets());
        // A request repeated meanwhile gives up waiting before the provider's client does.
        for _ in 0..3 {
            let outcome = submitter.submit(&by, new_job(name, "A harbour", None), ()).await;
            let unknown = Err(SubmissionError::Provider(SubmitError::Unknown(String::new())));
            let kind = |of: &Submission| of.as_ref().map(|_| ()).map_err(ToString::to_string);
            assert_eq!(kind(&outcome), kind(&unknown), "{name}: {outcome:?}");
        }
        assert_eq!(provider.calls().0, 1, "{name}");
        let job = store.job(&by, name).await.unwrap();
        assert_eq!(job.state, JobState::Failed(None, SUBMIT_UNKNOWN.into()), "{name}");
    }
}

/// While the first request is being submitted.
#[tokio::test(start_paused = true)]
async fn an_equal_request_waits_a_bounded_time_and_another_one_conflicts_at_once() {
    for (prompt, waits) in [("A harbour", SUBMIT_WAIT), ("A forest", Duration::ZERO)] {
        let (store, by) = store().await;
        let provider = Scripted::on_submit(40 * SECOND, |_| Ok(()));
        let submitter = Submitter::new(store, provider.clone(), assets());
        let first = submitter.submit(&by, new_job("j", "A harbour", None), ());
        let second = async {
            sleep(SECOND).await;
            let before = Instant::now();
            let second = submitter.submit(&by, new_job("j", prompt, None), ()).await;
            assert!(before.elapsed() <= waits, "{prompt}: {:?}", before.elapsed());
            match second {
                Err(SubmissionError::InProgress) => assert_eq!(waits, SUBMIT_WAIT),
                Err(SubmissionError::Store(StoreError::JobConflict)) => assert!(waits.is_zero()),
                other => panic!("{other:?}"),
            }
        };
        assert!(tokio::join!(first, second).0.is_ok());
        assert_eq!(provider.calls().0, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn shutdown_waits_until_a_submission_without_client_is_recorded() {
    for outage in [Duration::ZERO, 12 * SECOND] {
        let (inner, by) = store().await;
        let store = Outage { inner: inner.clone(), lasting: outage, began: Mutex::default() };
        let provider = Scripted::on_submit(SUBMIT_FINISH_TIMEOUT / 2, |_| Ok(()));
        let submitter = Submitter::new(Arc::new(store), provider.clone(), assets());
        let submit = || submitter.submit(&by, new_job("j", "A harbour", None), ());
        assert!(timeout(3 * SECOND, submit()).await.is_err());
        sleep(outage).await;
        let before = Instant::now();
        submitter.finish().await;
        assert!(before.elapsed() < SUBMIT_FINISH_TIMEOUT, "{:?}", before.elapsed());
        assert_eq!(inner.job(&by, "j").await.unwrap().state, JobState::Queued(ticket("r-0")));
        assert!(submit().await.is_ok());
        assert_eq!(provider.calls().0, 1);
    }
}

/// A store that is unavailable for the results of submissions, from the first one on.
struct Outage {
    inner: Arc<MemoryStore>,
    lasting: Duration,
    began: Mutex<Option<Instant>>,
}

#[async_trait::async_trait]
impl JobStore for Outage {
    async fn reserve_job(&self, by: &Caller, new: NewJob) -> Result<Reserved, StoreError> {
        self.inner.reserve_job(by, new).await
    }

    async fn job_submitted(
        &self,
        job: &JobKey,
        ticket: ProviderTicket,
    ) -> Result<JobRecord, StoreError> {
        let began = *self.began.lock().unwrap().get_or_insert_with(Instant::now);
        if began.elapsed() < self.lasting {
            sleep(4 * SECOND).await;
            return Err(StoreError::Unavailable("the database is away".into()));
        }
        self.inner.job_submitted(job, ticket).await
    }

    async fn discard_job(&self, job: &JobKey) -> Result<(), StoreError> {
        self.inner.discard_job(job).await
    }

    async fn job_lost(&self, job: &JobKey, reason: &str) -> Result<JobRecord, StoreError> {
        self.inner.job_lost(job, reason).await
    }

    async fn job(&self, by: &Caller, client_job_id: &str) -> Result<JobRecord, StoreError> {
        self.inner.job(by, client_job_id).await
    }

    async fn jobs(
        &self,
        _: &Caller,
        _: Option<&str>,
        _: usize,
    ) -> Result<Vec<JobRecord>, StoreError> {
        unreachable!("submissions list no jobs")
    }

    async fn job_by_key(&self, job: &JobKey) -> Result<JobRecord, StoreError> {
        self.inner.job_by_key(job).await
    }
}

#[tokio::test(start_paused = true)]
async fn an_accepted_submission_is_recorded_after_an_outage_however_long() {
    for (minutes, answered) in [(0, true), (1, false), (10, false), (23 * 60, false)] {
        let (inner, by) = store().await;
        let lasting = 5 * SECOND + minutes * 60 * SECOND;
        let store = Arc::new(Outage { inner: inner.clone(), lasting, began: Mutex::default() });
        let provider = Scripted::on_submit(SECOND, |_| Ok(()));
        let submitter = Submitter::new(store, provider.clone(), assets());
        let log = Log::default();
        let guard = log.subscribe();
        let before = Instant::now();
        let outcome = submitter.submit(&by, new_job("j", "A harbour", None), ()).await;
        assert_eq!(outcome.is_ok(), answered, "{outcome:?}");
        assert!(before.elapsed() <= SECOND + SUBMIT_RECORD_RETRY_FOR);
        assert_eq!(submitter.unrecorded(), usize::from(!answered));
        // Another server sees the store again before this one.
        sleep((lasting - SECOND).saturating_sub(before.elapsed())).await;
        inner.fail_late_submissions(crate::limits::SUBMIT_LIMIT, SUBMIT_UNKNOWN).await.unwrap();
        sleep(2 * SUBMIT_RETRY_DELAY_MAX + 8 * SECOND).await;
        drop(guard);
        assert_eq!(inner.job(&by, "j").await.unwrap().state, JobState::Queued(ticket("r-0")));
        assert_eq!((submitter.unrecorded(), provider.calls().0), (0, 1));
        let log = log.text();
        assert!(log.contains("the provider accepted a generation") && log.contains("r-0"), "{log}");
        assert!(!log.contains("ERROR"), "{log}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_accepted_submission_that_is_never_recorded_is_logged_as_an_error() {
    let (inner, by) = store().await;
    let lasting = 2 * SUBMIT_UNRECORDED_RETRY_FOR;
    let store = Outage { inner, lasting, began: Mutex::default() };
    let submitter =
        Submitter::new(Arc::new(store), Scripted::on_submit(SECOND, |_| Ok(())), assets());
    let log = Log::default();
    let guard = log.subscribe();
    assert!(submitter.submit(&by, new_job("j", "A harbour", None), ()).await.is_err());
    sleep(SUBMIT_UNRECORDED_RETRY_FOR).await;
    drop(guard);
    assert_eq!(submitter.unrecorded(), 0);
    let error = log.error();
    for part in [UNRECORDED, "r-0", "\"j\"", "the database is away"] {
        assert!(error.contains(part), "{part} in {error}");
    }
}
