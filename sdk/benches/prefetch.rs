//! How much time does prefetch save?
//!
//! A list of 10,000 prompts in pages of 100, from a server on the loopback interface that answers
//! each request after 20 ms, to a consumer that takes time too. It is read with and without
//! prefetch in turn. Exits with code 1 if the median of the ratios is not below the bound.
//!
//! `script/bench` runs it; `docs/reference/benchmarks.md` has its results.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "prefetch/service.rs"]
mod service;

use std::error::Error;
use std::time::{Duration, Instant};

use promptarium::Client;
use tokio::time::sleep;

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const ROUNDS: usize = 9;
/// Prefetch must save time; how much depends on the consumer.
const BOUND: f64 = 1.0;

/// The consumer takes prompts in batches, as a program does that writes them to a database.
const BATCH: usize = 10;
/// The time of the consumer for a batch. Tokio's timer counts whole milliseconds, so a delay for
/// each prompt would be too long, and a busy loop would measure the load of the machine.
const WORK: Duration = Duration::from_millis(1);

#[derive(Clone, Copy)]
enum Read {
    ByItem,
    ByPage,
}

#[tokio::main]
async fn main() -> Result {
    // `cargo bench` and `cargo test --benches` pass flags of their own.
    if std::env::args().any(|argument| argument == "--test" || argument == "--list") {
        return Ok(());
    }
    let client = Client::new(service::start().await?, "promptarium_live_bench_s3cret")?;
    println!("{:<10} {:>12} {:>12} {:>7}", "read by", "without", "prefetch", "ratio");
    let mut within = true;
    for (name, read) in [("item", Read::ByItem), ("page", Read::ByPage)] {
        let (without, ahead, ratio) = compare(&client, read).await?;
        println!("{name:<10} {without:>12.1?} {ahead:>12.1?} {ratio:>7.2}");
        within &= ratio < BOUND;
    }
    if within { Ok(()) } else { Err("prefetch saves no time".into()) }
}

/// Reads the list both ways in turn; returns the median of each and of the ratios.
async fn compare(client: &Client, read: Read) -> Result<(Duration, Duration, f64)> {
    let (mut without, mut ahead, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    walk(client, read, true).await?;
    for _ in 0..ROUNDS {
        without.push(walk(client, read, false).await?);
        ahead.push(walk(client, read, true).await?);
        ratios
            .push(ahead[ahead.len() - 1].as_secs_f64() / without[without.len() - 1].as_secs_f64());
    }
    without.sort_unstable();
    ahead.sort_unstable();
    ratios.sort_unstable_by(f64::total_cmp);
    Ok((without[ROUNDS / 2], ahead[ROUNDS / 2], ratios[ROUNDS / 2]))
}

/// The time to read the whole list, with the consumer.
async fn walk(client: &Client, read: Read, prefetch: bool) -> Result<Duration> {
    let list = client.prompts().list().page_size(service::PAGE).prefetch(prefetch);
    let start = Instant::now();
    let mut count = 0;
    match read {
        Read::ByItem => {
            let mut prompts = list.items();
            while let Some(prompt) = prompts.next().await {
                prompt?;
                count += 1;
                if count % BATCH == 0 {
                    sleep(WORK).await;
                }
            }
        }
        Read::ByPage => {
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
