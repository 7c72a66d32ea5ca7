//! What RFC 9110 and RFC 9112 require of any HTTP server, and how ours meets it (S-80).

mod flows;
pub(super) mod requests;
mod samples;

use promptarium_conformance::Scenario;

pub(crate) const ALL: &[&[Scenario]] = &[samples::ALL, flows::ALL];
