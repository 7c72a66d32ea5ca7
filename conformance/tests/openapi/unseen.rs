//! Answers that the document promises and no scenario brings about, each with the
//! reason. One that is seen after all, and one without a reason, fail a whole run.

use std::collections::BTreeSet;

use crate::description::{Description, Status};

/// Operation (`*` for all), status, reason.
const UNSEEN: &[(&str, u16, &str)] = &[];

/// What differs between the list and what was seen.
pub(crate) fn differences(description: &Description, seen: &BTreeSet<Status>) -> Vec<String> {
    let listed = |(operation, status): &Status| {
        UNSEEN.iter().any(|(of, at, _)| (*of == "*" || of == operation) && at == status)
    };
    let promised = description.promised();
    let missing = promised.difference(seen).filter(|status| !listed(status));
    let missing =
        missing.map(|(operation, status)| format!("nobody has seen {status} of {operation}"));
    let found = seen.iter().filter(|status| listed(status));
    let found = found.map(|(operation, status)| {
        format!("{status} of {operation} is seen; it has no place in the list of unseen answers")
    });
    missing.chain(found).collect()
}
