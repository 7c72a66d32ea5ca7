//! What RFC 9110 and RFC 9112 require of any HTTP server.

pub(super) mod framing;
pub(super) mod head;
mod json;
pub(super) mod pace;
pub(super) mod prelude;

use promptarium_conformance::Scenario;

pub(crate) const ALL: &[&[Scenario]] = &[framing::ALL, head::ALL, pace::ALL, json::ALL];
