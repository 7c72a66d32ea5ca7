//! The full list of scenarios, by hand: what is not named here does not run. A folder for each
//! profile: `core` is what the specification states, `http` what the RFCs require, `ours` what the
//! reference server chose. Scenarios of tables have the profile of their row.

#[doc(hidden)]
mod endpoints;
mod prelude;

mod access;
#[doc(hidden)]
mod answers;
mod core;
#[doc(hidden)]
mod fields;
mod http;
#[doc(hidden)]
mod ids;
mod ours;

use std::sync::LazyLock;

use crate::Scenario;

static MADE: [&LazyLock<Vec<Scenario>>; 4] = [&fields::ALL, &access::ALL, &ids::ALL, &answers::ALL];

/// The tables, for tests that make deliberate faults from their rows.
#[doc(hidden)]
pub mod tables {
    pub use super::answers::shapes::{OBJECTS, Object, Shape, Type};
    pub use super::endpoints::{ROWS, Row, Scope};
    pub use super::fields::request::Request;
    pub use super::fields::table::{FIELDS, Field, Kind, Presence};
    pub use super::ids::{PLACES, Place, Where};
}

/// Every scenario, folder by folder; those made from tables come last.
pub fn all() -> impl Iterator<Item = &'static Scenario> {
    let written = [core::ALL, http::ALL, ours::ALL].into_iter().flatten().copied().flatten();
    written.chain(MADE.iter().flat_map(|made| made.iter()))
}
