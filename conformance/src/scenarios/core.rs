//! What the specification states.

pub(super) mod auth;
pub(super) mod errors;
pub(super) mod existing_data;
pub(super) mod generation_output;
pub(super) mod generations;
pub(super) mod job;
pub(super) mod membership;
pub(super) mod moves;
pub(super) mod pictures;
pub(super) mod prompt_create;
pub(super) mod prompt_list;
pub(super) mod prompt_object;
pub(super) mod prompt_update;
pub(super) mod races;
pub(super) mod upload_put;
pub(super) mod uploads;
pub(super) mod vault_fork;
pub(super) mod vault_object;
pub(super) mod vault_update;

use crate::Scenario;

pub(super) const ALL: &[&[Scenario]] = &[
    errors::ALL,
    prompt_object::ALL,
    prompt_create::ALL,
    prompt_update::ALL,
    prompt_list::ALL,
    vault_object::ALL,
    vault_update::ALL,
    vault_fork::ALL,
    membership::ALL,
    moves::ALL,
    generations::ALL,
    generation_output::ALL,
    uploads::ALL,
    upload_put::ALL,
    auth::ALL,
    races::ALL,
    existing_data::ALL,
];
