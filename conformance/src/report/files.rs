//! One file that a report is written to, in one format. When it is written is
//! decided by `writer`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::{html, junit, markdown, text};
use crate::Report;

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For a person.
    Text,
    /// For a program.
    Json,
    /// For a continuous integration that knows tests in the form of JUnit.
    Junit,
    /// For a person with a browser, in one file.
    Html,
    /// For the summary of a continuous integration.
    Markdown,
}

impl Format {
    /// Every format, with the word for it.
    pub const ALL: [(&'static str, Self); 5] = [
        ("text", Self::Text),
        ("json", Self::Json),
        ("junit", Self::Junit),
        ("html", Self::Html),
        ("markdown", Self::Markdown),
    ];

    /// The whole report in this format.
    pub fn render(self, report: &Report) -> String {
        match self {
            Self::Text => text::render(report),
            Self::Json => as_json(report),
            Self::Junit => junit::render(report),
            Self::Html => html::render(report),
            Self::Markdown => markdown::render(report),
        }
    }
}

/// As indented JSON with a newline at its end.
fn as_json(report: &Report) -> String {
    // Strings and numbers only; the format has no value that cannot be written.
    serde_json::to_string_pretty(report).unwrap_or_default() + "\n"
}

/// The extensions of the formats, in the order of [`Format::ALL`].
const EXTENSIONS: [&str; 5] = ["txt", "json", "xml", "html", "md"];

/// A format and a file, written `FORMAT=FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    format: Format,
    file: PathBuf,
}

impl FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (word, file) = text.split_once('=').ok_or("expected FORMAT=FILE")?;
        let format = Format::ALL.iter().find(|(name, _)| *name == word);
        let (_, format) = format.ok_or_else(|| {
            let words: Vec<_> = Format::ALL.iter().map(|(name, _)| *name).collect();
            format!("unknown format {word:?}; there are {}", words.join(", "))
        })?;
        if file.is_empty() {
            return Err("expected FORMAT=FILE".into());
        }
        Ok(Self { format: *format, file: file.into() })
    }
}

impl Output {
    /// A file of each format in a folder, which is created if it is missing.
    ///
    /// # Errors
    /// One line if it cannot be created.
    pub fn all_formats(folder: &Path) -> Result<Vec<Self>, String> {
        fs::create_dir_all(folder).map_err(|error| {
            format!("--report-dir: cannot create {}: {error}", folder.display())
        })?;
        let file = |(extension, format): (&str, Format)| Self {
            format,
            file: folder.join("report").with_extension(extension),
        };
        Ok(EXTENSIONS.into_iter().zip(Format::ALL.map(|(_, format)| format)).map(file).collect())
    }

    /// Writes the whole report. Readers see the old text or the new one, never
    /// half of one. What is no regular file, such as a pipe, is written once, at
    /// the end.
    ///
    /// # Errors
    /// One part of a line, with the file and what is wrong.
    pub(super) fn write(&self, report: &Report, last: bool) -> Result<(), String> {
        self.put(report, last).map_err(|error| format!("{}: {error}", self.file.display()))
    }

    fn put(&self, report: &Report, last: bool) -> io::Result<()> {
        if fs::metadata(&self.file).is_ok_and(|metadata| !metadata.is_file()) {
            let mut file = fs::OpenOptions::new().write(true).open(&self.file)?;
            return if last {
                io::Write::write_all(&mut file, self.format.render(report).as_bytes())
            } else {
                Ok(())
            };
        }
        let file = self.place();
        let beside = beside(&file);
        let rendered = self.format.render(report);
        let written = fs::write(&beside, rendered).and_then(|()| fs::rename(&beside, &file));
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        }
        written
    }

    /// The file behind a link, for the link itself is not ours to replace; and
    /// one spelling for each file, whether it is there already or not.
    pub(super) fn place(&self) -> PathBuf {
        let below = |folder: PathBuf| Some(folder.join(self.file.file_name()?));
        let folder = self.file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok();
        fs::canonicalize(&self.file)
            .ok()
            .or_else(|| below(folder?))
            .unwrap_or_else(|| self.file.clone())
    }

    /// The file as it was named.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }
}

fn beside(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    file.with_file_name(name)
}
