//! Conformance scenarios for any deployment of the Promptarium API.
//!
//! A [`Scenario`] is a plain async function over a [`Case`]: it talks HTTP to
//! one [`Target`], works only on what it makes itself, and says which numbered
//! rules of `docs/reference/api.md` it proves: what the specification states and nothing
//! else. [`Suite::with`] adds scenarios of other crates.
//!
//! This crate speaks HTTP only and never links the server. Its modules may change in any version;
//! what programs with scenarios of their own need is re-exported here.

pub mod case;
pub mod check;
pub mod cli;
#[doc(hidden)]
pub mod coverage;
mod exchange;
pub mod failure;
pub mod fixture;
pub mod known;
mod ledger;
pub mod probe;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod rules;
pub mod run;
pub mod run_id;
pub mod scenario;
#[doc(hidden)]
pub mod scenarios;
mod secret;
pub mod selection;
#[doc(hidden)]
pub mod spec;
mod suite;
#[doc(hidden)]
pub mod sweep;
pub mod target;
#[doc(hidden)]
pub mod trace;
pub mod wire;

/// A lock whose holder panicked is as good as any other: nothing is left half done under one.
fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

pub use case::Case;
pub use exchange::{Exchange, RawExchange};
pub use failure::{Failure, Verdict};
pub use known::KnownFailures;
pub use probe::{ProbeError, preflight, probe};
pub use report::Report;
pub use run::Run;
pub use run_id::RunId;
pub use scenario::Scenario;
pub use selection::Selection;
pub use suite::Suite;
pub use target::{
    Authorities, Http, Need, RunOptions, Target, TargetConfig, Untestable, environment,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
