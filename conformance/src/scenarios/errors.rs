//! What is refused, with which status, and what the refusal says.

mod absent;
mod bodies;
mod details;
mod fields;
mod methods;
mod order;
mod shape;

use serde_json::json;

use crate::wire::Reply;
use crate::{Failure, Scenario};

pub(super) use self::details::names_exactly;

pub(super) const ALL: &[&[Scenario]] =
    &[shape::ALL, fields::ALL, absent::ALL, details::ALL, bodies::ALL, methods::ALL, order::ALL];

/// The body of an error in which no field is at fault (S-59, S-60).
fn error_body(reply: &Reply) -> Result<(), Failure> {
    reply.equals("/data", json!(null))?.equals("/details", json!({}))?;
    reply.string("/error")?;
    Ok(())
}
