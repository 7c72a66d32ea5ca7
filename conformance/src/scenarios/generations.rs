//! Generations: the response that one is queued, its request, the job, what it saves in a vault,
//! and its status.
//!
//! How long a job takes and what it looks like depends on the provider. Scenarios of the profile
//! core wait for it as long as they can, with the models of the run's configuration. Scenarios
//! that need the models built into the reference server name that need.

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
