//! The log of the process: one line per event, to stderr.
//!
//! One thread writes the lines, which wait for it in a bounded buffer, so that a slow reader of the
//! log delays no request. A system call per request is a tenth of what a request costs, so lines
//! wait for [`LOG_FLUSH_DELAY`] and are written together. Lines for which there is no room are
//! dropped and counted.
//!
//! Of a generation that the provider accepted, the line may be all that is left after a crash. So
//! the lines of [`DURABLE`] are written at once and waited for, but not longer than
//! [`LOG_WRITE_TIMEOUT`]. `tracing-appender` has no such confirmation.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::{fmt, mem, thread};

use jiff::Timestamp;
use parking_lot::{Condvar, Mutex, MutexGuard};
use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{Config, LogFormat};
use crate::generate::submit::LOG_TARGET as DURABLE;
use crate::http::json::Object;
use crate::limits::product::{LOG_BYTES_MAX, LOG_FLUSH_DELAY, LOG_WRITE_TIMEOUT};
use crate::serve::metrics::DROPPED_LOG_LINES as DROPPED;

/// Logs the events of this process from now on. If the embedding program has a subscriber
/// already, nothing changes. What is returned writes the last lines when it is dropped.
pub(super) fn init(config: &Config, level: LevelFilter) -> FlushOnDrop {
    let terminal = io::stderr().is_terminal();
    let default = if terminal { LogFormat::Pretty } else { LogFormat::Json };
    let log = Log::new(io::stderr(), LOG_BYTES_MAX);
    let registry = tracing_subscriber::registry().with(config.log_filter(level));
    let result = match config.settings.log_format.unwrap_or(default) {
        LogFormat::Pretty => {
            let lines = tracing_subscriber::fmt::layer().with_writer(log.clone());
            registry.with(lines.with_ansi(terminal).with_target(false)).try_init()
        }
        LogFormat::Json => registry.with(log.clone()).try_init(),
    };
    if result.is_ok() {
        // The default message of a panic would mix with the lines of the log.
        std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "panicked")));
    }
    FlushOnDrop(log)
}

/// Writes the lines of a log when it is dropped.
pub(super) struct FlushOnDrop(Log);

impl Drop for FlushOnDrop {
    fn drop(&mut self) {
        self.0.add(&[], true);
    }
}

/// Lines that one thread writes. Clones share them.
#[derive(Clone)]
struct Log(Arc<Shared>);

struct Shared {
    bytes_max: usize,
    state: Mutex<State>,
    wake: Condvar,
    written: Condvar,
}

#[derive(Default)]
struct State {
    lines: Vec<u8>,
    /// Callers that have begun to wait, and how many of them have their lines written.
    waits: u64,
    written: u64,
    /// A wait has timed out. No caller waits again until the output takes lines.
    is_stalled: bool,
}

impl Log {
    fn new(output: impl Write + Send + 'static, bytes_max: usize) -> Self {
        let (state, wake, written) = Default::default();
        let log = Self(Arc::new(Shared { bytes_max, state, wake, written }));
        let of_writer = log.clone();
        let writer = thread::Builder::new().name("log".into());
        // Without a writer nobody waits twice, and lines are dropped once there are too many.
        let _ = writer.spawn(move || of_writer.write(output));
        log
    }

    /// Adds a line. A durable one is written at once, with all before it, and waited for.
    fn add(&self, line: &[u8], is_durable: bool) {
        let Shared { bytes_max, state, wake, written } = &*self.0;
        let mut state = state.lock();
        if state.lines.len() + line.len() > *bytes_max {
            DROPPED.inc();
            return;
        }
        if state.lines.is_empty() || is_durable {
            wake.notify_one();
        }
        state.lines.extend_from_slice(line);
        if is_durable && !state.is_stalled {
            state.waits += 1;
            let wait = state.waits;
            let is_waiting = |state: &mut State| state.written < wait;
            let end = written.wait_while_for(&mut state, is_waiting, LOG_WRITE_TIMEOUT);
            state.is_stalled |= end.timed_out();
        }
    }

    /// Writes all lines, until the end of the program.
    fn write(&self, mut output: impl Write) {
        let Shared { state, wake, written, .. } = &*self.0;
        let (mut reported, mut lines) = (DROPPED.get(), Vec::new());
        let mut state = state.lock();
        loop {
            let is_waited_for = |state: &State| state.written < state.waits;
            wake.wait_while(&mut state, |state| state.lines.is_empty() && !is_waited_for(state));
            wake.wait_while_for(&mut state, |state| !is_waited_for(state), LOG_FLUSH_DELAY);
            mem::swap(&mut lines, &mut state.lines);
            let waits = state.waits;
            MutexGuard::unlocked(&mut state, || {
                // A failure to write the log stops nothing.
                let _ = output.write_all(&lines).and_then(|()| output.flush());
                lines.clear();
                let dropped = DROPPED.get() - reported;
                if dropped > 0 {
                    reported += dropped;
                    tracing::warn!(
                        dropped,
                        "lines of the log were dropped: nobody read it for a time"
                    );
                }
            });
            (state.written, state.is_stalled) = (waits, false);
            written.notify_all();
        }
    }
}

