//! What is left after a crash: the real program on a PostgreSQL of its own that
//! keeps its promises (`fsync` on), killed in every way there is.
//!
//! Needs PostgreSQL's programs; `script/test` finds them. The test of
//! [`rounds`] is short unless `PROMPTARIUM_CRASH_ROUNDS` says how many rounds it
//! shall have; `PROMPTARIUM_CRASH_SEED` repeats the choices of an earlier run.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "what a test takes for granted fails the test where it is not so, and it tells what \
              it does"
)]

mod cluster;
mod folder;
mod http;
mod server;

mod account;
mod check;
mod load;

mod outage;
mod rounds;
mod takeover;

use std::time::Duration;

/// How long anything may take that should take no time.
const PATIENCE: Duration = Duration::from_secs(60);
