//! The log of the process: one line per event, to stderr.
//!
//! One thread writes it; nobody else waits for whoever reads it. Each thread collects its lines in
//! a buffer of its own: with one for all, its cache lines move between the processors. A system call
//! per request is a tenth of what a request costs, so lines of responses are written together, after
//! [`FLUSH_DELAY`] or when there are enough of them. Any other line is written at once, with all
//! that were logged before it. Lines for which a buffer has no room are dropped and counted.
//!
//! Of a generation that the provider accepted, the line may be all that is left after a crash. So
//! the lines of [`DURABLE`] are waited for, but not longer than [`WRITE_WAIT`].

mod json;

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use thread_local::ThreadLocal;
use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::JsonFields;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use self::json::JsonLines;
use crate::config::{LogConfig, LogFormat};
use crate::generate::submit::LOG_TARGET as DURABLE;
use crate::serve::metrics::DROPPED_LOG_LINES as DROPPED;
use crate::serve::service::LOG_TARGET as RESPONSES;

/// How long a line may wait. A killed process loses the lines of this time at most.
const FLUSH_DELAY: Duration = Duration::from_millis(50);
/// Lines of this many bytes are written without a delay.
const FLUSH_BYTES: usize = 16 * 1024;
/// Lines of responses that one thread has waiting. Other lines may take as much again.
const BUFFER_BYTES: usize = 256 * 1024;
/// How long a line is waited for, and the last lines at the end of the program.
const WRITE_WAIT: Duration = Duration::from_millis(500);

/// Logs the events of this process from now on. If the embedding program has a subscriber
/// already, nothing changes. What is returned writes the last lines when it is dropped.
pub(super) fn init(config: &LogConfig) -> FlushOnDrop {
    let terminal = io::stderr().is_terminal();
    let default = if terminal { LogFormat::Pretty } else { LogFormat::Json };
    let log = Log::new(io::stderr());
    let lines = tracing_subscriber::fmt().with_max_level(Level::TRACE).with_writer(log.clone());
    let filter = config.filter.clone();
    let result = match config.format.unwrap_or(default) {
        LogFormat::Pretty => {
            lines.with_ansi(terminal).with_target(false).finish().with(filter).try_init()
        }
        LogFormat::Json => {
            let lines = lines.with_writer(io::sink).fmt_fields(JsonFields::new());
            let lines = lines.event_format(JsonLines(log.clone()));
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
        self.0.flush();
    }
}

/// Lines that one thread writes. Clones share them.
#[derive(Clone, Default)]
struct Log(Arc<Shared>);

#[derive(Default)]
struct Shared {
    lines: ThreadLocal<Mutex<Vec<u8>>>,
    state: Mutex<State>,
    /// There is something to write.
    wanted: Condvar,
    /// A request to write has been carried out.
    done: Condvar,
}

#[derive(Default)]
struct State {
    has_lines: bool,
    /// How many times somebody asked to write at once, and how many of these have been done.
    asked: u64,
    done: u64,
    /// A wait has timed out. No thread waits again until the output takes lines.
    stalled: bool,
}

/// When a line is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Urgency {
    Later,
    AtOnce,
    /// At once, and whoever logs it waits for that.
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
    /// Without the thread, lines are collected up to the limit.
    fn new(output: impl Write + Send + 'static) -> Self {
        let log = Self::default();
        let of_writer = log.clone();
        let writer = thread::Builder::new().name("log".to_owned());
        let _ = writer.spawn(move || of_writer.write_to(output));
        log
    }

    fn write_to(&self, mut output: impl Write) {
        let (mut lines, mut reported) = (Vec::new(), DROPPED.get());
        loop {
            let mut state = self.0.state.lock();
            while !state.has_lines {
                self.0.wanted.wait(&mut state);
            }
            if state.asked == state.done {
                self.0.wanted.wait_for(&mut state, FLUSH_DELAY);
            }
            let asked = state.asked;
            state.has_lines = false;
            drop(state);
            for of_thread in &self.0.lines {
                std::mem::swap(&mut *of_thread.lock(), &mut lines);
                // A failure to write the log stops nothing.
                let _ = output.write_all(&lines);
                lines.clear();
            }
            let mut state = self.0.state.lock();
            (state.done, state.stalled) = (asked, false);
            self.0.done.notify_all();
            drop(state);
            let dropped = DROPPED.get() - reported;
            if dropped > 0 {
                reported += dropped;
                tracing::warn!(dropped, "lines of the log were dropped: nobody read it for a time");
            }
        }
    }

    /// Adds the line that `write` appends. `write` must not log: the buffer is locked.
    fn add(&self, urgency: Urgency, write: impl FnOnce(&mut Vec<u8>)) {
        let later = urgency == Urgency::Later;
        let mut lines = self.0.lines.get_or_default().lock();
        let before = lines.len();
        if before >= if later { BUFFER_BYTES } else { 2 * BUFFER_BYTES } {
            DROPPED.inc();
            return;
        }
        write(&mut lines);
        let is_full = (before..lines.len()).contains(&FLUSH_BYTES);
        drop(lines);
        match urgency {
            Urgency::Durable => self.flush(),
            Urgency::Later if before > 0 && !is_full => {}
            _ => drop(self.ask(!later || is_full)),
        }
    }

    /// Has the lines written, and waits for that unless the output is stalled.
    fn flush(&self) {
        let deadline = Instant::now() + WRITE_WAIT;
        let mut state = self.ask(true);
        let asked = state.asked;
        while state.done < asked && !state.stalled {
            state.stalled = self.0.done.wait_until(&mut state, deadline).timed_out();
        }
    }

    fn ask(&self, at_once: bool) -> MutexGuard<'_, State> {
        let mut state = self.0.state.lock();
        if at_once || !state.has_lines {
            state.has_lines = true;
            state.asked += u64::from(at_once);
            self.0.wanted.notify_one();
        }
        state
    }
}