/// Adds one line to a log, perhaps a durable one.
struct LineWriter<'a>(&'a Log, bool);

impl<'a> MakeWriter<'a> for Log {
    type Writer = LineWriter<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        LineWriter(self, false)
    }

    fn make_writer_for(&'a self, event: &Metadata<'_>) -> Self::Writer {
        LineWriter(self, event.target() == DURABLE)
    }
}

impl Write for LineWriter<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.add(line, self.1);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Each event as a line of JSON: time, level, fields, and where it comes from. The format of
/// `tracing-subscriber` takes 1,060 ns for the line of a request where this takes 180 ns. In memory a
/// request takes 9,200 ns of processor time, so it would be 9 % slower.
impl<S: Subscriber> Layer<S> for Log {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        // Enough for most lines.
        let mut line = Vec::with_capacity(512);
        let mut fields = Fields(Object::begin(&mut line));
        fields.0.time("timestamp", Timestamp::now());
        fields.0.text("level", event.metadata().level().as_str());
        event.record(&mut fields);
        fields.0.text("target", event.metadata().target());
        fields.0.end();
        line.push(b'\n');
        self.add(&line, event.metadata().target() == DURABLE);
    }
}

/// The fields of an event.
struct Fields<'a>(Object<'a>);

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.text(field.name(), value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.value(field.name(), &value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.value(field.name(), &value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.value(field.name(), &value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.text(field.name(), &format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
    use std::thread::sleep;

    use serde_json::{Value, json};
    use tracing::info;

    use super::*;

    /// Hands on each piece; it waits for the one before to be taken.
    struct Output(SyncSender<String>);

    impl Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.send(String::from_utf8_lossy(bytes).into_owned());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn log(capacity: usize, bytes_max: usize) -> (Log, Receiver<String>) {
        let (output, pieces) = sync_channel(capacity);
        (Log::new(Output(output), bytes_max), pieces)
    }

    #[test]
    fn lines_are_written_together_and_before_one_of_a_generation_that_is_waited_for() {
        let (log, pieces) = log(9, 1_000);
        let lines = tracing_subscriber::fmt::layer().without_time().with_ansi(false);
        let lines = lines.with_target(false).with_level(false).with_writer(log);
        tracing::subscriber::with_default(tracing_subscriber::registry().with(lines), || {
            for line in ["one", "two", "three"] {
                info!("{line}");
            }
            info!(target: DURABLE, "four");
            assert_eq!(pieces.try_iter().collect::<String>(), "one\ntwo\nthree\nfour\n");
            info!("alone");
            assert_eq!(pieces.recv().unwrap(), "alone\n");
        });
    }

    #[test]
    fn while_nobody_reads_lines_are_dropped_and_counted_and_nobody_waits_twice() {
        let (log, pieces) = log(0, 200);
        let before = DROPPED.get();
        log.add(b"first\n", true);
        assert!(log.0.state.lock().is_stalled);
        for _ in 0..150 {
            log.add(b"x\n", true);
        }
        assert_eq!(DROPPED.get() - before, 50);
        assert_eq!(
            pieces.iter().take(2).collect::<String>(),
            "first\n".to_owned() + &"x\n".repeat(100)
        );
        while log.0.state.lock().is_stalled {
            sleep(LOG_FLUSH_DELAY);
        }
        log.add(b"again\n", false);
        assert_eq!(pieces.recv().unwrap(), "again\n");
    }

    #[test]
    fn a_line_of_json_has_time_level_fields_and_target() {
        let (log, lines) = log(9, 1_000);
        tracing::subscriber::with_default(tracing_subscriber::registry().with(log), || {
            let (cause, note) = (None::<&str>, Some("\u{1}"));
            tracing::warn!(
                status = 503,
                duration_us = 12_u64,
                cause,
                ?note,
                is_new = true,
                back = "\\",
                "a \"quoted\"\ntext"
            );
        });
        let line = lines.recv().unwrap();
        assert_eq!(line.matches('\n').count(), 1);
        let mut line: Value = serde_json::from_str(&line).unwrap();
        let time = line["timestamp"].take();
        assert!(time.as_str().unwrap().parse::<Timestamp>().is_ok(), "{time}");
        let expected = json!({
            "timestamp": null,
            "level": "WARN",
            "message": "a \"quoted\"\ntext",
            "status": 503,
            "duration_us": 12,
            "note": "Some(\"\\u{1}\")",
            "is_new": true,
            "back": "\\",
            "target": module_path!(),
        });
        assert_eq!(line, expected);
    }
}
