//! The log of the process: one line per event, to stderr.
//!
//! One thread writes the lines, which wait for it in bounded buffers, so that a slow reader of the
//! log delays no request. A system call per request is a tenth of what a request costs, so lines of
//! responses wait for [`LOG_FLUSH_DELAY`] and are written together. Any other line is written at
//! once, with all that were logged before it. Lines for which there is no room are dropped and
//! counted.
//!
//! Of a generation that the provider accepted, the line may be all that is left after a crash. So
//! the lines of [`DURABLE`] are waited for, but not longer than [`LOG_WRITE_TIMEOUT`].
//! `tracing-appender` has no such confirmation.

mod json;

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::{mem, thread};

use parking_lot::{Condvar, Mutex};
use tracing::{Level, Metadata};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::JsonFields;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use self::json::JsonLines;
use crate::config::{Config, LogFormat};
use crate::generate::submit::LOG_TARGET as DURABLE;
use crate::limits::{LOG_BYTES_MAX, LOG_FLUSH_DELAY, LOG_WRITE_TIMEOUT};
use crate::serve::metrics::DROPPED_LOG_LINES as DROPPED;
use crate::serve::service::LOG_TARGET as RESPONSES;

/// Logs the events of this process from now on. If the embedding program has a subscriber
/// already, nothing changes. What is returned writes the last lines when it is dropped.
pub(super) fn init(config: &Config, level: LevelFilter) -> FlushOnDrop {
    let terminal = io::stderr().is_terminal();
    let default = if terminal { LogFormat::Pretty } else { LogFormat::Json };
    let log = Log::new(io::stderr(), LOG_BYTES_MAX);
    let lines = tracing_subscriber::fmt().with_max_level(Level::TRACE).with_writer(log.clone());
    let filter = config.log_filter(level);
    let result = match config.settings.log_format.unwrap_or(default) {
        LogFormat::Pretty => {
            lines.with_ansi(terminal).with_target(false).finish().with(filter).try_init()
        }
        LogFormat::Json => {
            let lines = lines.fmt_fields(JsonFields::new()).event_format(JsonLines);
            lines.finish().with(filter).try_init()
        }
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
        self.0.add(&[], Urgency::Durable);
    }
}

/// Lines that one thread writes. Clones share them.
#[derive(Clone)]
struct Log(Arc<Lines>);

struct Lines {
    /// A thread always uses the same one of them: with one for all, its memory would move between
    /// processors with each line, which takes longer than the copy.
    buffers: [Mutex<Vec<u8>>; 4],
    /// In each buffer.
    bytes_max: usize,
    /// Whether the writer knows that there are lines, so that few have to wake it.
    is_awake: AtomicBool,
    state: Mutex<State>,
    wake: Condvar,
    written: Condvar,
    /// A wait has timed out. No caller waits again until the output takes lines.
    is_stalled: AtomicBool,
}

#[derive(Default)]
struct State {
    /// The highest of the lines that the writer has been woken for.
    urgency: Option<Urgency>,
    /// Callers that have begun to wait, and how many of them have their lines written.
    waits: u64,
    written: u64,
}

/// When a line is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Urgency {
    Later,
    AtOnce,
    /// At once; the caller waits until it is written.
    Durable,
}

impl Urgency {
    fn of(event: &Metadata<'_>) -> Self {
        match event.target() {
            DURABLE => Self::Durable,
            RESPONSES if *event.level() > Level::WARN => Self::Later,
            _ => Self::AtOnce,
        }
    }
}

impl Log {
    fn new(output: impl Write + Send + 'static, bytes_max: usize) -> Self {
        let lines = Arc::new(Lines {
            buffers: Default::default(),
            bytes_max,
            is_awake: AtomicBool::new(false),
            state: Mutex::default(),
            wake: Condvar::new(),
            written: Condvar::new(),
            is_stalled: AtomicBool::new(false),
        });
        let of_writer = lines.clone();
        let writer = thread::Builder::new().name("log".into());
        if writer.spawn(move || of_writer.write(output)).is_err() {
            // Without a writer lines are dropped once the buffers are full, and nobody waits.
            lines.is_stalled.store(true, Relaxed);
        }
        Self(lines)
    }

    fn add(&self, line: &[u8], urgency: Urgency) {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        thread_local!(static THREAD: usize = THREADS.fetch_add(1, Relaxed));
        let lines = &*self.0;
        let mut buffer = lines.buffers[THREAD.with(|thread| thread % lines.buffers.len())].lock();
        if buffer.len() + line.len() > lines.bytes_max {
            DROPPED.inc();
            return;
        }
        buffer.extend_from_slice(line);
        drop(buffer);
        if urgency == Urgency::Later && lines.is_awake.load(Relaxed) {
            return;
        }
        let mut state = lines.state.lock();
        lines.is_awake.store(true, Relaxed);
        state.urgency = state.urgency.max(Some(urgency));
        lines.wake.notify_one();
        if urgency == Urgency::Durable && !lines.is_stalled.load(Relaxed) {
            state.waits += 1;
            let wait = state.waits;
            let is_waiting = |state: &mut State| state.written < wait;
            let end = lines.written.wait_while_for(&mut state, is_waiting, LOG_WRITE_TIMEOUT);
            lines.is_stalled.fetch_or(end.timed_out(), Relaxed);
        }
    }
}

