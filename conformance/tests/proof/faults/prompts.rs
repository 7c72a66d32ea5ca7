//! Faults in prompts (PR, LI-02 to LI-05).

mod answers;
mod create;
pub(super) mod fields;
pub(super) mod life;
mod lists;

use crate::prelude::*;

pub(crate) const ALL: &[&[Fault]] =
    &[answers::ALL, fields::ALL, lists::ALL, create::ALL, life::ALL];

/// Where a prompt is made or changed.
const WRITES: &str = "POST /prompts, PATCH /prompts/*";
const CREATE: &str = "POST /prompts";
const UPDATE: &str = "PATCH /prompts/*";

/// A model that the target knows.
const MODEL: &str = "local/plasma";
