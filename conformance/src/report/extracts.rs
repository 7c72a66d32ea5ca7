//! What other programs show of a report: a badge, and annotations of a workflow on GitHub.

use serde_json::json;

use super::plain::one_line;
use super::{Report, Verdict};

/// GitHub shows so many annotations of one step.
const ANNOTATIONS: usize = 10;

/// The endpoint badge of shields.io.
pub(super) fn badge(report: &Report) -> String {
    let totals = &report.totals;
    let passed = totals.passed + totals.known;
    let colour = match report.verdict {
        Verdict::Passed => "brightgreen",
        Verdict::Partial => "yellow",
        Verdict::Failed => "red",
        Verdict::Unfinished => "lightgrey",
    };
    let message = format!("{passed} of {} passed", totals.scenarios);
    let badge = json!({
        "schemaVersion": 1, "label": "conformance", "message": message, "color": colour,
    });
    format!("{badge}\n")
}

/// One line for each cause. What a target says cannot end the line or begin another command.
pub(super) fn annotations(report: &Report) -> String {
    let line = |cause: &super::Cause<'_>| {
        let title = cause.records.first().map_or("ids given twice", |record| record.id);
        let text = one_line(&cause.in_one_line()).replace('%', "%25");
        format!("::error title={title}::{text}\n")
    };
    report.causes().iter().take(ANNOTATIONS).map(line).collect()
}