impl Lines {
    /// Writes all lines, until the end of the program.
    fn write(&self, mut output: impl Write) {
        let (mut reported, mut bytes) = (DROPPED.get(), Vec::new());
        loop {
            let mut state = self.state.lock();
            self.wake.wait_while(&mut state, |state| state.urgency.is_none());
            let may_wait = |state: &mut State| state.urgency == Some(Urgency::Later);
            self.wake.wait_while_for(&mut state, may_wait, LOG_FLUSH_DELAY);
            state.urgency = None;
            let waits = state.waits;
            // Before the buffers are emptied: whoever adds a line afterwards wakes the writer.
            self.is_awake.store(false, Relaxed);
            drop(state);
            for buffer in &self.buffers {
                mem::swap(&mut bytes, &mut *buffer.lock());
                // A failure to write the log stops nothing.
                let _ = output.write_all(&bytes);
                bytes.clear();
            }
            let _ = output.flush();
            self.is_stalled.store(false, Relaxed);
            self.state.lock().written = waits;
            self.written.notify_all();
            let dropped = DROPPED.get() - reported;
            if dropped > 0 {
                reported += dropped;
                tracing::warn!(dropped, "lines of the log were dropped: nobody read it for a time");
            }
        }
    }
}

/// Adds one line to a log.
struct LineWriter<'a>(&'a Log, Urgency);

impl<'a> MakeWriter<'a> for Log {
    type Writer = LineWriter<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        LineWriter(self, Urgency::AtOnce)
    }

    fn make_writer_for(&'a self, event: &Metadata<'_>) -> Self::Writer {
        LineWriter(self, Urgency::of(event))
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
    use std::thread::sleep;

    use tracing::{info, warn};

    use super::*;

    /// Hands on each piece; it waits for the one before to be taken.
    pub(super) struct Output(pub(super) SyncSender<String>);

    impl Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.send(String::from_utf8_lossy(bytes).into_owned());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn log(capacity: usize) -> (Log, Receiver<String>) {
        let (output, pieces) = sync_channel(capacity);
        (Log::new(Output(output), 200), pieces)
    }

    #[test]
    fn the_event_says_when_its_line_is_written() {
        #[derive(Clone, Default)]
        struct Seen(Arc<Mutex<Vec<Urgency>>>);
        impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for Seen {
            fn on_event(
                &self,
                event: &tracing::Event<'_>,
                _: tracing_subscriber::layer::Context<'_, S>,
            ) {
                self.0.lock().push(Urgency::of(event.metadata()));
            }
        }
        let seen = Seen::default();
        tracing::subscriber::with_default(
            tracing_subscriber::registry().with(seen.clone()),
            || {
                info!(target: RESPONSES, "one");
                warn!(target: RESPONSES, "two");
                info!("three");
                info!(target: DURABLE, "four");
            },
        );
        let expected = [Urgency::Later, Urgency::AtOnce, Urgency::AtOnce, Urgency::Durable];
        assert_eq!(*seen.0.lock(), expected);
    }

    #[test]
    fn lines_of_responses_are_written_together_and_before_a_durable_one_that_is_waited_for() {
        let (log, pieces) = log(9);
        for line in ["one\n", "two\n", "three\n"] {
            log.add(line.as_bytes(), Urgency::Later);
        }
        log.add(b"four\n", Urgency::Durable);
        assert_eq!(pieces.try_iter().collect::<String>(), "one\ntwo\nthree\nfour\n");
        log.add(b"alone\n", Urgency::Later);
        assert_eq!(pieces.recv().unwrap(), "alone\n");
    }

    #[test]
    fn while_nobody_reads_lines_are_dropped_and_counted_and_nobody_waits_twice() {
        let (log, pieces) = log(0);
        let before = DROPPED.get();
        log.add(b"first\n", Urgency::Durable);
        assert!(log.0.is_stalled.load(Relaxed));
        for _ in 0..150 {
            log.add(b"x\n", Urgency::Durable);
        }
        assert_eq!(DROPPED.get() - before, 50);
        assert_eq!(
            pieces.iter().take(2).collect::<String>(),
            "first\n".to_owned() + &"x\n".repeat(100)
        );
        while log.0.is_stalled.load(Relaxed) {
            sleep(LOG_FLUSH_DELAY);
        }
        log.add(b"again\n", Urgency::AtOnce);
        assert_eq!(pieces.recv().unwrap(), "again\n");
    }
}
