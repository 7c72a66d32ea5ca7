//! A run as a list of known failures, to begin with.

use super::Report;
use super::text::one_line;

/// A file with an entry for all that failed in a run, with what was said of known ones.
pub(crate) fn known_failures(report: &Report) -> String {
    let text = |text: &str| serde_json::Value::from(one_line(text)).to_string();
    let failed = report.records.iter().filter(|one| one.outcome.is_bad() || one.known.is_some());
    let failed = failed.filter(|record| record.expected.is_some());
    let entries = failed.map(|record| {
        let call = record.call.as_deref().unwrap_or("no call");
        let [expected, got] =
            [&record.expected, &record.got].map(|it| it.as_deref().unwrap_or_default());
        let seen = format!("{call}: expected {expected}, got {got}");
        let known = record.known.as_ref();
        let reason = known.map_or(seen.as_str(), |known| &known.reason);
        let mut entry =
            format!("[[failure]]\nid = {}\nreason = {}\n", text(record.id), text(reason));
        if let Some(link) = known.and_then(|known| known.link.as_deref()) {
            entry += &format!("link = {}\n", text(link));
        }
        if let Some(until) = known.and_then(|known| known.until) {
            entry += &format!("until = {until}\n");
        }
        entry
    });
    let head = format!(
        "# The failures of {} on {}, run {}.\n",
        report.suite, report.target, report.run_id
    );
    std::iter::once(head).chain(entries).collect::<Vec<_>>().join("\n")
}
