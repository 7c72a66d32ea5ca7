//! The worker, step by step and in a pool, on paused time.

mod ends;
mod fairness;
mod outputs;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use tempfile::TempDir;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::output::large_outputs;
use super::pool::WorkerPool;
use super::*;
use crate::blobs::Blobs;
use crate::domain::{Caller, JobState, ListedPrompt, Turn};
use crate::generate::OutputStream;
use crate::generate::tests::{
    Log, OnPoll, Scripted, account, assets, clock, new_job, pictures, png, queue, settings, store,
    ticket,
};
use crate::limits::{SUBMIT_CHECK_INTERVAL, SUBMIT_LIMIT};
use crate::store::memory::MemoryStore;
use crate::store::prelude::*;

const SECOND: Duration = Duration::from_secs(1);

struct Fixture {
    store: Arc<MemoryStore>,
    by: Caller,
    provider: Arc<Scripted>,
    worker: Worker,
}

impl Fixture {
    /// With a provider that answers at once.
    async fn new(
        on_poll: impl Fn(usize) -> Result<Progress, PollError> + Send + Sync + 'static,
    ) -> Self {
        Self::of(Scripted::on_poll(Duration::ZERO, on_poll)).await
    }

    async fn of(provider: Arc<Scripted>) -> Self {
        let (store, by) = store().await;
        let worker = Worker {
            store: store.clone(),
            provider: provider.clone(),
            blobs: Blobs::in_memory(),
            assets: assets(),
            key: SigningKey::random(),
            clock: clock(),
            settings: JobSettings { output_max_mib: 60, ..settings() },
            large: large_outputs(),
            activity: Arc::default(),
        };
        Self { store, by, provider, worker }
    }

    fn pool(&self, workers: usize) -> WorkerPool {
        self.pool_until(workers, &CancellationToken::new())
    }

    fn pool_until(&self, workers: usize, drain: &CancellationToken) -> WorkerPool {
        let settings = JobSettings { workers, ..self.worker.settings };
        WorkerPool::start(&Worker { settings, ..self.worker.clone() }, drain)
    }

    async fn claim(&self) -> Option<Claim> {
        self.store.claim_job(JOB_LEASE, &Turn::default()).await.unwrap()
    }

    /// Processes the job that is due, if there is one.
    async fn step(&self) -> bool {
        let Some(claim) = self.claim().await else { return false };
        self.worker.step(claim, std::future::pending()).await.unwrap();
        true
    }

    /// Adds a job that the provider has accepted.
    async fn queue(&self, name: &str) {
        queue(&self.store, &self.by, new_job(name, "A harbour", None)).await;
    }

    async fn state(&self, name: &str) -> JobState {
        self.store.job(&self.by, name).await.unwrap().state
    }

    async fn waits_for(&self, name: &str) -> Option<Arc<str>> {
        self.store.job(&self.by, name).await.unwrap().waits_for
    }

    /// How many steps it takes until the job has ended.
    async fn steps_to_the_end(&self, name: &str) -> usize {
        let mut steps = 0;
        while !matches!(self.state(name).await, JobState::Completed(..) | JobState::Failed(..)) {
            match self.step().await {
                false => self.store.job_due(JOB_RETRY_DELAY_MAX, &[]).await,
                true => steps += 1,
            }
        }
        steps
    }

