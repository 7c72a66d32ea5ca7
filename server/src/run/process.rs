//! What belongs to the whole process: stop signals and the log.

use std::io::{self, IsTerminal};

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::Level;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{LogConfig, LogFormat};

/// Receives stop signals: SIGINT and SIGTERM; on other systems Ctrl-C. While it exists they do
/// not end the process.
pub(super) struct StopSignals {
    #[cfg(unix)]
    signals: [Signal; 2],
}

impl StopSignals {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            signals: [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?],
        })
    }

    /// Waits for the next signal.
    pub(super) async fn recv(&mut self) {
        #[cfg(unix)]
        {
            let [interrupt, terminate] = &mut self.signals;
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Logs the events of this process to stderr from now on, one line each. If the embedding
/// program has a subscriber already, nothing changes.
pub(super) fn init_log(config: &LogConfig) {
    let terminal = io::stderr().is_terminal();
    let default = if terminal { LogFormat::Pretty } else { LogFormat::Json };
    let lines = tracing_subscriber::fmt().with_max_level(Level::TRACE).with_writer(io::stderr);
    let filter = config.filter.clone();
    let result = match config.format.unwrap_or(default) {
        LogFormat::Pretty => {
            lines.with_ansi(terminal).with_target(false).finish().with(filter).try_init()
        }
        LogFormat::Json => {
            let lines = lines.json().flatten_event(true).with_current_span(false);
            lines.finish().with(filter).try_init()
        }
    };
    if result.is_ok() {
        // The default message of a panic would mix with the lines of the log.
        std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "panicked")));
    }
}
