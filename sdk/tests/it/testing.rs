//! The feature `testing`, as a caller's own tests use it.

mod errors;
mod fixtures;
mod scripts;
mod time;
