//! A run as a list of known failures, to begin with.

use super::plain::one_line;
use super::{Outcome, Report};
use crate::known::KnownFailure;

/// A list with an entry for each scenario that failed in a run. Entries of an older list stay for
/// scenarios that failed again or did not run.
pub(super) fn known_failures(report: &Report) -> String {
    let failed = report.records.iter().filter(|one| one.outcome.is_bad() || one.known.is_some());
    let failed = failed.filter(|record| record.expected.is_some());
    let failed = failed.map(|record| match &record.known {
        Some(known) => entry(record.id, &known.reason, Some(known)),
        None => {
            let call = record.call.as_deref().unwrap_or("no call");
            let [expected, got] =
                [&record.expected, &record.got].map(|it| it.as_deref().unwrap_or_default());
            entry(record.id, &format!("{call}: expected {expected}, got {got}"), None)
        }
    });
    let has_run =
        |id: &str| report.records.iter().any(|one| one.id == id && one.outcome != Outcome::Skipped);
    let kept = report.known.entries().filter(|(id, _)| !has_run(id));
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
    if let Some(link) = known.and_then(|known| known.link.as_deref()) {
        entry += &format!("link = {}\n", text(link));
    }
    if let Some(until) = known.and_then(|known| known.until) {
        entry += &format!("until = {until}\n");
    }
    entry
}
