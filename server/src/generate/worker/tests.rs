//! The worker, step by step and in a pool, on paused time.

mod fairness;
mod waiting;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use promptarium::VaultId;
use tempfile::TempDir;
use tokio::time::Instant;

use super::pool::WorkerPool;
use super::*;
use crate::blobs::{BlobSetting, Blobs};
use crate::domain::{Caller, JobState, ListedPrompt, NewVault, Turn, VaultVisibility};
use crate::generate::tests::{
    OnPoll, Scripted, account, clock, new_job, output_store, pictures, png, queue, settings, store,
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
    async fn new(provider: Arc<Scripted>) -> Self {
        Self::with_blobs(provider, Blobs::in_memory()).await
    }

    async fn with_blobs(provider: Arc<Scripted>, blobs: Blobs) -> Self {
        let (store, by) = store().await;
        let worker = Worker {
            store: store.clone(),
            provider: provider.clone(),
            outputs: output_store(blobs),
            clock: clock(),
            settings: settings(),
            activity: Arc::default(),
        };
        Self { store, by, provider, worker }
    }

    fn pool(&self, workers: usize) -> WorkerPool {
        let settings = JobSettings { workers, ..self.worker.settings };
        WorkerPool::start(&Worker { settings, ..self.worker.clone() })
    }

    async fn claim(&self) -> Option<Claim> {
        self.store.claim_job(JOB_LEASE, &Turn::default()).await.unwrap()
    }

    /// Processes the job that is due; `None` if there is none.
    async fn step(&self) -> Option<StepOutcome> {
        let claim = self.claim().await?;
        Some(self.worker.step(claim, std::future::pending()).await.unwrap())
    }

    /// Adds a job that the provider has accepted.
    async fn queue(&self, name: &str, vault: Option<VaultId>) {
        queue(&self.store, &self.by, new_job(name, "A harbour", vault)).await;
    }

    async fn state(&self, name: &str) -> JobState {
        self.store.job(&self.by, name).await.unwrap().state
    }

    /// Steps until the job has ended; the results of the steps.
    async fn steps_to_the_end(&self, name: &str) -> Vec<StepOutcome> {
        let mut steps = Vec::new();
        while !matches!(self.state(name).await, JobState::Completed(..) | JobState::Failed(..)) {
            match self.step().await {
                None => self.store.job_due(JOB_RETRY_DELAY_MAX, &[]).await,
                Some(step) => steps.push(step),
            }
        }
        steps
    }

    /// The contents of the vault, or of General.
    async fn contents(&self, vault: Option<VaultId>) -> Vec<ListedPrompt> {
        let general = self.store.vaults(&self.by).await.unwrap().last().unwrap().id;
        let contents = self.store.contents(&self.by, vault.unwrap_or(general)).await.unwrap();
        contents.entries.try_collect().await.unwrap()
    }

    async fn vault(&self) -> VaultId {
        let visibility = VaultVisibility::Private;
        let new = NewVault { name: "Sky".into(), description: None, visibility };
        self.store.create_vault(&self.by, new).await.unwrap().id
    }
}

fn at_once(progress: impl Fn() -> Progress + Send + Sync + 'static) -> Arc<Scripted> {
    Scripted::on_poll(Duration::ZERO, move |_| Ok(progress()))
}

fn no_answer() -> Arc<Scripted> {
    Scripted::on_poll(Duration::ZERO, |_| Err(PollError::transient("no answer")))
}

#[tokio::test(start_paused = true)]
async fn a_job_is_queued_then_in_progress_then_one_prompt_with_an_image_for_each_output() {
    let fixture = Fixture::new(Scripted::on_poll(Duration::ZERO, |poll| {
        Ok(match poll {
            0 | 1 => Progress::Queued,
            2 => Progress::InProgress,
            _ => pictures(4),
        })
    }));
    let fixture = fixture.await;
    assert_eq!(fixture.step().await, None);
    let vault = fixture.vault().await;
    fixture.queue("j", Some(vault)).await;
    let (mut states, released) = (Vec::new(), StepOutcome::Released);
    for expected in [released, released, released, StepOutcome::Completed] {
        assert_eq!(fixture.step().await, Some(expected));
        states.push(fixture.state("j").await);
        assert_eq!(fixture.step().await, None, "it is not due yet");
        sleep(SECOND).await;
    }
    let contents = fixture.contents(Some(vault)).await;
    assert_eq!(contents.len(), 1);
    let (prompt, has) = (&contents[0].prompt, || ticket("j"));
    let queued = || JobState::Queued(has());
    let completed = JobState::Completed(has(), prompt.id);
    assert_eq!(states, [queued(), queued(), JobState::InProgress(has()), completed]);
    assert_eq!(fixture.provider.calls(), (0, 4));
    assert_eq!((&*prompt.title, &*prompt.text), ("A harbour", "A harbour"));
    assert_eq!(prompt.images.len(), 4);
    let outputs = &fixture.worker.outputs;
    for (image, height) in prompt.images.iter().zip(3..) {
        let name = outputs.assets.name_of(&image.source).unwrap();
        assert_eq!(outputs.blobs.read_all(&name).await.unwrap().unwrap(), png(4, height));
        assert_eq!((image.width, image.height), (4, height));
    }
}

