//! The log of the process: one line per event, to stderr.
//!
//! A system call per request is a tenth of what a request costs. So the lines of responses are
//! collected, and written together: when there are enough of them, after [`FLUSH_DELAY`], before the
//! next other line, and at the end of the program. All other lines are written at once: of a
//! generation that the provider accepted, the line may be all that is left after a crash.
//!
//! Each thread collects its own. Lines of responses that two threads sent are not in the order of
//! their times; any other line comes after those that were logged before it.

mod json;

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::thread::{self, Thread};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use thread_local::ThreadLocal;
use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::JsonFields;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use self::json::JsonLines;
use crate::config::{LogConfig, LogFormat};
use crate::serve::service::LOG_TARGET as RESPONSES;

/// How long a line may wait. A killed process loses the lines of this time at most.
const FLUSH_DELAY: Duration = Duration::from_millis(50);
/// Lines of this many bytes are written without a delay.
const FLUSH_BYTES: usize = 16 * 1024;

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
pub(super) struct FlushOnDrop(Log<io::Stderr>);

impl Drop for FlushOnDrop {
    fn drop(&mut self) {
        drop(self.0.buffers.flush());
    }
}

/// Lines that are written to `W` together. Clones share them.
struct Log<W> {
    buffers: Arc<Buffers<W>>,
    flusher: Option<Thread>,
}

struct Buffers<W> {
    /// Of each thread: with one buffer for all, its cache lines move between the processors.
    lines: ThreadLocal<Mutex<Vec<u8>>>,
    /// Locked before lines are.
    output: Mutex<W>,
}

impl<W: Write> Buffers<W> {
    /// Writes the lines of all threads and returns the output, which is still locked. A failure to
    /// write the log stops nothing.
    fn flush(&self) -> MutexGuard<'_, W> {
        let mut output = self.output.lock();
        for lines in &self.lines {
            let mut lines = lines.lock();
            let _ = output.write_all(&lines);
            lines.clear();
        }
        output
    }
}

impl<W: Write + Send + 'static> Log<W> {
    fn new(output: W) -> Self {
        let buffers = Arc::new(Buffers { lines: ThreadLocal::new(), output: Mutex::new(output) });
        let of_flusher = buffers.clone();
        // The first line of an empty buffer unparks it.
        let flusher = thread::Builder::new().name("log".to_owned()).spawn(move || {
            loop {
                thread::park();
                thread::sleep(FLUSH_DELAY);
                drop(of_flusher.flush());
            }
        });
        Self { buffers, flusher: flusher.ok().map(|handle| handle.thread().clone()) }
    }

    /// Adds the line that `write` appends. Unless it is written `at_once`, `write` must not log: the
    /// buffer is locked.
    fn add(&self, at_once: bool, write: impl FnOnce(&mut Vec<u8>)) {
        match &self.flusher {
            Some(flusher) if !at_once => {
                let mut lines = self.buffers.lines.get_or_default().lock();
                let is_first = lines.is_empty();
                write(&mut lines);
                let is_full = lines.len() >= FLUSH_BYTES;
                drop(lines);
                if is_full {
                    drop(self.buffers.flush());
                } else if is_first {
                    flusher.unpark();
                }
            }
            _ => {
                let mut line = Vec::new();
                write(&mut line);
                let _ = self.buffers.flush().write_all(&line);
            }
        }
    }
}

impl<W> Clone for Log<W> {
    fn clone(&self) -> Self {
        Self { buffers: self.buffers.clone(), flusher: self.flusher.clone() }
    }
}

/// Whether the line of this event does not wait: any but that of a response without a failure.
fn is_at_once(event: &Metadata<'_>) -> bool {
    event.target() != RESPONSES || *event.level() <= Level::WARN
}

/// Adds one line to a log.
struct LineWriter<'a, W> {
    log: &'a Log<W>,
    at_once: bool,
}

impl<'a, W: Write + Send + 'static> MakeWriter<'a> for Log<W> {
    type Writer = LineWriter<'a, W>;

    fn make_writer(&'a self) -> Self::Writer {
        LineWriter { log: self, at_once: true }
    }

    fn make_writer_for(&'a self, event: &Metadata<'_>) -> Self::Writer {
        LineWriter { log: self, at_once: is_at_once(event) }
    }
}

impl<W: Write + Send + 'static> Write for LineWriter<'_, W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.log.add(self.at_once, |lines| lines.extend_from_slice(line));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tracing::{info, warn};

    use super::*;

    /// What was written, and in how many pieces.
    #[derive(Clone, Default)]
    struct Output(Arc<Mutex<Vec<String>>>);

    impl Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().push(String::from_utf8_lossy(bytes).into_owned());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What is written while `events` runs, without the flusher.
    fn written(events: impl FnOnce()) -> Vec<String> {
        let output = Output::default();
        let log = Log::new(output.clone());
        // Like a flusher that is never on time.
        let log = Log { flusher: Some(thread::current()), ..log };
        let lines = tracing_subscriber::fmt().without_time().with_target(false).with_ansi(false);
        tracing::subscriber::with_default(lines.with_writer(log).finish(), events);
        let written = output.0.lock();
        written.clone()
    }

    #[test]
    fn lines_of_responses_wait_for_another_line_and_keep_their_order() {
        let pieces = written(|| {
            info!(target: RESPONSES, "one");
            info!(target: RESPONSES, "two");
            info!("three");
            warn!(target: RESPONSES, "four");
            info!(target: RESPONSES, "five");
        });
        assert_eq!(pieces, [" INFO one\n INFO two\n", " INFO three\n", " WARN four\n"]);
    }

    #[test]
    fn another_line_comes_after_the_responses_of_all_threads() {
        let output = Output::default();
        let log = Log::new(output.clone());
        let log = Log { flusher: Some(thread::current()), ..log };
        let write = |line: &[u8], at_once| LineWriter { log: &log, at_once }.write(line).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| write(b"one\n", false)).join().unwrap();
        });
        write(b"two\n", false);
        write(b"three\n", true);
        assert_eq!(output.0.lock().concat(), "one\ntwo\nthree\n");
    }

    #[test]
    fn many_lines_do_not_wait() {
        let pieces =
            written(|| (0..=FLUSH_BYTES / 100).for_each(|n| info!(target: RESPONSES, "{n:0>100}")));
        assert_eq!(pieces.len(), 1);
        assert!(pieces[0].len() >= FLUSH_BYTES);
    }

    #[test]
    fn a_line_alone_is_written_by_the_flusher() {
        let output = Output::default();
        let log = Log::new(output.clone());
        assert_eq!(LineWriter { log: &log, at_once: false }.write(b"one\n").unwrap(), 4);
        while output.0.lock().is_empty() {
            thread::yield_now();
        }
        assert_eq!(*output.0.lock(), ["one\n"]);
    }
}
