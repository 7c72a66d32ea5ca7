//! Workers that go on until they are told to stop.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::{Step, Worker};

/// How long an idle worker waits at most before it looks for a job again.
const IDLE: Duration = Duration::from_secs(2);
/// How long a worker rests when the store has failed.
const REST: Duration = Duration::from_secs(1);
/// How long handing jobs back may take in the end.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Some workers, each a task. Dropped, they stop at once, and their jobs go to
/// others when the leases have run out.
#[derive(Debug)]
pub struct Crew {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Crew {
    /// Starts so many workers on the current Tokio runtime; none is allowed.
    pub fn start(worker: &Worker, size: usize) -> Self {
        let (stop, stopping) = watch::channel(false);
        let mut tasks = JoinSet::new();
        for _ in 0..size {
            tasks.spawn(work(worker.clone(), stopping.clone()));
        }
        Self { stop, tasks }
    }

    /// Stops them; what they have in hand they hand back for others to go on with.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        let all = async { while self.tasks.join_next().await.is_some() {} };
        if timeout(STOP_TIMEOUT, all).await.is_err() {
            tracing::warn!("some workers did not hand back their jobs in time");
        }
    }
}

async fn work(worker: Worker, stopping: watch::Receiver<bool>) {
    while !*stopping.borrow() {
        let step = worker.step_until(stopped(stopping.clone()));
        let rest = match AssertUnwindSafe(step).catch_unwind().await {
            Ok(Ok(Step::Idle)) => worker.store.job_due(IDLE),
            Ok(Ok(_)) => continue,
            Ok(Err(error)) => {
                tracing::error!(%error, "the store failed a worker");
                sleep(REST).boxed()
            }
            Err(_) => {
                tracing::error!("a worker panicked, and goes on");
                sleep(REST).boxed()
            }
        };
        tokio::select! { () = rest => {}, () = stopped(stopping.clone()) => {} }
    }
}

/// Done when the crew is to stop, or is gone.
async fn stopped(mut stopping: watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stop| *stop).await;
}
