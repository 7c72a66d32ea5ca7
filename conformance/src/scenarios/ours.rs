//! What the reference server chose where the specification is silent. Nothing in the other two
//! folders may depend on it.

mod contents;
mod cursors;
mod envelope;
mod errors;
mod generation_again;
mod generation_shape;
mod generation_status;
mod generations;
mod key_life;
mod keys;
mod lists;
mod prompts;
mod races;
mod raw;
mod search;
mod upload_refusals;
mod uploads;
mod vaults;

use crate::Scenario;

pub(super) const ALL: &[&[Scenario]] = &[
    envelope::ALL,
    lists::ALL,
    cursors::ALL,
    search::ALL,
    prompts::ALL,
    vaults::ALL,
    contents::ALL,
    generations::ALL,
    generation_status::ALL,
    generation_again::ALL,
    generation_shape::ALL,
    uploads::ALL,
    upload_refusals::ALL,
    keys::ALL,
    key_life::ALL,
    errors::ALL,
    raw::ALL,
    races::ALL,
];
