//! Faults in prompts (PR, LI-02 to LI-05).

mod answers;
mod create;
mod fields;
mod lengths;
mod life;
mod lists;

use crate::fault::Fault;

pub(crate) const ALL: &[&[Fault]] =
    &[answers::ALL, fields::ALL, lists::ALL, create::ALL, lengths::ALL, life::ALL];

/// Where a prompt is made or changed.
const WRITES: &str = "POST /prompts, PATCH /prompts/*";
