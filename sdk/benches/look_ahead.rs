//! How much time does look-ahead save?
//!
//! A list of 10,000 prompts in pages of 100, from a server on the loopback interface
//! that answers each request after 20 ms, to a consumer that takes a little time as
//! well. It is walked with and without look-ahead in turn. A median of the ratios that
//! is not below the bound ends with exit code 1.
//!
//! `script/bench` runs it; `docs/benchmarks.md` tells what it showed.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "look_ahead/service.rs"]
mod service;

use std::error::Error;
use std::time::{Duration, Instant};

use promptarium::Client;
use tokio::time::sleep;

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const ROUNDS: usize = 9;
/// Look-ahead must gain something; how much depends on the consumer.
const BOUND: f64 = 1.0;

/// The consumer works off so many prompts at a time, as one would who writes them to a
/// database in batches.
const BATCH: usize = 10;
/// How long it takes for them. Tokio's timer counts whole milliseconds, so that a wait
/// for every single prompt would be ten times as long as meant; a loop that kept the
/// processor busy would measure who else is on the machine.
const WORK: Duration = Duration::from_millis(1);

#[derive(Clone, Copy)]
enum Taken {
    ByItem,
    ByPage,
}

#[tokio::main]
async fn main() -> Result {
    // `cargo bench` and `cargo test --benches` hand over flags of their own.
    if std::env::args().any(|argument| argument == "--test" || argument == "--list") {
        return Ok(());
    }
    let client = Client::new(service::start().await?, "promptarium_live_bench_s3cret")?;
    println!("{:<10} {:>12} {:>12} {:>7}", "taken by", "without", "look-ahead", "ratio");
    let mut within = true;
    for (name, taken) in [("item", Taken::ByItem), ("page", Taken::ByPage)] {
        let (without, ahead, ratio) = compare(&client, taken).await?;
        println!("{name:<10} {without:>12.1?} {ahead:>12.1?} {ratio:>7.2}");
        within &= ratio < BOUND;
    }
    if within { Ok(()) } else { Err("look-ahead gains nothing".into()) }
}

/// Walks the list in both ways, in turn; the median of each and of the ratios.
async fn compare(client: &Client, taken: Taken) -> Result<(Duration, Duration, f64)> {
    let (mut without, mut ahead, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    walk(client, taken, true).await?;
    for _ in 0..ROUNDS {
        without.push(walk(client, taken, false).await?);
        ahead.push(walk(client, taken, true).await?);
        ratios
            .push(ahead[ahead.len() - 1].as_secs_f64() / without[without.len() - 1].as_secs_f64());
    }
    without.sort_unstable();
    ahead.sort_unstable();
    ratios.sort_unstable_by(f64::total_cmp);
    Ok((without[ROUNDS / 2], ahead[ROUNDS / 2], ratios[ROUNDS / 2]))
}

/// How long the whole list takes, consumer and all.
async fn walk(client: &Client, taken: Taken, look_ahead: bool) -> Result<Duration> {
    let list = client.prompts().list().page_size(service::PAGE).prefetch(look_ahead);
    let start = Instant::now();
    let mut count = 0;
    match taken {
        Taken::ByItem => {
            let mut prompts = list.items();
            while let Some(prompt) = prompts.next().await {
                prompt?;
                count += 1;
                if count % BATCH == 0 {
                    sleep(WORK).await;
                }
            }
        }
        Taken::ByPage => {
            let mut pages = list.pages();
            while let Some(page) = pages.next().await {
                let page = page?;
                count += page.items.len();
                for _ in page.items.chunks(BATCH) {
                    sleep(WORK).await;
                }
            }
        }
    }
    let whole = start.elapsed();
    if count == service::PROMPTS { Ok(whole) } else { Err(format!("{count} prompts").into()) }
}
