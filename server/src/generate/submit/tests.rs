use std::sync::Mutex;
use std::time::Duration;

use futures::future::join_all;

use super::*;
use crate::generate::tests::{Log, Scripted, assets, new_job, store, ticket};
use crate::store::memory::MemoryStore;
use crate::store::{JobQueue, Result};

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
    let refused = "the provider refused the generation: no such model";
    let not_now = "the provider does not accept requests of this service at the moment";
    for (given, shown, logged) in [
        (Refused("no\0 such model".into()), refused, ""),
        (Unavailable("down".into()), "the provider cannot be reached", "WARN"),
        (Busy("full".into(), 17 * SECOND), "the provider is busy", "WARN"),
        (NotAuthorized("Exhausted balance".into()), not_now, "Exhausted balance"),
    ] {
        let provider = Scripted::on_submit(SECOND, move |number| match number {
            0..8 => Err(given.clone()),
            _ => Ok(()),
        });
        let submitter = Submitter::new(store.clone(), provider.clone(), assets());
        let submit = || submitter.submit(&by, new_job(shown, "A harbour", None), ());
        let (log, guard) = Log::start();
        for refused in join_all((0..8).map(|_| submit())).await {
            assert_eq!(refused.unwrap_err().to_string(), shown);
        }
        drop(guard);
        assert!(log.text().contains(logged), "{}", log.text());
        assert!(matches!(store.job(&by, shown).await, Err(StoreError::NotFound)));
        assert!(submit().await.is_ok());
        assert_eq!(provider.calls().0, 9);
    }
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
        let provider = Scripted::on_submit(SUBMIT_FINISH_TIMEOUT / 2, |_| Ok(()));
        let submitter = with_outage(&inner, outage, &provider);
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

fn with_outage(inner: &Arc<MemoryStore>, lasting: Duration, provider: &Arc<Scripted>) -> Submitter {
    let store = Outage { inner: inner.clone(), lasting, began: Mutex::default() };
    Submitter::new(Arc::new(store), provider.clone(), assets())
}

/// A store that is unavailable for the results of submissions, from the first one on.
struct Outage {
    inner: Arc<MemoryStore>,
    lasting: Duration,
    began: Mutex<Option<Instant>>,
}

#[async_trait::async_trait]
impl JobStore for Outage {
    async fn reserve_job(&self, by: &Caller, new: NewJob) -> Result<Reserved> {
        self.inner.reserve_job(by, new).await
    }

    async fn job_submitted(&self, job: &JobKey, ticket: ProviderTicket) -> Result<JobRecord> {
        let began = *self.began.lock().unwrap().get_or_insert_with(Instant::now);
        if began.elapsed() < self.lasting {
            sleep(4 * SECOND).await;
            return Err(StoreError::Unavailable("the database is away".into()));
        }
        self.inner.job_submitted(job, ticket).await
    }

    async fn discard_job(&self, _: &JobKey) -> Result<()> {
        unreachable!("all are accepted")
    }

    async fn job_lost(&self, _: &JobKey, _: &str) -> Result<JobRecord> {
        unreachable!("none is lost")
    }

    async fn job(&self, by: &Caller, client_job_id: &str) -> Result<JobRecord> {
        self.inner.job(by, client_job_id).await
    }

    async fn jobs(&self, _: &Caller, _: Option<&str>, _: usize) -> Result<Vec<JobRecord>> {
        unreachable!("submissions list no jobs")
    }

    async fn job_by_key(&self, job: &JobKey) -> Result<JobRecord> {
        self.inner.job_by_key(job).await
    }
}

#[tokio::test(start_paused = true)]
async fn an_accepted_submission_is_recorded_after_an_outage_however_long_or_is_an_error() {
    let minute = 60 * SECOND;
    for lasting in [5 * SECOND, minute, 23 * 60 * minute, 2 * SUBMIT_UNRECORDED_RETRY_FOR] {
        let answered = lasting < minute;
        let (inner, by) = store().await;
        let provider = Scripted::on_submit(SECOND, |_| Ok(()));
        let submitter = with_outage(&inner, lasting, &provider);
        let (log, guard) = Log::start();
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
        assert_eq!((submitter.unrecorded(), provider.calls().0), (0, 1));
        let (error, log) = (log.error(), log.text());
        assert!(log.contains("the provider accepted a generation") && log.contains("r-0"), "{log}");
        if lasting < SUBMIT_UNRECORDED_RETRY_FOR {
            assert_eq!(inner.job(&by, "j").await.unwrap().state, JobState::Queued(ticket("r-0")));
            assert_eq!(error, "");
            continue;
        }
        for part in [UNRECORDED, "r-0", "\"j\"", "the database is away"] {
            assert!(error.contains(part), "{part} in {error}");
        }
    }
}
