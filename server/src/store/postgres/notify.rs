//! Waking idle workers when a job may be due.
//!
//! The database notifies all servers of a job that is due at once (`LISTEN`). A job that this
//! server releases for later wakes a worker at that time. For everything else, such as a lease that
//! expired elsewhere, a worker looks itself after [`JOB_POLL`].

use std::sync::{Arc, OnceLock};
use std::time::Duration;

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
    /// Opens the connection that listens. Each permit of its `notified` wakes one worker.
    connector: Connector,
    /// Started by the first worker that waits.
    listener: Arc<OnceLock<AbortOnDropHandle<()>>>,
}

impl JobNotifier {
    pub(super) fn new(connector: Connector) -> Self {
        Self { connector, listener: Arc::default() }
    }

    /// Returns when a job may be due, and after `at_most`.
    pub(super) async fn due(&self, at_most: Duration) {
        let listening = || AbortOnDropHandle::new(tokio::spawn(listen(self.connector.clone())));
        self.listener.get_or_init(listening);
        // Not all at once.
        let poll = JOB_POLL.mul_f64(rand::random_range(0.75..1.25));
        let _ = timeout(at_most.min(poll), self.connector.state.notified.notified()).await;
    }

    /// Wakes a worker after this pause.
    pub(super) fn wake_after(&self, pause: Duration) {
        let state = self.connector.state.clone();
        tokio::spawn(async move {
            sleep(pause).await;
            state.notified.notify_one();
        });
    }
}

/// Listens, and connects again when that ends, until it is aborted. Only a change is logged.
async fn listen(connector: Connector) {
    let (mut pause, mut is_listening) = (LISTEN_PAUSE_MIN, true);
    loop {
        let start = async {
            let client = connector.connect().await?;
            timeout(LISTEN_TIMEOUT, client.batch_execute(&format!("LISTEN {CHANNEL}"))).await??;
            Ok::<_, Cause>(client)
        };
        let error = match start.await {
            Ok(mut client) => {
                if !is_listening {
                    tracing::info!("job notifications are back");
                }
                (pause, is_listening) = (LISTEN_PAUSE_MIN, true);
                // A notification may have been missed.
                connector.state.notified.notify_one();
                let _ = (&mut client.driver).await;
                "the connection ended".into()
            }
            Err(error) => error,
        };
        if is_listening {
            tracing::warn!(error, "no job notifications; workers look for jobs once a second");
        }
        is_listening = false;
        sleep(pause.mul_f64(rand::random_range(0.5..1.0))).await;
        pause = (pause * 2).min(LISTEN_PAUSE_MAX);
    }
}
