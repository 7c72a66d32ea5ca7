//! What scenarios of several subjects start from.

pub mod credentials;
pub mod job;
pub mod pictures;
pub mod prompt;
pub mod slot;
