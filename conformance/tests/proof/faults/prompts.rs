//! Faults in prompts (PR, LI-02 to LI-05).

mod answers;
mod create;
mod fields;
mod kinds;
mod lengths;
mod life;
mod lists;
mod reads;

use serde_json::Value;

use crate::fault::Fault;

pub(crate) const ALL: &[&[Fault]] = &[
    answers::ALL,
    reads::ALL,
    fields::ALL,
    lists::ALL,
    create::ALL,
    kinds::ALL,
    lengths::ALL,
    life::ALL,
];

/// Where a prompt is made or changed.
const WRITES: &str = "POST /prompts, PATCH /prompts/*";
const CREATE: &str = "POST /prompts";
const UPDATE: &str = "PATCH /prompts/*";

/// A model that the target knows.
const MODEL: &str = "local/plasma";

/// A value for a field that is not there.
fn absent_is(body: &mut Value, name: &str, value: impl Into<Value>) {
    if let Some(body) = body.as_object_mut() {
        body.entry(name).or_insert_with(|| value.into());
    }
}