/// Adds one line to a log.
struct LineWriter<'a> {
    log: &'a Log,
    urgency: Urgency,
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = LineWriter<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        LineWriter { log: self, urgency: Urgency::AtOnce }
    }

    fn make_writer_for(&'a self, event: &Metadata<'_>) -> Self::Writer {
        LineWriter { log: self, urgency: Urgency::of(event) }
    }
}

impl Write for LineWriter<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.log.add(self.urgency, |lines| lines.extend_from_slice(line));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    use tracing::{info, warn};

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

    fn log(capacity: usize) -> (Log, Receiver<String>) {
        let (output, pieces) = sync_channel(capacity);
        (Log::new(Output(output)), pieces)
    }

    fn add(log: &Log, urgency: Urgency, line: &str) {
        LineWriter { log, urgency }.write_all(line.as_bytes()).unwrap();
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
    fn lines_of_responses_are_written_together_and_in_order() {
        let (log, pieces) = log(9);
        for line in ["one\n", "two\n", "three\n"] {
            add(&log, Urgency::Later, line);
        }
        add(&log, Urgency::Durable, "four\n");
        assert_eq!(pieces.try_iter().collect::<String>(), "one\ntwo\nthree\nfour\n");
    }

    #[test]
    fn a_line_alone_is_written_after_a_while() {
        let (log, pieces) = log(1);
        add(&log, Urgency::Later, "one\n");
        assert_eq!(pieces.recv().unwrap(), "one\n");
    }

    #[test]
    fn a_durable_line_is_written_with_those_of_other_threads_when_add_returns() {
        let (log, pieces) = log(9);
        thread::scope(|scope| {
            scope.spawn(|| add(&log, Urgency::Later, "one\n")).join().unwrap();
        });
        add(&log, Urgency::Durable, "two\n");
        let written = pieces.try_iter().collect::<String>();
        assert!(written == "one\ntwo\n" || written == "two\none\n", "{written}");
    }

    #[test]
    fn while_nobody_reads_lines_are_dropped_and_counted_and_nobody_waits_twice() {
        let (log, pieces) = log(0);
        let before = DROPPED.get();
        add(&log, Urgency::Durable, "first\n");
        assert!(log.0.state.lock().stalled);
        let line = "x".repeat(1023) + "\n";
        for _ in 0..2 * BUFFER_BYTES / line.len() {
            add(&log, Urgency::Later, &line);
        }
        assert_eq!(DROPPED.get() - before, BUFFER_BYTES as u64 / line.len() as u64);
        add(&log, Urgency::Durable, "last\n");
        let read = pieces.iter().take(2).collect::<String>();
        assert_eq!(read.len(), "first\nlast\n".len() + BUFFER_BYTES);
        add(&log, Urgency::AtOnce, "again\n");
        assert_eq!(pieces.recv().unwrap(), "again\n");
    }
}
