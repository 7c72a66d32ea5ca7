//! What jobs cost other jobs, at the default number of workers.

use async_trait::async_trait;

use super::*;
use crate::domain::GenerationRequest;
use crate::generate::{OutputLimits, SubmitError};
use crate::limits::WORKERS_DEFAULT;

/// The provider is this far away.
const DISTANCE: Duration = Duration::from_millis(150);
/// More than a poll interval and an exchange or two.
const SOON: Duration = Duration::from_secs(1);

/// Does what the request's text says.
struct Actor;

#[async_trait]
impl Provider for Actor {
    async fn submit(&self, _: &GenerationRequest) -> Result<ProviderTicket, SubmitError> {
        unreachable!("jobs are queued by the tests")
    }

    async fn poll(
        &self,
        _: &ProviderTicket,
        request: &GenerationRequest,
    ) -> Result<Progress, PollError> {
        sleep(DISTANCE).await;
        match &*request.prompt {
            "hang" => std::future::pending().await,
            "drip" => {
                let byte = |()| async {
                    sleep(SECOND / 2).await;
                    Ok(Bytes::from_static(b"0"))
                };
                let bytes = stream::repeat(()).then(byte).boxed();
                Ok(Progress::completed([Output { size: None, bytes }]))
            }
            "wait" => Ok(Progress::Queued),
            _ => Ok(pictures(1)),
        }
    }
}

impl Fixture {
    async fn crowd() -> Self {
        let mut fixture = Self::new(no_answer()).await;
        fixture.worker.provider = Arc::new(Actor);
        fixture.worker.outputs.limits = OutputLimits::new(1);
        fixture
    }

    /// How many prompts are in General.
    async fn prompts(&self, by: &Caller) -> usize {
        let general = self.store.vaults(by).await.unwrap()[0].id;
        self.store.contents(by, general).await.unwrap().entries.count().await
    }

    async fn add(&self, by: &Caller, text: &str, count: usize) {
        for at in 0..count {
            let new = new_job(&format!("{text}-{at}"), text, None);
            queue(&self.store, by, new).await;
        }
    }

    /// How long it takes until this many jobs of the account have completed.
    async fn until_completed(&self, by: &Caller, count: usize) -> Duration {
        let began = Instant::now();
        let completed = async || {
            let mut completed = 0;
            for at in 0..count {
                let job = self.store.job(by, &format!("done-{at}")).await.unwrap();
                completed += usize::from(matches!(job.state, JobState::Completed(..)));
            }
            completed
        };
        while completed().await < count {
            assert!(began.elapsed() < 600 * SECOND, "{} of {count}", completed().await);
            sleep(Duration::from_millis(10)).await;
        }
        began.elapsed()
    }
}

#[tokio::test(start_paused = true)]
async fn hanging_polls_and_dripping_outputs_do_not_delay_jobs_of_others() {
    for (text, count) in [("hang", 2), ("drip", 2), ("hang", 300), ("drip", 300)] {
        let crowd = Fixture::crowd().await;
        let (alice, bob) =
            (account(&crowd.store, "alice").await, account(&crowd.store, "bob").await);
        crowd.add(&alice, text, count).await;
        let pool = crowd.pool(WORKERS_DEFAULT);
        sleep(SECOND).await;
        for _ in 0..3 {
            crowd.add(&bob, "done", 1).await;
            let took = crowd.until_completed(&bob, 1).await;
            assert!(took < SOON, "{count} × {text}: {took:?}");
            sleep(7 * SECOND).await;
            crowd.store.delete_ended_jobs(Duration::ZERO).await.unwrap();
        }
        pool.stop().await;
    }
}

/// Jobs of so many accounts are there first. Then one job of the first of them, or of another one.
#[tokio::test(start_paused = true)]
async fn jobs_of_some_accounts_leave_a_worker_for_one_more() {
    for (accounts, load, is_own) in [
        (1, &[("hang", WORKERS_DEFAULT / 2 - 1)][..], true),
        (20, &[("hang", 50)], false),
        (1, &[("finish", 300), ("wait", 300)], false),
    ] {
        let crowd = Fixture::crowd().await;
        let mut callers = vec![account(&crowd.store, "bob").await];
        for at in 0..accounts {
            let by = account(&crowd.store, &format!("{}{at}", char::from(b'c' + at))).await;
            for (text, count) in load {
                crowd.add(&by, text, *count).await;
            }
            callers.push(by);
        }
        let pool = crowd.pool(WORKERS_DEFAULT);
        sleep(SECOND / 10).await;
        let by = &callers[usize::from(is_own)];
        crowd.add(by, "done", 1).await;
        let took = crowd.until_completed(by, 1).await;
        assert!(took < SOON, "{accounts} × {load:?}: {took:?}");
        pool.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_hundred_finished_jobs_are_completed_once_within_five_seconds() {
    for accounts in [1, 4] {
        let crowd = Fixture::crowd().await;
        let mut callers = Vec::new();
        for name in &["alice", "bob", "carol", "dave"][..accounts] {
            let by = account(&crowd.store, name).await;
            crowd.add(&by, "done", 100 / accounts).await;
            callers.push(by);
        }
        let began = Instant::now();
        let pool = crowd.pool(WORKERS_DEFAULT);
        for by in &callers {
            crowd.until_completed(by, 100 / accounts).await;
        }
        assert!(began.elapsed() < 5 * SECOND, "{accounts}: {:?}", began.elapsed());
        pool.stop().await;
        for by in &callers {
            assert_eq!(crowd.prompts(by).await, 100 / accounts);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn jobs_that_ended_long_ago_are_deleted() {
    let crowd = Fixture::crowd().await;
    let alice = account(&crowd.store, "alice").await;
    let settings = JobSettings { keep_days: 0, ..JobSettings::default() };
    let worker = Worker { settings, ..crowd.worker.clone() };
    crowd.add(&alice, "done", 2).await;
    let pool = WorkerPool::start(&worker);
    crowd.until_completed(&alice, 2).await;
    crowd.add(&alice, "wait", 1).await;
    sleep(3700 * SECOND).await;
    pool.stop().await;
    let left = crowd.store.jobs(&alice, None, 9).await.unwrap();
    let left: Vec<_> = left.iter().map(|job| &*job.key.client_job_id).collect();
    assert_eq!(left, ["wait-0"]);
    assert_eq!(crowd.prompts(&alice).await, 2, "outputs stay");
}
