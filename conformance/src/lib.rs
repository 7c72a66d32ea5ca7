//! Conformance scenarios for any deployment of the Promptarium API.
//!
//! A [`Scenario`] is a plain async function over a [`Case`]: it talks HTTP to
//! one [`Target`], works only on what it makes itself, and says which numbered
//! rules of `docs/api.md` it proves. The profile [`Profile::Core`] is what the
//! specification states and nothing else; [`Profile::Http`] is what the RFCs of HTTP
//! require of any server; [`Profile::Reference`] adds to the core what the reference
//! server chose where the specification is silent.
//!
//! This crate speaks HTTP only and never links the server.

pub mod case;
pub mod check;
pub mod coverage;
pub mod environment;
pub mod failure;
pub mod known;
pub mod make;
pub mod probe;
pub mod report;
pub mod rules;
pub mod run;
pub mod scenario;
pub mod scenarios;
mod secret;
pub mod selection;
pub mod session;
mod shell;
pub mod spec;
pub mod sweep;
pub mod target;
pub mod wire;

pub use case::Case;
pub use failure::{Failure, Verdict};
pub use known::KnownFailures;
pub use probe::{ProbeError, probe, survey};
pub use report::Report;
pub use run::Run;
pub use scenario::{Need, Profile, Scenario};
pub use selection::Selection;
pub use target::{Authorities, Http, Manners, Target, TargetConfig, TimeScale};
