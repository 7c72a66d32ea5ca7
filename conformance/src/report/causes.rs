//! The causes of failures: records grouped by the call, the expected and the received value, so that
//! one fault of a target is read once. Also the groups of records by chapter and by reason.

use std::fmt;

use serde::Serialize;

use super::plain::{counted, one_line};
use super::{Outcome, Record, Report, Totals};
use crate::exchange::{Exchange, cut};

/// How much of an expected or received value one line shows, in characters.
const SHOWN: usize = 200;

/// Records that failed, were blocked or had no result for the same reason.
#[derive(Clone, Debug, Serialize)]
pub struct Cause<'r> {
    pub call: &'r str,
    pub expected: &'r str,
    pub got: &'r str,
    pub totals: Totals,
    /// The ids of their scenarios; the record of the first is a full example.
    #[serde(rename = "scenarios", serialize_with = "ids")]
    pub records: Vec<&'r Record>,
}

impl Report {
    pub fn causes(&self) -> Vec<Cause<'_>> {
        let bad = self.records.iter().filter(|record| record.outcome.is_bad());
        let key = |record: &Record| {
            let (expected, got) = record.values();
            let (expected, got) = (without_ids(expected), without_ids(got));
            let status = record.exchange.as_ref().and_then(Exchange::status);
            let status = status.unwrap_or_default().to_owned();
            // A credential is checked in one place for all endpoints.
            let credential = record.id.strip_prefix("access.").and_then(|id| id.split('.').next());
            // An entry of known failures that is out of date has a remedy of its own.
            let known = record.known.is_some();
            match (record.outcome, credential) {
                // What each scenario expected says nothing of the call that is missing.
                (Outcome::Blocked, _) => (record.call.clone(), status, String::new(), known),
                (_, Some(credential)) => (Some(credential.to_owned()), expected, got, known),
                _ => (record.call.clone(), expected, got, known),
            }
        };
        let mut causes: Vec<_> = grouped(bad, key).into_iter().map(|(_, it)| cause(it)).collect();
        // A claim that failed says more than many that were not tested.
        causes.sort_by_key(|cause| {
            (cause.totals.failed == 0, std::cmp::Reverse(cause.records.len()))
        });
        // What a server that counts its resources does, and what explains most other failures.
        let twice = self.twice.map(|call| Cause {
            call,
            expected: "a new id for each new resource, also after others were deleted",
            got: "an id that another one has or had",
            totals: Totals::default(),
            records: Vec::new(),
        });
        twice.into_iter().chain(causes).collect()
    }

    /// The scenarios by the first part of their ids.
    pub(super) fn chapters(&self) -> Vec<(&'static str, Vec<&Record>)> {
        grouped(self.records.iter(), Record::chapter)
    }

    /// Skipped scenarios by the reason, which says what would let them run.
    pub(super) fn skips(&self) -> Vec<(String, Vec<&Record>)> {
        grouped(self.with(&[Outcome::Skipped]), Record::why)
    }

    pub(super) fn next_step(&self) -> Option<String> {
        let calls = grouped(self.with(&[Outcome::Blocked]), |record| record.call.clone());
        let (call, records) = calls.into_iter().rev().max_by_key(|(_, records)| records.len())?;
        let blocked = counted(records.len(), "scenario");
        Some(format!("next: make {} work, which blocks {blocked}", call?))
    }
}

fn cause(mut records: Vec<&Record>) -> Cause<'_> {
    records.sort_by_key(|record| record.outcome != Outcome::Failed);
    let text = |part: fn(&Record) -> &Option<String>| {
        records.first().and_then(|record| part(record).as_deref()).unwrap_or("no call")
    };
    Cause {
        call: text(|record| &record.call),
        expected: text(|record| &record.expected),
        got: text(|record| &record.got),
        totals: Totals::of(records.iter().copied()),
        records,
    }
}

fn grouped<'r, K: PartialEq>(
    records: impl Iterator<Item = &'r Record>,
    key: impl Fn(&Record) -> K,
) -> Vec<(K, Vec<&'r Record>)> {
    let mut groups: Vec<(K, Vec<&Record>)> = Vec::new();
    for record in records {
        let key = key(record);
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, group)) => group.push(record),
            None => groups.push((key, vec![record])),
        }
    }
    groups
}

/// The text with `#` for every number but a status: ids differ from scenario to scenario.
fn without_ids(text: &str) -> String {
    let mut shown = String::new();
    for character in text.chars() {
        let is_status =
            shown.trim_end_matches(|one: char| one.is_ascii_digit()).ends_with("status ");
        match character {
            '0'..='9' if !is_status && shown.ends_with('#') => {}
            '0'..='9' if !is_status => shown.push('#'),
            _ => shown.push(character),
        }
    }
    shown
}

fn ids<S: serde::Serializer>(records: &[&Record], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(records.iter().map(|record| record.id))
}

/// How many scenarios have which outcome, and the call.
impl fmt::Display for Cause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.totals.counts().into_iter().filter(|(count, ..)| *count > 0);
        let counts: Vec<_> = counts.map(|(count, _, word)| format!("{count} {word}")).collect();
        let counts = if counts.is_empty() { "ids given twice" } else { &counts.join(", ") };
        write!(f, "{counts} at {}", self.call)
    }
}

impl Cause<'_> {
    pub(super) fn in_one_line(&self) -> String {
        let [expected, got] = [self.expected, self.got].map(shortened);
        format!("{self}: expected {expected}, got {got}")
    }

    /// Ids of scenarios beside the example, and how many more there are.
    pub(super) fn others(&self, listed: usize) -> Option<String> {
        let others = self.records.get(1..).filter(|others| !others.is_empty())?;
        let ids: Vec<_> = others.iter().take(listed).map(|record| record.id).collect();
        let left = others.len() - ids.len();
        let more = if left > 0 { format!(" and {left} more") } else { String::new() };
        Some(ids.join(", ") + &more)
    }
}

pub(super) fn shortened(text: &str) -> String {
    cut(&one_line(text), SHOWN, "…")
}

#[cfg(test)]
mod tests {
    use super::without_ids;

    #[test]
    fn ids_make_no_cause_of_their_own_and_statuses_do() {
        let text = without_ids;
        assert_eq!(text("an entry with id 4123 in /data"), "an entry with id # in /data");
        assert_eq!(text("the prompts [12, 7]"), "the prompts [#, #]");
        assert_eq!(text("status 404 for title 12"), "status 404 for title #");
        assert_eq!(text("from 200 to 299"), "from # to #");
    }
}
