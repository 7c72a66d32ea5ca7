//! Answers that the document promises and no scenario brings about, each with the
//! reason. One without a reason fails a whole run, and so does a reason for nothing.

use std::collections::BTreeSet;

use crate::description::{Description, Status};

/// Operation (`*` for all), status, reason.
const UNSEEN: &[(&str, u16, &str)] = &[
    ("*", 408, "it takes half a minute; server/tests/it/connections.rs waits for it"),
    ("*", 429, "it takes an attack or a setting; server/tests/hostile, server/tests/it/rates.rs"),
    ("*", 500, "it takes a fault in the server; server/tests/it/uploads.rs"),
    ("*", 503, "something has to be away; server/tests/it/uploads and the tests of outages"),
];

/// What differs between what was promised and what was seen.
pub(crate) fn differences(description: &Description, seen: &BTreeSet<Status>) -> Vec<String> {
    let promised = description.promised();
    let unseen: Vec<_> = promised.difference(seen).collect();
    let is_of = |row: &(&str, u16, &str), status: &Status| {
        (row.0 == "*" || row.0 == status.0) && row.1 == status.1
    };
    let without_reason =
        unseen.iter().filter(|status| !UNSEEN.iter().any(|row| is_of(row, status)));
    let without_reason = without_reason
        .map(|(operation, status)| format!("nobody has seen {status} of {operation}"));
    let idle = UNSEEN.iter().filter(|row| !unseen.iter().any(|status| is_of(row, status)));
    let idle = idle.map(|(operation, status, reason)| {
        format!("{status} of {operation} is seen, so that this is no reason: {reason}")
    });
    without_reason.chain(idle).collect()
}
