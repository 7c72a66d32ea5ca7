//! Does the cost of a step grow with the account?
//!
//! Two accounts on one in-memory server, one with a thousand prompts and one
//! with a hundred thousand, all in one vault each. Every step is taken in turn
//! on the one and on the other over HTTP, and the medians are compared. A
//! ratio above the bound ends with exit code 1.
//!
//! `script/bench` runs it; `docs/reference/benchmarks.md` tells what it showed.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "common/account.rs"]
mod account;
#[path = "page_cost/fill.rs"]
mod fill;
#[path = "common/step.rs"]
mod step;

use std::error::Error;

use promptarium_server::EmbeddedServer;

use self::step::{IN_A_LARGE_ACCOUNT, compare_all};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const SMALL: usize = 1_000;
const LARGE: usize = 100_000;

#[tokio::main]
async fn main() -> Result {
    // `cargo bench` and `cargo test --benches` hand over flags of their own.
    if std::env::args().any(|argument| argument == "--test" || argument == "--list") {
        return Ok(());
    }
    let server = EmbeddedServer::builder()
        .seed_key("promptarium_live_small_s3cret=small")
        .seed_key("promptarium_live_large_s3cret=large")
        .start()
        .await?;
    let base = server.base_url();
    let mut small = fill::account(base, "promptarium_live_small_s3cret", SMALL).await?;
    let mut large = fill::account(base, "promptarium_live_large_s3cret", LARGE).await?;
    let (few, many) = (format!("at {SMALL}"), format!("at {LARGE}"));
    let pair = ((&mut small, &*few), (&mut large, &*many));
    compare_all(IN_A_LARGE_ACCOUNT, pair.0, pair.1, |_| ()).await
}
