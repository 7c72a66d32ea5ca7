//! The SDK held against the wire: what it sends arrives, and what it returns is what a plain
//! request shows. These scenarios test the SDK, not a deployment, so they are no part of the
//! suite; `tests/backends` runs them on our server and `tests/independent` on the others.

mod calls;
mod generations;
mod lists;
mod models;
mod uploads;

use promptarium::Error;
use promptarium_conformance::{Failure, Scenario, check};
use serde::Serialize;
use serde_json::Value;

pub(crate) static SCENARIOS: &[&[Scenario]] =
    &[calls::ALL, generations::ALL, lists::ALL, models::ALL, uploads::ALL];

/// What the SDK returned has the fields that the wire shows.
fn same(sdk: &impl Serialize, wire: &Value) -> Result<(), Failure> {
    let sdk = serde_json::to_value(sdk)
        .map_err(|error| Failure::error("a model of the SDK as JSON", error.to_string()))?;
    let without_times = |value: &Value| {
        let mut value = check::stable_fields(value);
        for time in ["createdAt", "updatedAt"] {
            // A moment has many spellings.
            let moment = value[time].as_str().and_then(check::timestamp);
            if let Some(moment) = moment {
                value[time] = moment.to_string().into();
            }
        }
        value
    };
    check::equal("the model of the SDK", &without_times(&sdk), &without_times(wire))
}

fn expect_error<T>(
    call: &str,
    result: Result<T, Error>,
    expected: (&str, fn(&Error) -> bool),
) -> Result<Error, Failure> {
    let (name, holds) = expected;
    match result {
        Err(error) if holds(&error) => Ok(error),
        Err(error) => Err(Failure::failed(format!("{call}: {name}"), error.to_string())),
        Ok(_) => Err(Failure::failed(format!("{call}: {name}"), "a success")),
    }
}
