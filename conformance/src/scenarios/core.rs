//! What the specification states, by subject.

pub mod auth;
pub mod errors;
pub mod existing_data;
pub mod generation_output;
pub mod generation_vault;
pub mod generations;
pub mod membership;
pub mod moves;
pub mod prompt_create;
pub mod prompt_list;
pub mod prompt_object;
pub mod prompt_update;
pub mod races;
pub mod upload_put;
pub mod vault_fork;
pub mod vault_object;
pub mod vault_update;

use crate::Scenario;

pub const ALL: &[&[Scenario]] = &[
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
    generation_vault::ALL,
    upload_put::ALL,
    auth::ALL,
    races::ALL,
    existing_data::ALL,
];
