//! The record as JSON, for programs.

use crate::Report;

/// The whole report as indented JSON with a newline at its end.
pub fn render(report: &Report) -> String {
    // Strings and numbers only; the format has no value that cannot be written.
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}
