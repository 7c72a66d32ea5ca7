//! The envelope and the conventions that hold for every endpoint.

mod request_id;
mod requests;
mod shape;
mod values;

use crate::Scenario;

pub(super) const ALL: &[&[Scenario]] = &[requests::ALL, shape::ALL, values::ALL, request_id::ALL];
