//! Crash tests: server processes on a durable PostgreSQL cluster of their own, which
//! are killed, frozen and cut off from the database; and in [`history`] server processes that many
//! clients use at once.
//!
//! Needs the programs of PostgreSQL, see `script/postgres`. `PROMPTARIUM_CRASH_ROUNDS`
//! sets the number of rounds of the test in [`rounds`], and `PROMPTARIUM_CRASH_SEED`
//! repeats the random choices of an earlier run.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails where something unexpected happens, and prints what it measures"
)]

#[path = "../support/lib.rs"]
#[expect(dead_code, reason = "each test program uses a part")]
mod support;

mod cluster;

mod check;
mod client;
mod state;

mod folder;
mod history;
mod outage;
mod rounds;
mod takeover;

use std::time::Duration;

/// Within this time another worker has taken over the job of a dead worker: the lease of
/// 20 seconds, and 5 more.
const TAKEOVER_MAX: Duration = Duration::from_secs(25);

/// The key of the client in tests with one client.
const KEY: &str = "promptarium_live_c1_s3cretOfAClient";
