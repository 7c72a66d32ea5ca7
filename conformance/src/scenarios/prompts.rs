//! Prompts themselves: the object, making, reading, changing, deleting and
//! saving them, and the filters of their list.

mod attempt;
mod choices;
mod create;
mod delete;
mod faults;
mod filters;
mod models;
mod object;
mod queries;
mod read;
mod save;
mod text;
mod update;
mod updated_at;
mod urls;
mod vaults;

use crate::Scenario;

pub(super) const ALL: &[&[Scenario]] = &[
    object::ALL,
    choices::ALL,
    create::ALL,
    models::ALL,
    urls::ALL,
    text::ALL,
    faults::ALL,
    vaults::ALL,
    read::ALL,
    update::ALL,
    updated_at::ALL,
    delete::ALL,
    save::ALL,
    filters::ALL,
    queries::ALL,
];
