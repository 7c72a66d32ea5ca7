//! Reading requests and writing responses: what the listener and the handlers share.

pub(crate) mod auth;
pub(crate) mod body;
pub(crate) mod browser;
pub(crate) mod compression;
pub(crate) mod cors;
pub(crate) mod cursor;
pub(crate) mod error;
pub(crate) mod headers;
pub(crate) mod json;
pub(crate) mod path;
pub(crate) mod rates;
pub(crate) mod response;
pub(crate) mod validate;
