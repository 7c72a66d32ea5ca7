//! What the reference server chose where the specification is silent. Nothing in the other two
//! folders may depend on it.

mod bodies;
mod contents;
mod cursors;
mod envelope;
mod errors;
mod generations;
mod keys;
mod lists;
mod prompts;
mod races;
mod raw;
mod uploads;
mod vaults;

use self::generations::{again, shape, status};
use self::{keys::life, uploads::refusals};
use crate::Scenario;

pub(super) const ALL: &[&[Scenario]] = &[
    envelope::ALL,
    lists::ALL,
    cursors::ALL,
    prompts::ALL,
    vaults::ALL,
    contents::ALL,
    generations::ALL,
    status::ALL,
    again::ALL,
    shape::ALL,
    uploads::ALL,
    refusals::ALL,
    keys::ALL,
    life::ALL,
    errors::ALL,
    bodies::ALL,
    raw::ALL,
    races::ALL,
];