#[tokio::test(start_paused = true)]
async fn failed_attempts_are_retried_with_a_doubling_delay() {
    let fixture = Fixture::new(Scripted::on_poll(Duration::ZERO, |poll| match poll {
        0..3 => Err(PollError::transient("no answer")),
        3 => panic!("the provider fails"),
        _ => Ok(pictures(1)),
    }));
    let fixture = fixture.await;
    fixture.queue("j", None).await;
    let before = Instant::now();
    let steps = fixture.steps_to_the_end("j").await;
    assert_eq!(steps[..4], [StepOutcome::RetryLater; 4]);
    assert_eq!(steps[4..], [StepOutcome::Completed]);
    // 1 + 2 + 4 + 8 seconds, in the timer's milliseconds.
    assert_eq!(before.elapsed().as_secs(), 15);
    assert_eq!(fixture.contents(None).await.len(), 1);

    let slow = Fixture::new(Scripted::on_poll(2 * JOB_POLL_TIMEOUT, |_| Ok(pictures(1)))).await;
    slow.queue("j", None).await;
    assert_eq!(slow.step().await, Some(StepOutcome::RetryLater), "a poll that takes too long");
}

/// A folder that can store nothing as long as there is a file in place of its subfolder.
fn failing_blobs() -> (TempDir, Blobs) {
    let folder = TempDir::new().unwrap();
    let blobs = Blobs::open(&BlobSetting::Folder(folder.path().to_owned())).unwrap();
    let images = folder.path().join("images");
    std::fs::remove_dir(&images).unwrap();
    std::fs::write(images, "").unwrap();
    (folder, blobs)
}

