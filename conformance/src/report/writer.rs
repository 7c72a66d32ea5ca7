//! When the files of a run are written: before the first scenario runs, so that
//! a bad path shows at once; again as records come in, so that a killed run
//! leaves what it had found; and at the end, which alone decides whether it
//! worked. In between a thread does it, for a run waits for no disk.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::{Output, Record, Report};

/// How long files are left alone after they were written.
const PAUSE: Duration = Duration::from_millis(500);
/// And how much longer than the writing took, so that the cost of a large report
/// stays a small part of the run.
const REST: u32 = 10;

/// A record, its place, and how long the run had taken.
type News = (usize, Record, u64);

/// All files of a run.
#[derive(Debug, Default)]
pub struct Outputs {
    outputs: Vec<Output>,
    thread: Option<(Sender<News>, JoinHandle<()>)>,
}

impl Outputs {
    /// Takes the files on; nothing is written yet.
    ///
    /// # Errors
    /// One line if two of them are the same file.
    pub fn new(outputs: Vec<Output>) -> Result<Self, String> {
        for (at, output) in outputs.iter().enumerate() {
            if outputs.iter().take(at).any(|earlier| earlier.place() == output.place()) {
                return Err(format!("two reports go to {}", output.file().display()));
            }
        }
        Ok(Self { outputs, thread: None })
    }

    /// Writes every file for the first time.
    ///
    /// # Errors
    /// One line that names the files that cannot be written.
    pub fn begin(&self, report: &Report) -> Result<(), String> {
        write(&self.outputs, report, false)
    }

    /// Takes note of a record that `report` has just taken on; the files follow in
    /// the background.
    pub fn tell(&mut self, record: &Record, report: &Report) {
        if self.outputs.is_empty() {
            return;
        }
        if let Some((sender, _)) = &self.thread {
            if let Some(at) = report.records.iter().position(|other| other.id == record.id) {
                let _ = sender.send((at, record.clone(), report.duration_ms));
            }
            return;
        }
        let (sender, news) = mpsc::channel();
        let (outputs, report) = (self.outputs.clone(), report.clone());
        let thread = thread::Builder::new().name("reports".into());
        // Without a thread the files are written at the end.
        let thread = thread.spawn(move || keep_up(&outputs, report, &news)).ok();
        self.thread = thread.map(|thread| (sender, thread));
    }

    /// Writes every file for the last time, also if that failed before: a disk
    /// that was full may have room again.
    ///
    /// # Errors
    /// One line that names every file that could not be written, and why.
    pub fn end(self, report: &Report) -> Result<(), String> {
        if let Some((sender, thread)) = self.thread {
            drop(sender);
            let _ = thread.join();
        }
        write(&self.outputs, report, true)
    }
}

/// One file that cannot be written keeps no other from being written.
fn write(outputs: &[Output], report: &Report, last: bool) -> Result<(), String> {
    let faults: Vec<_> =
        outputs.iter().filter_map(|output| output.write(report, last).err()).collect();
    if faults.is_empty() {
        return Ok(());
    }
    Err(format!("cannot write the report to {}", faults.join("; and to ")))
}

/// Until the sender is gone: waits for news, writes them, rests. The report is new
/// as it comes.
fn keep_up(outputs: &[Output], mut report: Report, news: &Receiver<News>) {
    let mut unwritten = true;
    loop {
        if !unwritten {
            let Ok(first) = news.recv() else { return };
            take_on(&mut report, first);
        }
        news.try_iter().for_each(|one| take_on(&mut report, one));
        let begun = Instant::now();
        // What fails here may work at the end, where it counts.
        let _ = write(outputs, &report, false);
        let rested = Instant::now() + PAUSE.max(begun.elapsed() * REST);
        unwritten = false;
        loop {
            match news.recv_timeout(rested.saturating_duration_since(Instant::now())) {
                Ok(one) => take_on(&mut report, one),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return,
            }
            unwritten = true;
        }
    }
}

fn take_on(report: &mut Report, (at, record, duration_ms): News) {
    report.insert(at, record);
    report.duration_ms = duration_ms;
}
