//! What is refused, with which status, and what the refusal says.

mod bodies;
mod order;
mod paths;
mod shape;

use serde_json::json;

use crate::wire::ApiResponse;
use crate::{Failure, Scenario};

pub(super) use self::shape::names_exactly;

pub(super) const ALL: &[&[Scenario]] = &[shape::ALL, bodies::ALL, paths::ALL, order::ALL];

/// The body of an error in which no field is at fault (S-59, S-60).
fn error_body(reply: &ApiResponse) -> Result<(), Failure> {
    reply.equals("/data", json!(null))?.equals("/details", json!({}))?;
    reply.string("/error")?;
    Ok(())
}
