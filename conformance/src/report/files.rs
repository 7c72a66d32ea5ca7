//! The files that a report is written to: before the first scenario runs, so that a bad path shows
//! at once; again while records come in, so that a killed run leaves what it had found; and at the
//! end, which alone decides whether it worked. In between a thread writes, so that the run never
//! waits for a disk.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{fs, io};

use serde::Serialize;

use super::{Cause, Record, extracts, html, junit, markdown, text};
use crate::Report;

/// The least time between two writes during a run.
const PAUSE: Duration = Duration::from_millis(500);
/// The pause is also this many times as long as the write was: the run must not slow down.
const PAUSE_FACTOR: u32 = 10;

static PARTS: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
    Junit,
    Html,
    Markdown,
    /// The badge of shields.io.
    Badge,
    /// The first failures as annotations of a workflow on GitHub.
    Github,
    /// A list of known failures to begin with, from the flag `--write-known-failures`.
    KnownFailures,
}

#[derive(Serialize)]
struct WithCauses<'r> {
    causes: Vec<Cause<'r>>,
    #[serde(flatten)]
    report: &'r Report,
}

impl Format {
    /// The whole report in each form.
    pub const ALL: [(&'static str, Self); 5] = [
        ("text", Self::Text),
        ("json", Self::Json),
        ("junit", Self::Junit),
        ("html", Self::Html),
        ("markdown", Self::Markdown),
    ];
    /// What programs take from a report.
    pub const EXTRACTS: [(&'static str, Self); 2] =
        [("badge", Self::Badge), ("github", Self::Github)];

    pub fn render(self, report: &Report) -> String {
        match self {
            Self::Text => text::render(report),
            // Strings and numbers only; JSON has a form for all of them.
            Self::Json => {
                let whole = WithCauses { causes: report.causes(), report };
                serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n"
            }
            Self::Junit => junit::render(report),
            Self::Html => html::render(report),
            Self::Markdown => markdown::render(report),
            Self::Badge => extracts::badge(report),
            Self::Github => extracts::annotations(report),
            Self::KnownFailures => extracts::known_failures(report),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    format: Format,
    file: PathBuf,
}

impl FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (word, file) = text.split_once('=').ok_or("expected FORMAT=FILE")?;
        let formats = || Format::ALL.iter().chain(&Format::EXTRACTS);
        let (_, format) = formats().find(|(name, _)| *name == word).ok_or_else(|| {
            let words: Vec<_> = formats().map(|(name, _)| *name).collect();
            format!("unknown format \"{word}\"; there are {}", words.join(", "))
        })?;
        match file {
            "" => Err("expected FORMAT=FILE".into()),
            _ => Ok(Self { format: *format, file: file.into() }),
        }
    }
}

impl Output {
    /// A file of each format in a folder, which is created if it is missing.
    pub fn all_formats(folder: &Path) -> Result<Vec<Self>, String> {
        fs::create_dir_all(folder).map_err(|error| {
            format!("--report-dir: cannot create {}: {error}", folder.display())
        })?;
        let names = ["report.txt", "report.json", "report.xml", "report.html", "report.md"];
        let formats = Format::ALL.into_iter().zip(names);
        Ok(formats.map(|((_, format), name)| Self { format, file: folder.join(name) }).collect())
    }

    pub fn known_failures(file: PathBuf) -> Self {
        Self { format: Format::KnownFailures, file }
    }

    /// Writes the whole report. Readers see the old text or the new one, never half of one. What is
    /// no regular file, such as a pipe, is written once, at the end.
    fn write(&self, report: &Report, last: bool) -> io::Result<()> {
        if fs::metadata(&self.file).is_ok_and(|metadata| !metadata.is_file()) {
            let mut file = fs::OpenOptions::new().write(true).open(&self.file)?;
            let text = if last { self.format.render(report) } else { String::new() };
            return io::Write::write_all(&mut file, text.as_bytes());
        }
        let file = self.place();
        // Not made from the name of the file, which may be as long as a name can be.
        let (process, number) = (std::process::id(), PARTS.fetch_add(1, Ordering::Relaxed));
        let part = file.with_file_name(format!(".promptarium-{process}-{number}.part"));
        let written = fs::write(&part, self.format.render(report)).and_then(|()| {
            if let Ok(old) = fs::metadata(&file) {
                fs::set_permissions(&part, old.permissions())?;
            }
            fs::rename(&part, &file)
        });
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        written
    }

    /// The file behind a link, as the link itself must not be replaced, in one spelling for each
    /// file, whether it is there already or not.
    fn place(&self) -> PathBuf {
        let folder = self.file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok();
        let below = |folder: PathBuf| Some(folder.join(self.file.file_name()?));
        let place = fs::canonicalize(&self.file).ok().or_else(|| below(folder?));
        place.unwrap_or_else(|| self.file.clone())
    }
}

/// The files of a run, and the thread that writes them until the channel to it is closed.
pub struct Outputs {
    outputs: Vec<Output>,
    news: Sender<News>,
    thread: JoinHandle<()>,
}

/// A record, its place in the report, and how long the run has taken.
type News = (usize, Record, u64);

impl Outputs {
    /// Writes every file for the first time. Fails with one line that names those that cannot be
    /// written, or two outputs that are the same file.
    pub fn begin(outputs: Vec<Output>, report: &Report) -> Result<Self, String> {
        for (at, output) in outputs.iter().enumerate() {
            if outputs[..at].iter().any(|earlier| earlier.place() == output.place()) {
                return Err(format!("two reports go to {}", output.file.display()));
            }
        }
        write(&outputs, report, false)?;
        let (news, received) = mpsc::channel();
        let (files, report) = (outputs.clone(), report.clone());
        let thread = thread::Builder::new().name("reports".into());
        let thread = thread.spawn(move || keep_up(&files, report, &received));
        let thread = thread.map_err(|error| format!("no thread for the reports: {error}"))?;
        Ok(Self { outputs, news, thread })
    }

    /// Adds the record that `report` got last; the files follow in the background.
    pub fn add(&self, record: &Record, report: &Report) {
        if let Some(at) = report.records.iter().position(|other| other.id == record.id) {
            // An error says that the thread has ended; the files are written at the end.
            let _ = self.news.send((at, record.clone(), report.duration_ms));
        }
    }

    /// Writes every file for the last time, also if that failed before: a disk that was full may
    /// have room again. Fails with one line that names every file that could not be written.
    pub fn end(self, report: &Report) -> Result<(), String> {
        drop(self.news);
        let _ = self.thread.join();
        write(&self.outputs, report, true)
    }
}

/// One file that cannot be written keeps no other from being written.
fn write(outputs: &[Output], report: &Report, last: bool) -> Result<(), String> {
    let failed = |output: &Output| {
        let error = output.write(report, last).err()?;
        Some(format!("{}: {error}", output.file.display()))
    };
    match &outputs.iter().filter_map(failed).collect::<Vec<_>>()[..] {
        [] => Ok(()),
        failed => Err(format!("cannot write the report to {}", failed.join("; and to "))),
    }
}

/// Adds records to the report and writes it in between, until the channel is closed.
fn keep_up(outputs: &[Output], mut report: Report, news: &Receiver<News>) {
    // When the next write is due, if there is something new.
    let (mut due, mut changed) = (Instant::now(), false);
    loop {
        let wait = due.saturating_duration_since(Instant::now());
        match news.recv_timeout(if changed { wait } else { Duration::MAX }) {
            Ok((at, record, duration_ms)) => {
                report.insert(at, record);
                report.duration_ms = duration_ms;
                changed = true;
            }
            Err(RecvTimeoutError::Timeout) => {
                let begun = Instant::now();
                // What fails here may work at the end, where it counts.
                let _ = write(outputs, &report, false);
                due = Instant::now() + PAUSE.max(begun.elapsed() * PAUSE_FACTOR);
                changed = false;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
