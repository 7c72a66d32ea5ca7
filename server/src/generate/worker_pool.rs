//! Worker tasks, from the start of a server to its shutdown.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::worker::{Step, Worker};
use crate::error_chain::error_chain;
use crate::limits::{WORKER_ERROR_PAUSE, WORKER_IDLE, WORKER_STOP_TIMEOUT};

/// Worker tasks. If the pool is dropped they stop at once, and other servers take their jobs
/// over when the leases expire.
#[derive(Debug)]
pub struct WorkerPool {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl WorkerPool {
    /// Starts this many workers on the current Tokio runtime; 0 is allowed.
    pub fn start(worker: &Worker, size: usize) -> Self {
        let (stop, stopping) = watch::channel(false);
        let mut tasks = JoinSet::new();
        for _ in 0..size {
            tasks.spawn(run(worker.clone(), stopping.clone()));
        }
        Self { stop, tasks }
    }

    /// Stops the workers; they release their jobs.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        let all = async { while self.tasks.join_next().await.is_some() {} };
        if timeout(WORKER_STOP_TIMEOUT, all).await.is_err() {
            tracing::warn!("some workers did not release their jobs in time");
        }
    }
}

async fn run(worker: Worker, stopping: watch::Receiver<bool>) {
    while !*stopping.borrow() {
        let step = worker.step_until(stopped(stopping.clone()));
        let pause = match AssertUnwindSafe(step).catch_unwind().await {
            Ok(Ok(Step::Idle)) => worker.store.job_due(WORKER_IDLE),
            Ok(Ok(_)) => continue,
            Ok(Err(error)) => {
                tracing::error!(error = error_chain(&error), "the store failed a worker");
                sleep(WORKER_ERROR_PAUSE).boxed()
            }
            Err(_) => {
                tracing::error!("a worker panicked and continues");
                sleep(WORKER_ERROR_PAUSE).boxed()
            }
        };
        tokio::select! { () = pause => {}, () = stopped(stopping.clone()) => {} }
    }
}

/// Ready when the pool is to stop, or is dropped.
async fn stopped(mut stopping: watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stop| *stop).await;
}
