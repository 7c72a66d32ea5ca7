//! What every command has: the library, output, questions, and what went wrong.
//!
//! The output is a table on a terminal, tab-separated text in a pipe, JSON if asked for. What is not
//! the result of a command goes to standard error.

use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use console::{Alignment, Term, measure_text_width, pad_str, style, truncate_str};
use indicatif::{ProgressBar, ProgressStyle};
use promptarium::{Client, Error};
use serde::Serialize;

/// A column of a table: its heading, and its cell for an item.
pub(crate) type Column<T> = (&'static str, fn(&T) -> String);

/// What every command has: the library, and how results are printed.
pub(crate) struct App {
    pub(crate) client: Client,
    pub(crate) json: bool,
    pub(crate) yes: bool,
}

impl App {
    /// Several items: a table, whose last column is cut to the width of the terminal, or a line for
    /// each.
    pub(crate) fn list<T: Serialize>(&self, items: &[T], columns: &[Column<T>]) -> Result {
        if self.json {
            return items.iter().try_for_each(|item| self.item(item, ""));
        }
        let cells = |item| columns.iter().map(|(_, cell)| one_line(&cell(item))).collect();
        let mut rows: Vec<Vec<String>> = items.iter().map(cells).collect();
        if !io::stdout().is_terminal() {
            return print(rows.iter().map(|row| row.join("\t") + "\n").collect::<String>());
        }
        let headings = columns.iter().map(|(heading, _)| style(heading).bold().to_string());
        rows.insert(0, headings.collect());
        let width = |at: usize| rows.iter().map(|row| measure_text_width(&row[at]) + 2).max();
        let widths: Vec<_> = (0..columns.len()).filter_map(width).collect();
        let lines = rows.iter().map(|row| {
            let cells = row.iter().zip(&widths);
            let cells = cells.map(|(cell, width)| pad_str(cell, *width, Alignment::Left, None));
            let line = cells.collect::<String>();
            truncate_str(line.trim_end(), Term::stdout().size().1.into(), "…").into_owned() + "\n"
        });
        print(lines.collect::<String>())
    }

    /// One item: this text, or JSON.
    #[expect(clippy::needless_pass_by_value, reason = "ids are passed as they are")]
    pub(crate) fn item(&self, item: &impl Serialize, text: impl ToString) -> Result {
        let text = match self.json {
            true => serde_json::to_string(item).map_err(io::Error::from)?,
            false if io::stdout().is_terminal() => harmless(&text.to_string()),
            false => text.to_string(),
        };
        print(if text.ends_with('\n') { text } else { text + "\n" })
    }
}

pub(crate) fn print(text: impl AsRef<[u8]>) -> Result {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_ref())?;
    Ok(stdout.flush()?)
}

/// Tells people something that is not the result.
pub(crate) fn note(text: impl AsRef<str>) {
    // Nobody listens where this fails.
    let _ = Term::stderr().write_line(&harmless(text.as_ref()));
}

pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

pub(crate) fn ask(question: &str) -> Result<String> {
    Term::stderr().write_str(&harmless(question))?;
    Ok(io::stdin().lines().next().transpose()?.unwrap_or_default())
}

/// Asks whether to go on, unless the answer is given.
pub(crate) fn confirm(yes: bool, question: &str) -> Result {
    if !yes && !can_ask() {
        return Err(Failure::new(USAGE, format!("{question} Nobody can be asked here; add --yes")));
    }
    match yes || ask(&format!("{question} [y/N] "))?.trim().eq_ignore_ascii_case("y") {
        true => Ok(()),
        false => Err(Failure::new(FAILED, "nothing was done")),
    }
}

/// A progress bar with this many steps, or a spinner without; shown on a terminal only.
pub(crate) fn progress(steps: Option<u64>, template: &str) -> ProgressBar {
    let bar = steps.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    let style = ProgressStyle::with_template(template);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The text without what would move the cursor.
pub(crate) fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// The text for a terminal: without control characters, which could do anything there.
fn harmless(text: &str) -> String {
    text.replace(|char: char| char.is_control() && char != '\n' && char != '\t', "\u{fffd}")
}

pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: u8,
    /// Whether other requests would fail for the same reason.
    pub(crate) is_general: bool,
    text: String,
    /// What to do next; may be empty.
    hint: String,
}

/// The exit codes; 3 is for a server that cannot be reached.
pub(crate) const FAILED: u8 = 1;
pub(crate) const USAGE: u8 = 2;
pub(crate) const ABSENT: u8 = 4;
pub(crate) const INTERRUPTED: u8 = 130;

impl Failure {
    pub(crate) fn new(code: u8, text: impl Into<String>) -> Self {
        Self { code, is_general: false, text: text.into(), hint: String::new() }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    /// A file that cannot be read or written.
    pub(crate) fn file(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::new(FAILED, format!("{}: {error}", path.as_ref().display()))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let is_unreachable = error.is_connect() || error.is_timeout() || error.is_transport();
        // A list is always there, and what the API itself says is not the page of another server.
        let is_wrong_url = error.is_not_found()
            && error.path_template().is_some_and(|path| !path.contains('{'))
            || error.message().is_none() && (error.is_other_status() || error.is_decode());
        let text = error.to_string();
        let is_server_error = error.status().is_some_and(|status| status.is_server_error());
        let paid = error.job_id().filter(|_| error.is_outcome_unknown());
        let paid = paid.map(|job| format!("it may be paid: promptarium generate --resume {job}"));
        let paid = paid.as_deref().unwrap_or_default();
        let known = [
            (!paid.is_empty(), FAILED, paid),
            (error.is_ambiguous(), FAILED, "look for it; if absent, promptarium new stores it"),
            (is_unreachable, 3, "is the server running? see promptarium login"),
            // The client may have asked that already.
            (is_wrong_url && text.contains("/api/v1"), FAILED, ""),
            (is_wrong_url, FAILED, "does the address end in /api/v1?"),
            (error.is_unauthorized(), FAILED, "wrong key, or it may not write: promptarium login"),
            (error.is_not_found(), ABSENT, ""),
            (error.is_invalid(), USAGE, ""),
        ];
        let (_, code, hint) = *known.iter().find(|(is, ..)| *is).unwrap_or(&(true, FAILED, ""));
        let is_general = is_unreachable || is_server_error || error.is_unauthorized();
        Self { code, is_general, hint: hint.to_owned(), text }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        // Whoever reads the output has seen enough.
        Self::new(u8::from(error.kind() != io::ErrorKind::BrokenPipe), error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gap = if self.hint.is_empty() { "" } else { "\n  " };
        write!(f, "{}{gap}{}", self.text, self.hint)
    }
}
