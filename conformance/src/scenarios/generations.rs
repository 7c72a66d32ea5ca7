//! Generations: the answer that one is queued, the fields of its body, the job,
//! what it leaves in a vault, and its status.
//!
//! How long a job takes and what it looks like is the provider's; scenarios of
//! the profile core wait for it as long as they can, with the models they are
//! told of. Scenarios that need the models built into the reference server say
//! so.

pub(super) mod job;
mod outputs;

mod again;
mod answer;
mod images;
mod output;
mod provider;
mod requests;
mod shape;
mod status;
mod vault;

use crate::Scenario;

pub(super) const ALL: &[&[Scenario]] = &[
    answer::ALL,
    requests::ALL,
    output::ALL,
    images::ALL,
    vault::ALL,
    status::ALL,
    again::ALL,
    again::conflict::ALL,
    provider::ALL,
    shape::ALL,
];
