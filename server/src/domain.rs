//! What the service is about: ids, records, generation requests, names and keys.
//!
//! It is the lowest module, and imports nothing else of this crate.

#![allow(missing_docs, reason = "a field has a comment if its name does not say all")]

mod api_key;
mod asset;
mod deployment;
mod generation;
mod records;
mod seed_key;
mod session;
#[cfg(feature = "webhooks")]
pub(crate) mod webhook;

pub use self::{
    api_key::*, asset::*, deployment::*, generation::*, records::*, seed_key::*, session::*,
};
