//! The files a run writes its report to. Each is written before the first
//! scenario runs and again as results come in, so that a bad path shows at
//! once and a killed run leaves what it had found.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

use super::{json, text};
use crate::Report;

/// How often files are written while a run goes on.
const PAUSE: Duration = Duration::from_millis(500);

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For a person.
    Text,
    /// For a program.
    Json,
}

/// A format and a file, written `FORMAT=FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    format: Format,
    file: PathBuf,
}

impl FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (format, file) = text.split_once('=').ok_or("expected FORMAT=FILE")?;
        let format = match format {
            "text" => Format::Text,
            "json" => Format::Json,
            _ => {
                return Err(format!("unknown format {format:?}; there are text and json"));
            }
        };
        if file.is_empty() {
            return Err("expected FORMAT=FILE".into());
        }
        Ok(Self { format, file: file.into() })
    }
}

impl Output {
    /// Readers see the old text or the new one, never half of one. What is no
    /// regular file, such as a pipe, is written once, at the end.
    fn write(&self, report: &Report, last: bool) -> io::Result<()> {
        let rendered = match self.format {
            Format::Text => text::render(report),
            Format::Json => json::render(report),
        };
        if fs::metadata(&self.file).is_ok_and(|metadata| !metadata.is_file()) {
            let mut file = fs::OpenOptions::new().write(true).open(&self.file)?;
            return if last {
                io::Write::write_all(&mut file, rendered.as_bytes())
            } else {
                Ok(())
            };
        }
        // Through a link, for the link itself is not ours to replace.
        let file = fs::canonicalize(&self.file).unwrap_or_else(|_| self.file.clone());
        let beside = beside(&file);
        let written = fs::write(&beside, rendered).and_then(|()| fs::rename(&beside, &file));
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        }
        written
    }
}

fn beside(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    file.with_file_name(name)
}

/// All files of a run.
#[derive(Debug, Default)]
pub struct Outputs {
    outputs: Vec<Output>,
    written: Option<Instant>,
}

impl Outputs {
    /// Takes the files on; nothing is written yet.
    pub fn new(outputs: Vec<Output>) -> Self {
        Self { outputs, written: None }
    }

    /// Writes every file now.
    ///
    /// # Errors
    /// One line that names the first file that could not be written.
    pub fn write(&mut self, report: &Report, last: bool) -> Result<(), String> {
        self.written = Some(Instant::now());
        for output in &self.outputs {
            output.write(report, last).map_err(|error| {
                format!("cannot write the report to {}: {error}", output.file.display())
            })?;
        }
        Ok(())
    }

    /// Writes every file unless that was done a moment ago.
    ///
    /// # Errors
    /// As [`Outputs::write`].
    pub fn refresh(&mut self, report: &Report) -> Result<(), String> {
        if self.outputs.is_empty() || self.written.is_some_and(|at| at.elapsed() < PAUSE) {
            return Ok(());
        }
        self.write(report, false)
    }
}
