//! Generations: the answer that one is queued, the fields of its body, the job,
//! what it leaves in a vault, and its status.
//!
//! How long a job takes and what it looks like is the provider's; scenarios of
//! the profile core wait for it as long as they can, with the models they are
//! told of. Scenarios that need the models built into the reference server say
//! so.

pub(super) mod job;
mod saved;

mod answer;
mod body;
mod inputs;
mod limits;
mod urls;

mod images;
mod output;
mod vault;

mod isolation;
mod scope;
mod status;

mod again;
mod choices;
mod failed;
mod provider;
mod shape;

pub(super) use self::inputs::uploads;
use crate::Scenario;

pub(super) const ALL: &[&[Scenario]] = &[
    answer::ALL,
    body::ALL,
    inputs::ALL,
    urls::ALL,
    limits::ALL,
    output::ALL,
    images::ALL,
    vault::ALL,
    scope::ALL,
    isolation::ALL,
    status::ALL,
    status::choices::ALL,
    again::ALL,
    again::conflict::ALL,
    choices::ALL,
    provider::ALL,
    shape::ALL,
    failed::ALL,
];
