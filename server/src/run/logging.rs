//! Logging to stderr, one line per event.

use std::io::{self, IsTerminal};

use tracing::Level;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{LogConfig, LogFormat};

/// Logs the events of this process from now on. If the embedding program has a subscriber
/// already, nothing changes.
pub(super) fn init(config: &LogConfig) {
    let terminal = io::stderr().is_terminal();
    let default = if terminal { LogFormat::Pretty } else { LogFormat::Json };
    let lines = tracing_subscriber::fmt().with_max_level(Level::TRACE).with_writer(io::stderr);
    let filter = config.filter.clone();
    let result = match config.format.unwrap_or(default) {
        LogFormat::Pretty => {
            lines.with_ansi(terminal).with_target(false).finish().with(filter).try_init()
        }
        LogFormat::Json => lines
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .finish()
            .with(filter)
            .try_init(),
    };
    if result.is_ok() {
        // The default message of a panic would mix with the lines of the log.
        std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "panicked")));
    }
}
