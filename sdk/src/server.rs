//! What servers of the API need and clients do not: path templates, the body of an error, scopes.

#[warn(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::string_slice)]
pub mod path;

pub use crate::model::{Problem, Scope};
