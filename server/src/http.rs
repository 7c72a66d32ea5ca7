//! Reading requests and writing responses: what the listener and the handlers share.

pub mod auth;
pub mod body;
pub mod cursor;
pub mod error;
pub mod host;
pub mod path;
pub mod response;
pub mod validate;
