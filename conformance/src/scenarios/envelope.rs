//! The envelope and the conventions that hold for every endpoint.

mod elsewhere;
mod request_id;
mod requests;
mod shape;
mod text;
mod values;

use crate::Scenario;

pub(super) const ALL: &[&[Scenario]] =
    &[requests::ALL, shape::ALL, elsewhere::ALL, values::ALL, text::ALL, request_id::ALL];
