//! Crash tests: server processes on a durable PostgreSQL cluster of their own, which
//! are killed, frozen and cut off from the database.
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

mod cluster;
mod http;
mod server;

mod check;
mod client;
mod state;

mod outage;
mod rounds;
mod takeover;

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Limit for steps that take no time of their own.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Within this time another worker has taken over the job of a dead worker: the lease of
/// 20 seconds, and 5 more.
const TAKEOVER_MAX: Duration = Duration::from_secs(25);

/// The key of the client in tests with one client.
const KEY: &str = "promptarium_live_c1_s3cretOfAClient";

/// Waits until a condition is fulfilled. `None` if that takes longer than `limit`.
async fn wait_until(limit: Duration, condition: impl AsyncFn() -> bool) -> Option<Duration> {
    let begin = Instant::now();
    while begin.elapsed() < limit {
        if condition().await {
            return Some(begin.elapsed());
        }
        sleep(Duration::from_millis(20)).await;
    }
    None
}