#[tokio::test(start_paused = true)]
async fn the_lease_is_renewed_while_the_provider_is_slow() {
    let fixture = Fixture::new(Scripted::on_poll(5 * JOB_LEASE / 2, |_| Ok(pictures(1)))).await;
    fixture.queue("j", None).await;
    let other = async {
        for _ in 0..45 {
            sleep(SECOND).await;
            assert_eq!(fixture.step().await, None);
        }
    };
    let (step, ()) = tokio::join!(fixture.step(), other);
    assert_eq!(step.unwrap(), StepOutcome::Completed);
    assert_eq!(fixture.provider.calls(), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_submission_whose_server_died_is_a_failed_job() {
    let fixture = Fixture::new(no_answer()).await;
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
    let fixture = Fixture::new(at_once(|| pictures(1))).await;
    fixture.queue("j", None).await;
    let late = fixture.claim().await.unwrap();
    sleep(JOB_LEASE + SECOND).await;
    let next = fixture.claim().await.unwrap();
    assert_eq!(next.failed_attempts, 1, "taking over a lease counts as a failed attempt");
    for (claim, count) in [(&late, 0), (&late, 0), (&next, 1), (&next, 1)] {
        let was = fixture.contents(None).await.len();
        match fixture.worker.process(claim, &WaitsFor::new("")).await {
            Ok(step) => assert_eq!((step, was), (StepOutcome::Completed, 0)),
            Err(error) => assert!(matches!(error, StoreError::LeaseLost), "{error:?}"),
        }
        assert_eq!(fixture.contents(None).await.len(), count);
    }
}

async fn until_done(fixture: &Fixture, name: &str) {
    while !matches!(fixture.state(name).await, JobState::Completed(..)) {
        sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_idle_pool_takes_a_new_job_at_once() {
    let fixture = Fixture::new(at_once(|| pictures(1))).await;
    let pool = fixture.pool(2);
    sleep(10 * SECOND).await;
    let before = Instant::now();
    fixture.queue("j", None).await;
    until_done(&fixture, "j").await;
    assert!(before.elapsed() <= Duration::from_millis(50), "{:?}", before.elapsed());
    pool.stop().await;
}

/// Each pool is killed while it polls, stores outputs, or between the two.
#[tokio::test(start_paused = true)]
async fn pools_killed_at_any_moment_leave_exactly_one_set_of_outputs() {
    for killed_after_ms in (0..4000).step_by(250) {
        let provider = Scripted::on_poll(SECOND, |_| Ok(pictures(2)));
        let fixture = Fixture::with_blobs(provider, Blobs::slow(SECOND)).await;
        let vault = fixture.vault().await;
        fixture.queue("j", Some(vault)).await;
        for _ in 0..3 {
            let pool = fixture.pool(1);
            sleep(Duration::from_millis(killed_after_ms)).await;
            drop(pool);
            sleep(JOB_LEASE + SECOND).await;
        }
        let last = fixture.pool(2);
        until_done(&fixture, "j").await;
        last.stop().await;
        let contents = fixture.contents(Some(vault)).await;
        assert_eq!(contents.len(), 1, "killed after {killed_after_ms} ms");
        assert_eq!(contents[0].prompt.images.len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stopping_pool_releases_its_jobs_at_once_and_a_draining_one_ends_them() {
    let fixture = Fixture::new(Scripted::on_poll(20 * SECOND, |_| Ok(pictures(1)))).await;
    fixture.queue("first", None).await;
    let pool = fixture.pool(1);
    sleep(SECOND).await;
    let before = Instant::now();
    pool.stop().await;
    assert_eq!(before.elapsed(), Duration::ZERO);
    assert_eq!(fixture.state("first").await, JobState::Queued(ticket("first")));

    let pool = fixture.pool(1);
    sleep(SECOND).await;
    fixture.queue("second", None).await;
    pool.drain().cancel();
    sleep(60 * SECOND).await;
    assert!(matches!(fixture.state("first").await, JobState::Completed(..)));
    assert_eq!(fixture.state("second").await, JobState::Queued(ticket("second")));
    assert_eq!(fixture.provider.calls().1, 2);
    pool.stop().await;
    assert_eq!(fixture.claim().await.unwrap().failed_attempts, 0);
}

/// How the provider answers its polls, where outputs go, for how many hours attempts may fail, and how
/// the job ends: the end of its reason, after how many hours, and with how many images.
type Row = (Box<OnPoll>, Blobs, usize, &'static str, u64, usize);

#[tokio::test(start_paused = true)]
async fn a_job_ends_with_its_outputs_or_with_a_reason_and_is_cancelled_when_it_is_given_up() {
    let (_folder, full) = failing_blobs();
    let memory = Blobs::in_memory;
    let no_answer = || Err(PollError::transient("no answer"));
    let busy = || {
        let (cause, retry_after) = ("busy".to_owned(), Some(PROVIDER_RETRY_AFTER_MAX));
        Err(PollError::Transient { cause, retry_after })
    };
    // The first output cannot be had.
    let partly = |error: PollError, kept| {
        move |_: usize| {
            let Progress::Completed { mut outputs, .. } = pictures(kept) else { unreachable!() };
            let bytes = stream::iter([Err(error.clone())]).boxed();
            outputs.insert(0, Output { size: None, bytes });
            Ok(Progress::completed(outputs))
        }
    };
    let (gone, away) = (PollError::permanent("it is gone"), PollError::transient("it is away"));
    let progressed = AtomicBool::new(false);
    let began = OnceLock::new();
    let outage = move |_: usize| match began.get_or_init(Instant::now).elapsed().as_secs() / 3600 {
        // Failed attempts are forgotten after progress.
        20.. if !progressed.swap(true, Ordering::SeqCst) => Ok(Progress::InProgress),
        40.. => Ok(pictures(1)),
        _ => Err(PollError::transient("no answer")),
    };
    let not_polled = "the provider could not be polled for 24 hours";
    let rows: [Row; 11] = [
        (Box::new(|_| Err(PollError::permanent("not liked"))), memory(), 24, "not liked", 0, 0),
        (Box::new(|_| Err(PollError::permanent(" \0 "))), memory(), 24, "it gave no reason", 0, 0),
        (Box::new(|_| Ok(pictures(0))), memory(), 24, "completed it without output", 0, 0),
        (Box::new(partly(gone.clone(), 3)), memory(), 24, "", 0, 3),
        (Box::new(partly(gone, 0)), memory(), 24, "it is gone", 0, 0),
        (Box::new(partly(away, 3)), memory(), 24, "", 24, 3),
        (Box::new(move |_| no_answer()), memory(), 24, not_polled, 24, 0),
        (Box::new(move |_| no_answer()), memory(), 2, "not be polled for 2 hours", 2, 0),
        // By the clock, however long the pauses are.
        (Box::new(move |_| busy()), memory(), 24, not_polled, 24, 0),
        (Box::new(|_| Ok(pictures(1))), full, 24, "output could not be saved for 24 hours", 24, 0),
        (Box::new(outage), memory(), 24, "", 40, 1),
    ];
    for (at, (polled, blobs, retry_hours, reason, hours, images)) in rows.into_iter().enumerate() {
        let provider = Scripted::on_poll(Duration::ZERO, polled);
        let mut fixture = Fixture::with_blobs(provider, blobs).await;
        fixture.worker.settings.retry_hours = retry_hours;
        fixture.queue("j", None).await;
        let began = Instant::now();
        fixture.steps_to_the_end("j").await;
        let longest = if hours > 0 { 2 * PROVIDER_RETRY_AFTER_MAX } else { SECOND };
        let due = Duration::from_secs(hours * 3600);
        let took = began.elapsed();
        assert!((due..due + longest).contains(&took), "{at}: {took:?}");
        match fixture.state("j").await {
            JobState::Failed(Some(of), shown) => {
                assert!(of == ticket("j") && shown.ends_with(reason), "{at}: {shown}");
                assert!(!reason.is_empty() && fixture.contents(None).await.is_empty(), "{at}");
            }
            JobState::Completed(..) => {
                assert_eq!(fixture.contents(None).await[0].prompt.images.len(), images, "{at}");
            }
            state => panic!("{at}: {state:?}"),
        }
        tokio::task::yield_now().await;
        let is_given_up = reason.ends_with(" hours");
        let cancels = fixture.provider.cancels.load(Ordering::SeqCst);
        assert_eq!(cancels, usize::from(is_given_up), "{at}");
    }
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