    async fn until_done(&self, by: &Caller, name: &str) {
        let began = Instant::now();
        while !matches!(self.store.job(by, name).await.unwrap().state, JobState::Completed(..)) {
            assert!(began.elapsed() < 600 * SECOND, "{name}");
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// The prompts of an account, all in its vault General.
    async fn prompts(&self, by: &Caller) -> Vec<ListedPrompt> {
        let general = self.store.vaults(by).await.unwrap()[0].id;
        let contents = self.store.contents(by, general).await.unwrap();
        contents.entries.try_collect().await.unwrap()
    }

    /// How often a job was cancelled at the provider.
    async fn cancels(&self) -> usize {
        tokio::task::yield_now().await;
        self.provider.cancels.load(Ordering::SeqCst)
    }
}

/// A stream of pieces of this size, so far apart.
fn pieces(count: usize, bytes: usize, apart: Duration) -> OutputStream {
    let piece = move |_| async move {
        sleep(apart).await;
        Ok(Bytes::from(vec![7; bytes]))
    };
    stream::iter(0..count).then(piece).boxed()
}

fn no_answer() -> Result<Progress, PollError> {
    Err(PollError::transient("no answer"))
}

#[tokio::test(start_paused = true)]
async fn a_job_is_queued_then_in_progress_then_one_prompt_with_an_image_for_each_output() {
    let fixture = Fixture::new(|poll| {
        Ok(match poll {
            0 | 1 => Progress::Queued,
            2 => Progress::InProgress,
            _ => pictures(4),
        })
    });
    let fixture = fixture.await;
    assert!(!fixture.step().await);
    fixture.queue("j").await;
    let mut states = Vec::new();
    for _ in 0..4 {
        assert!(fixture.step().await);
        states.push(fixture.state("j").await);
        assert!(!fixture.step().await, "it is not due yet");
        sleep(SECOND).await;
    }
    let prompts = fixture.prompts(&fixture.by).await;
    let [ListedPrompt { prompt, .. }] = &*prompts else { panic!("{prompts:?}") };
    let (has, queued) = (|| ticket("j"), || JobState::Queued(ticket("j")));
    let completed = JobState::Completed(has(), prompt.id);
    assert_eq!(states, [queued(), queued(), JobState::InProgress(has()), completed]);
    assert_eq!(fixture.provider.calls(), (0, 4));
    assert_eq!((&*prompt.title, &*prompt.text), ("A harbour", "A harbour"));
    assert_eq!(prompt.images.len(), 4);
    let Worker { assets, blobs, .. } = &fixture.worker;
    for (image, height) in prompt.images.iter().zip(3..) {
        let name = assets.name_of(&image.source).unwrap();
        assert_eq!(blobs.read_all(&name, u64::MAX).await.unwrap().unwrap(), png(4, height));
        assert_eq!((image.width, image.height), (4, height));
    }
}

#[tokio::test(start_paused = true)]
async fn failed_attempts_are_retried_with_a_doubling_delay_which_the_job_waits_for() {
    let fixture = Fixture::new(|poll| match poll {
        0..3 => no_answer(),
        3 => panic!("the provider fails"),
        _ => Ok(pictures(1)),
    });
    let fixture = fixture.await;
    fixture.queue("j").await;
    let before = Instant::now();
    assert!(fixture.step().await);
    let reason = "another attempt, because the provider could not be polled";
    assert_eq!(fixture.waits_for("j").await.as_deref(), Some(reason));
    assert_eq!(fixture.steps_to_the_end("j").await, 4);
    // 1 + 2 + 4 + 8 seconds, in the timer's milliseconds.
    assert_eq!(before.elapsed().as_secs(), 15);
    assert_eq!(fixture.prompts(&fixture.by).await.len(), 1);

    let slow = Fixture::of(Scripted::on_poll(2 * JOB_POLL_TIMEOUT, |_| Ok(pictures(1)))).await;
    slow.queue("j").await;
    assert!(slow.step().await);
    sleep(JOB_RETRY_DELAY_MIN).await;
    assert_eq!(slow.claim().await.unwrap().failed_attempts, 1, "a poll that takes too long");
}

/// A folder that can store nothing as long as there is a file in place of its subfolder.
fn failing_blobs() -> (TempDir, Blobs) {
    let folder = TempDir::new().unwrap();
    let blobs = Blobs::in_folder(folder.path()).unwrap();
    let images = folder.path().join("images");
    std::fs::remove_dir(&images).unwrap();
    std::fs::write(images, "").unwrap();
    (folder, blobs)
}

#[tokio::test(start_paused = true)]
async fn the_lease_is_renewed_while_the_provider_is_slow() {
    let fixture = Fixture::of(Scripted::on_poll(5 * JOB_LEASE / 2, |_| Ok(pictures(1)))).await;
    fixture.queue("j").await;
    let other = async {
        for _ in 0..45 {
            sleep(SECOND).await;
            assert!(!fixture.step().await);
        }
    };
    assert!(tokio::join!(fixture.step(), other).0);
    assert!(matches!(fixture.state("j").await, JobState::Completed(..)));
    assert_eq!(fixture.provider.calls(), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_submission_whose_server_died_is_a_failed_job() {
    let fixture = Fixture::new(|_| no_answer()).await;
    fixture.store.reserve_job(&fixture.by, new_job("j", "A harbour", None)).await.unwrap();
    let pool = fixture.pool(1);
    sleep(SUBMIT_LIMIT - SECOND).await;
    let outcome = fixture.store.job(&fixture.by, "j").await;
    assert!(matches!(outcome, Err(StoreError::NotFound)), "{outcome:?}");
    sleep(SUBMIT_CHECK_INTERVAL + 2 * SECOND).await;
    pool.stop().await;
    assert_eq!(fixture.state("j").await, JobState::Failed(None, SUBMIT_UNKNOWN.into()));
    assert_eq!(fixture.provider.calls(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_worker_with_an_expired_lease_changes_nothing() {
    let fixture = Fixture::new(|_| Ok(pictures(1))).await;
    fixture.queue("j").await;
    let late = fixture.claim().await.unwrap();
    sleep(JOB_LEASE + SECOND).await;
    let next = fixture.claim().await.unwrap();
    assert_eq!(next.failed_attempts, 1, "taking over a lease counts as a failed attempt");
    for (claim, is_ok, count) in
        [(&late, false, 0), (&late, false, 0), (&next, true, 1), (&next, false, 1)]
    {
        let outcome = fixture.worker.process(claim).await;
        assert_eq!(outcome.is_ok(), is_ok, "{outcome:?}");
        assert!(matches!(outcome, Ok(()) | Err(StoreError::LeaseLost)), "{outcome:?}");
        assert_eq!(fixture.prompts(&fixture.by).await.len(), count);
    }
}

#[tokio::test(start_paused = true)]
async fn an_idle_pool_takes_a_new_job_at_once() {
    let fixture = Fixture::new(|_| Ok(pictures(1))).await;
    let pool = fixture.pool(2);
    sleep(10 * SECOND).await;
    let before = Instant::now();
    fixture.queue("j").await;
    fixture.until_done(&fixture.by, "j").await;
    assert!(before.elapsed() <= Duration::from_millis(50), "{:?}", before.elapsed());
    pool.stop().await;
}

/// Each pool is killed while it polls, stores outputs, or between the two.
#[tokio::test(start_paused = true)]
async fn pools_killed_at_any_moment_leave_exactly_one_set_of_outputs() {
    for killed_after_ms in (0..4000).step_by(250) {
        let mut fixture = Fixture::of(Scripted::on_poll(SECOND, |_| Ok(pictures(2)))).await;
        fixture.worker.blobs = Blobs::slow(SECOND);
        fixture.queue("j").await;
        for _ in 0..3 {
            let pool = fixture.pool(1);
            sleep(Duration::from_millis(killed_after_ms)).await;
            drop(pool);
            sleep(JOB_LEASE + SECOND).await;
        }
        let last = fixture.pool(2);
        fixture.until_done(&fixture.by, "j").await;
        last.stop().await;
        let prompts = fixture.prompts(&fixture.by).await;
        assert_eq!(prompts.len(), 1, "killed after {killed_after_ms} ms");
        assert_eq!(prompts[0].prompt.images.len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stopping_pool_releases_its_jobs_at_once_and_a_draining_one_ends_them() {
    let fixture = Fixture::of(Scripted::on_poll(20 * SECOND, |_| Ok(pictures(1)))).await;
    fixture.queue("first").await;
    let pool = fixture.pool(1);
    sleep(SECOND).await;
    let before = Instant::now();
    pool.stop().await;
    assert_eq!(before.elapsed(), Duration::ZERO);
    assert_eq!(fixture.state("first").await, JobState::Queued(ticket("first")));

    let drain = CancellationToken::new();
    let pool = fixture.pool_until(1, &drain);
    sleep(SECOND).await;
    fixture.queue("second").await;
    drain.cancel();
    sleep(60 * SECOND).await;
    assert!(matches!(fixture.state("first").await, JobState::Completed(..)));
    assert_eq!(fixture.state("second").await, JobState::Queued(ticket("second")));
    assert_eq!(fixture.provider.calls().1, 2);
    pool.stop().await;
    assert_eq!(fixture.claim().await.unwrap().failed_attempts, 0);
}
