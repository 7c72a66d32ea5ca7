//! What our server chose where the specification is silent: scenarios by hand, and those made from
//! the tables of the suite.

mod contents;
mod cursors;
mod envelope;
mod errors;
mod fields;
mod generation_again;
mod generation_shape;
mod generation_status;
mod generations;
mod ids;
mod key_life;
mod keys;
mod lists;
mod prompts;
mod races;
mod search;
mod upload_refusals;
mod uploads;
mod vaults;
mod webhooks;

use std::sync::LazyLock;

use promptarium_conformance::Scenario;
use promptarium_conformance::scenarios::access;

const WRITTEN: &[&[Scenario]] = &[
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
    webhooks::ALL,
    errors::ALL,
    races::ALL,
];

pub(crate) static ALL: LazyLock<Vec<Scenario>> = LazyLock::new(|| {
    let made = access::chosen_scope().chain(fields::all()).chain(ids::all());
    WRITTEN.iter().copied().flatten().copied().chain(made).collect()
});
