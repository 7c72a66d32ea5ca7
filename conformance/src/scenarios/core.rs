//! What the specification states.

pub(super) mod auth;
pub(super) mod contents;
pub(super) mod errors;
mod existing_data;
pub(super) mod generations;
mod pagination;
pub(super) mod prompts;
mod races;
pub(super) mod uploads;
pub(super) mod vaults;

use crate::Scenario;

pub(super) const ALL: &[&[Scenario]] = &[
    errors::ALL,
    pagination::ALL,
    prompts::object::ALL,
    prompts::create::ALL,
    prompts::models::ALL,
    prompts::vaults::ALL,
    prompts::update::ALL,
    prompts::list::ALL,
    vaults::object::ALL,
    vaults::list::ALL,
    vaults::update::ALL,
    vaults::fork::ALL,
    contents::membership::ALL,
    contents::listing::ALL,
    contents::moves::ALL,
    contents::race::ALL,
    generations::ALL,
    generations::images::ALL,
    generations::vault::ALL,
    uploads::ALL,
    uploads::put::ALL,
    uploads::asset::ALL,
    auth::ALL,
    races::ALL,
    existing_data::ALL,
];
