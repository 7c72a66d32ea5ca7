//! Output: a table on a terminal, tab-separated text in a pipe, JSON if asked for. What is not the
//! result of a command goes to standard error.

use std::io::{self, IsTerminal as _, Write as _};

use console::{Term, measure_text_width, style, truncate_str};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::failure::{Failure, Result};

/// A column of a table: its heading, and its cell for an item.
pub(crate) type Column<T> = (&'static str, fn(&T) -> String);

#[derive(Clone, Copy)]
pub(crate) struct Output {
    pub(crate) json: bool,
}

impl Output {
    /// Several items: a table whose widest column is cut to the width of the terminal, or a line
    /// for each.
    pub(crate) fn list<T: Serialize>(self, items: &[T], columns: &[Column<T>]) -> Result {
        if self.json {
            return items.iter().try_for_each(|item| self.json(item));
        }
        let cells = |item| columns.iter().map(|(_, cell)| one_line(&cell(item))).collect();
        let mut rows: Vec<Vec<String>> = items.iter().map(cells).collect();
        if !io::stdout().is_terminal() {
            return print(&rows.iter().map(|row| row.join("\t") + "\n").collect::<String>());
        }
        let headings = columns.iter().map(|(heading, _)| (*heading).to_owned()).collect();
        rows.insert(0, headings);
        let width = |column: usize| rows.iter().map(|row| measure_text_width(&row[column])).max();
        let mut widths: Vec<_> = (0..columns.len()).map(|it| width(it).unwrap_or(0)).collect();
        let total = widths.iter().sum::<usize>() + 2 * columns.len().saturating_sub(1);
        let excess = total.saturating_sub(Term::stdout().size().1.into());
        if let Some(widest) = widths.iter_mut().max() {
            *widest = widest.saturating_sub(excess).max(10);
        }
        let mut text = String::new();
        for (number, row) in rows.iter().enumerate() {
            let cells = row.iter().zip(&widths).map(|(cell, width)| {
                console::pad_str(
                    &truncate_str(cell, *width, "…"),
                    *width,
                    console::Alignment::Left,
                    None,
                )
                .into_owned()
            });
            let line = cells.collect::<Vec<_>>().join("  ");
            let line = line.trim_end();
            match number {
                0 => text += &style(line).bold().to_string(),
                _ => text += line,
            }
            text.push('\n');
        }
        print(&text)
    }

    /// One item: this text, or JSON.
    pub(crate) fn item(self, item: &impl Serialize, text: &str) -> Result {
        if self.json { self.json(item) } else { print(&for_terminal(text)) }
    }

    pub(crate) fn json(self, item: &impl Serialize) -> Result {
        let line =
            serde_json::to_string(item).map_err(|error| Failure::failed(error.to_string()))?;
        print(&(line + "\n"))
    }
}

/// Writes to standard output.
pub(crate) fn print(text: &str) -> Result {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}

/// Tells people something that is not the result.
pub(crate) fn note(text: impl AsRef<str>) {
    // Nobody listens where this fails.
    let _ = Term::stderr().write_line(text.as_ref());
}

/// Whether somebody can be asked.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks for a line.
pub(crate) fn ask(question: &str) -> Result<String> {
    let terminal = Term::stderr();
    terminal.write_str(question)?;
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// Asks whether to go on, unless the answer is given.
pub(crate) fn confirm(yes: bool, question: &str) -> Result {
    if yes || can_ask() && matches!(ask(&format!("{question} [y/N] "))?.trim(), "y" | "Y" | "yes") {
        return Ok(());
    }
    match can_ask() {
        true => Err(Failure::failed("nothing was done")),
        false => Err(Failure::usage(format!("{question} Nobody can be asked here; add --yes"))),
    }
}

/// A progress bar with this many steps, or a spinner without; shown on a terminal only.
pub(crate) fn progress(
    steps: Option<u64>,
    template: &str,
    message: impl Into<String>,
) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(steps, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template(template);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
    bar.set_message(one_line(&message.into()));
    bar
}

/// The text without what would move the cursor.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect()
}

/// The text as it is, but on a terminal without control characters, which could do anything there.
fn for_terminal(text: &str) -> String {
    let is_safe = |char: char| !char.is_control() || char == '\n' || char == '\t';
    let shown = |char| if is_safe(char) { char } else { char::REPLACEMENT_CHARACTER };
    if io::stdout().is_terminal() { text.chars().map(shown).collect() } else { text.to_owned() }
}
