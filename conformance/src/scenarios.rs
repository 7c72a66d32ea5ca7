//! The full list of scenarios: what is not named here does not run. What the tables and fixtures of
//! scenarios share is public for suites of other crates, and hidden, as it may change at any time.

pub mod access;
pub mod answers;
pub mod core;
pub mod endpoints;
pub mod fields;
pub mod ids;
pub mod prelude;
pub mod shared;
pub mod stays;

use std::sync::LazyLock;

use crate::Scenario;

static MADE: [&LazyLock<Vec<Scenario>>; 5] =
    [&fields::ALL, &access::ALL, &ids::ALL, &answers::ALL, &stays::ALL];

/// Every scenario, file by file; those made from tables come last.
pub fn all() -> impl Iterator<Item = &'static Scenario> {
    core::ALL.iter().copied().flatten().chain(MADE.iter().flat_map(|made| made.iter()))
}
