//! What other programs take from a report: a badge, annotations of a workflow on GitHub, and a list
//! of known failures to begin with.

use serde_json::json;

use super::plain::one_line;
use super::{Cause, Outcome, Report, Verdict};
use crate::known::KnownFailure;

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
    let line = |cause: &Cause<'_>| {
        let title = cause.records.first().map_or("ids given twice", |record| record.id);
        let text = one_line(&cause.in_one_line()).replace('%', "%25");
        format!("::error title={title}::{text}\n")
    };
    report.causes().iter().take(ANNOTATIONS).map(line).collect()
}

/// A list with an entry for each scenario that failed in a run. Entries of an older list stay for
/// scenarios that failed again or did not run.
pub(super) fn known_failures(report: &Report) -> String {
    let failed = report.records.iter().filter(|one| one.outcome.is_bad() || one.known.is_some());
    let failed = failed.filter(|record| record.expected.is_some());
    let failed = failed.map(|record| match &record.known {
        Some(known) => entry(record.id, &known.reason, Some(known)),
        None => {
            let call = record.call.as_deref().unwrap_or("no call");
            let (expected, got) = record.values();
            entry(record.id, &format!("{call}: expected {expected}, got {got}"), None)
        }
    });
    let has_run = |id: &str| report.outcome(id).is_some_and(|it| it != Outcome::Skipped);
    let kept = report.known.entries.iter().filter(|(id, _)| !has_run(id));
    let kept = kept.map(|(id, known)| entry(id, &known.reason, Some(known)));
    let head = format!(
        "# The failures of {} on {}, run {}.\n",
        report.suite, report.target, report.run_id
    );
    std::iter::once(head).chain(failed).chain(kept).collect::<Vec<_>>().join("\n")
}

fn entry(id: &str, reason: &str, known: Option<&KnownFailure>) -> String {
    let text = |text: &str| serde_json::Value::from(one_line(text)).to_string();
    let mut entry = format!("[[failure]]\nid = {}\nreason = {}\n", text(id), text(reason));
    let link = known.and_then(|known| known.link.as_deref());
    entry.extend(link.map(|link| format!("link = {}\n", text(link))));
    let until = known.and_then(|known| known.until);
    entry.extend(until.map(|until| format!("until = {until}\n")));
    entry
}
