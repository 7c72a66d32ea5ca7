//! What jobs cost other jobs, at the default number of workers.

use futures::future::join_all;

use super::*;
use crate::limits::WORKERS_DEFAULT;

/// The provider is this far away.
const DISTANCE: Duration = Duration::from_millis(150);
/// More than a poll interval and an exchange or two.
const SOON: Duration = Duration::from_secs(1);

impl Fixture {
    /// With a provider that does what the text of a request says; `hang` never answers.
    async fn crowd() -> Self {
        let mut fixture = Self::new(|_| no_answer()).await;
        fixture.worker.provider = Scripted::on_text(DISTANCE, |text| match text {
            "wait" => Progress::Queued,
            "drip" => {
                Progress::completed([Output { size: None, bytes: pieces(1200, 1, SECOND / 2) }])
            }
            _ => pictures(1),
        });
        fixture
    }

    async fn add(&self, by: &Caller, text: &str, count: usize) {
        for at in 0..count {
            queue(&self.store, by, new_job(&format!("{text}-{at}"), text, None)).await;
        }
    }

    /// How long it takes until this many jobs of the account have completed.
    async fn until_completed(&self, by: &Caller, count: usize) -> Duration {
        let began = Instant::now();
        for at in 0..count {
            self.until_done(by, &format!("done-{at}")).await;
        }
        began.elapsed()
    }
}

/// Jobs of so many accounts are there first. Then one job of the first of them, or of another one,
/// and two more of it later.
#[tokio::test(start_paused = true)]
async fn hanging_polls_and_dripping_outputs_of_some_accounts_leave_a_worker_for_one_more() {
    for (accounts, load, is_own) in [
        (1, &[("hang", 2)][..], false),
        (1, &[("drip", 2)], false),
        (1, &[("hang", 300)], false),
        (1, &[("drip", 300)], false),
        (20, &[("hang", 50)], false),
        (1, &[("finish", 300), ("wait", 300)], false),
        (1, &[("hang", WORKERS_DEFAULT / 2 - 1)], true),
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
        let by = &callers[usize::from(is_own)];
        for pause in [SECOND / 10, 7 * SECOND, 7 * SECOND] {
            sleep(pause).await;
            crowd.store.delete_ended_jobs(Duration::ZERO).await.unwrap();
            crowd.add(by, "done", 1).await;
            let took = crowd.until_completed(by, 1).await;
            assert!(took < SOON, "{accounts} × {load:?}: {took:?}");
        }
        pool.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_hundred_finished_jobs_are_completed_once_within_five_seconds() {
    for names in [&["alice"][..], &["alice", "bob", "carol", "dave"]] {
        let (crowd, each) = (Fixture::crowd().await, 100 / names.len());
        let callers = join_all(names.iter().map(|name| account(&crowd.store, name))).await;
        for by in &callers {
            crowd.add(by, "done", each).await;
        }
        let began = Instant::now();
        let pool = crowd.pool(WORKERS_DEFAULT);
        for by in &callers {
            crowd.until_completed(by, each).await;
        }
        assert!(began.elapsed() < 5 * SECOND, "{names:?}: {:?}", began.elapsed());
        pool.stop().await;
        for by in &callers {
            assert_eq!(crowd.prompts(by).await.len(), each);
        }
    }
}
