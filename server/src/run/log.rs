//! The log of the process: one line per event, to stderr.
//!
//! One thread writes the lines, which reach it through a bounded queue, so that a slow reader of the
//! log delays no request. A system call per request is a tenth of what a request costs, so lines of
//! responses wait for [`LOG_FLUSH_DELAY`] and are written together. Any other line is written at
//! once, with all that were logged before it. Lines for which the queue has no room are dropped and
//! counted.
//!
//! Of a generation that the provider accepted, the line may be all that is left after a crash. So
//! the lines of [`DURABLE`] are waited for, but not longer than [`LOG_WRITE_TIMEOUT`].
//! `tracing-appender` has no such confirmation.

mod json;

use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, Thread};

use tracing::{Level, Metadata};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::JsonFields;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use self::json::JsonLines;
use crate::config::{Config, LogFormat};
use crate::generate::submit::LOG_TARGET as DURABLE;
use crate::limits::{LOG_FLUSH_DELAY, LOG_LINES_MAX, LOG_WRITE_TIMEOUT};
use crate::serve::metrics::DROPPED_LOG_LINES as DROPPED;
use crate::serve::service::LOG_TARGET as RESPONSES;

/// Logs the events of this process from now on. If the embedding program has a subscriber
/// already, nothing changes. What is returned writes the last lines when it is dropped.
pub(super) fn init(config: &Config, level: LevelFilter) -> FlushOnDrop {
    let terminal = io::stderr().is_terminal();
    let default = if terminal { LogFormat::Pretty } else { LogFormat::Json };
    let log = Log::new(io::stderr(), LOG_LINES_MAX);
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
        self.0.add(Vec::new(), Urgency::Durable);
    }
}

/// Lines that one thread writes. Clones share them.
#[derive(Clone)]
struct Log {
    lines: SyncSender<Line>,
    /// `None` if it could not be started: lines are dropped then.
    writer: Option<Thread>,
    /// A wait has timed out. No caller waits again until the output takes lines.
    is_stalled: Arc<AtomicBool>,
}

struct Line {
    bytes: Vec<u8>,
    urgency: Urgency,
    /// Gets a message once the line is written.
    written: Option<Sender<()>>,
}

/// When a line is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    fn new(output: impl Write + Send + 'static, lines_max: usize) -> Self {
        let (lines, queue) = sync_channel(lines_max);
        let is_stalled = Arc::new(AtomicBool::new(false));
        let (builder, of_writer) = (thread::Builder::new().name("log".into()), is_stalled.clone());
        let writer = builder.spawn(move || write_lines(&queue, BufWriter::new(output), &of_writer));
        let writer = writer.ok().map(|handle| handle.thread().clone());
        Self { lines, writer, is_stalled }
    }

    fn add(&self, bytes: Vec<u8>, urgency: Urgency) {
        let (sender, written) = (urgency == Urgency::Durable).then(channel).unzip();
        let line = Line { bytes, urgency, written: sender };
        if self.lines.try_send(line).is_err() {
            DROPPED.inc();
            return;
        }
        if let (Some(writer), false) = (&self.writer, urgency == Urgency::Later) {
            writer.unpark();
        }
        if let (Some(written), false) = (written, self.is_stalled.load(Relaxed)) {
            let is_late = written.recv_timeout(LOG_WRITE_TIMEOUT).is_err();
            self.is_stalled.fetch_or(is_late, Relaxed);
        }
    }
}

/// Writes the lines of a queue until all of its senders are dropped.
fn write_lines(queue: &Receiver<Line>, mut output: impl Write, is_stalled: &AtomicBool) {
    let mut reported = DROPPED.get();
    while let Ok(first) = queue.recv() {
        if first.urgency == Urgency::Later {
            thread::park_timeout(LOG_FLUSH_DELAY);
        }
        let mut waiting = Vec::new();
        for line in std::iter::once(first).chain(queue.try_iter().take(LOG_LINES_MAX)) {
            // A failure to write the log stops nothing.
            let _ = output.write_all(&line.bytes);
            waiting.extend(line.written);
        }
        let _ = output.flush();
        is_stalled.store(false, Relaxed);
        for written in waiting {
            // It fails if nobody waits any more.
            let _ = written.send(());
        }
        let dropped = DROPPED.get() - reported;
        if dropped > 0 {
            reported += dropped;
            tracing::warn!(dropped, "lines of the log were dropped: nobody read it for a time");
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
        self.0.add(line.to_vec(), self.1);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use parking_lot::Mutex;
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
        (Log::new(Output(output), 100), pieces)
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
            log.add(line.into(), Urgency::Later);
        }
        log.add("four\n".into(), Urgency::Durable);
        assert_eq!(pieces.try_iter().collect::<String>(), "one\ntwo\nthree\nfour\n");
        log.add("alone\n".into(), Urgency::Later);
        assert_eq!(pieces.recv().unwrap(), "alone\n");
    }

    #[test]
    fn while_nobody_reads_lines_are_dropped_and_counted_and_nobody_waits_twice() {
        let (log, pieces) = log(0);
        let before = DROPPED.get();
        log.add("first\n".into(), Urgency::Durable);
        assert!(log.is_stalled.load(Relaxed));
        for _ in 0..150 {
            log.add("x\n".into(), Urgency::Durable);
        }
        assert_eq!(DROPPED.get() - before, 50);
        assert_eq!(
            pieces.iter().take(2).collect::<String>(),
            "first\n".to_owned() + &"x\n".repeat(100)
        );
        while log.is_stalled.load(Relaxed) {
            sleep(LOG_FLUSH_DELAY);
        }
        log.add("again\n".into(), Urgency::AtOnce);
        assert_eq!(pieces.recv().unwrap(), "again\n");
    }
}
