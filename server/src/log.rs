//! Where events go: to stderr, a line each.

use std::io::{self, IsTerminal};

use tracing::Level;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{LogConfig, LogFormat};

/// Sends the events of this process to stderr from now on. Where the program that
/// embeds us listens to them already, nothing changes.
pub fn begin(config: &LogConfig) {
    let terminal = io::stderr().is_terminal();
    let by_place = if terminal { LogFormat::Pretty } else { LogFormat::Json };
    let lines = tracing_subscriber::fmt().with_max_level(Level::TRACE).with_writer(io::stderr);
    let filter = config.filter.clone();
    let begun = match config.format.unwrap_or(by_place) {
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
    // A failure means that somebody listens already.
    if begun.is_ok() {
        // The usual words of a panic would stand between the lines of the log.
        std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "panicked")));
    }
}
