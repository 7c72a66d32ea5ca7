//! Waking idle workers when a job may be due.
//!
//! A job that is due at once is notified by the database (`LISTEN`), to all servers. A job that
//! this server releases for later wakes a worker when that time has come. For everything else,
//! such as a lease that expired elsewhere or a notification that was lost, a worker stops
//! waiting after [`JOB_POLL`] and looks itself.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::connect::Connector;
use crate::limits::{JOB_POLL, LISTEN_PAUSE_MAX, LISTEN_PAUSE_MIN, LISTEN_TIMEOUT};
use crate::store::Cause;

/// The channel of jobs that are due at once.
pub(super) const CHANNEL: &str = "promptarium_job_due";

/// Wakes workers of this server. Copies wake the same workers.
#[derive(Clone)]
pub(super) struct JobNotifier {
    connector: Connector,
    /// One permit wakes one worker.
    due: Arc<Notify>,
    /// Started by the first worker that waits.
    listener: Arc<Mutex<Option<AbortOnDropHandle<()>>>>,
}

impl JobNotifier {
    pub(super) fn new(connector: Connector) -> Self {
        Self { connector, due: Arc::default(), listener: Arc::default() }
    }

    /// Returns when a job may be due, and after `at_most`.
    pub(super) async fn due(&self, at_most: Duration) {
        self.start();
        // Not all at once.
        let poll = JOB_POLL.mul_f64(rand::random_range(0.75..1.25));
        let _ = timeout(at_most.min(poll), self.due.notified()).await;
    }

    /// Wakes a worker after this pause.
    pub(super) fn wake_after(&self, pause: Duration) {
        let due = self.due.clone();
        tokio::spawn(async move {
            sleep(pause).await;
            due.notify_one();
        });
    }

    fn start(&self) {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        if listener.as_ref().is_none_or(AbortOnDropHandle::is_finished) {
            let listening = listen(self.connector.clone(), self.due.clone());
            *listener = Some(AbortOnDropHandle::new(tokio::spawn(listening)));
        }
    }
}

/// Listens, and connects again when that ends, until it is aborted. Only a change is logged.
async fn listen(connector: Connector, due: Arc<Notify>) {
    let (mut pause, mut is_listening) = (LISTEN_PAUSE_MIN, true);
    loop {
        let Err(error) = listen_once(&connector, &due, || {
            if !is_listening {
                tracing::info!("job notifications are back");
            }
            (pause, is_listening) = (LISTEN_PAUSE_MIN, true);
        })
        .await;
        if is_listening {
            tracing::warn!(error, "no job notifications; workers look for jobs once a second");
        }
        is_listening = false;
        sleep(pause.mul_f64(rand::random_range(0.5..1.0))).await;
        pause = (pause * 2).min(LISTEN_PAUSE_MAX);
    }
}

async fn listen_once(
    connector: &Connector,
    due: &Arc<Notify>,
    started: impl FnOnce(),
) -> Result<Infallible, Cause> {
    let mut client = connector.connect_and_listen(due.clone()).await?;
    let listen = format!("LISTEN {CHANNEL}");
    timeout(LISTEN_TIMEOUT, client.batch_execute(&listen)).await??;
    started();
    // A notification may have been missed.
    due.notify_one();
    client.closed().await;
    Err("the connection ended".into())
}
