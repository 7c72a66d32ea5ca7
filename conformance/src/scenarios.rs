//! The full list of scenarios, by hand: what is not named here does not run.

#[doc(hidden)]
mod endpoints;
mod prelude;

mod access;
#[doc(hidden)]
mod answers;
mod auth;
mod contents;
mod envelope;
mod errors;
mod existing_data;
#[doc(hidden)]
mod fields;
mod generations;
mod ids;
mod isolation;
mod keys;
mod pagination;
mod prompts;
mod races;
mod raw;
mod uploads;
mod vaults;

use std::sync::LazyLock;

use crate::Scenario;

const CHAPTERS: &[&[&[Scenario]]] = &[
    &[envelope::ALL],
    pagination::ALL,
    prompts::ALL,
    vaults::ALL,
    contents::ALL,
    generations::ALL,
    uploads::ALL,
    keys::ALL,
    &[auth::ALL],
    errors::ALL,
    &[isolation::ALL],
    raw::ALL,
    &[races::ALL],
    &[existing_data::ALL],
];

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

/// Every scenario, chapter by chapter; those made from tables come last.
pub fn all() -> impl Iterator<Item = &'static Scenario> {
    let written = CHAPTERS.iter().flat_map(|parts| parts.iter()).flat_map(|part| part.iter());
    written.chain(MADE.iter().flat_map(|made| made.iter()))
}
