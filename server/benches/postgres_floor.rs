//! How much the service costs on top of PostgreSQL.
//!
//! Our server and the thinnest one that does the same, in one process on one
//! database: hyper, and one prepared statement with the key check joined in. A
//! client with 32 connections calls the one and the other in turn, and the median
//! of the ratios of their rates is held to a bound.
//!
//! `script/bench` runs it; `docs/benchmarks.md` tells what it showed.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "postgres_floor/load.rs"]
mod load;
#[path = "postgres_floor/thin.rs"]
mod thin;

use std::error::Error;
use std::time::Duration;

use promptarium_server::EmbeddedServer;
use promptarium_server::test_support::ScratchDatabase;
use serde_json::json;

use self::load::Load;

type Result<T = ()> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const KEY: &str = "promptarium_live_bench_s3cret";
const CONNECTIONS: usize = 32;
const WINDOW: Duration = Duration::from_millis(1500);
const ROUNDS: usize = 9;
const BOUND: f64 = 0.6;

fn main() -> Result {
    // `cargo bench` and `cargo test --benches` hand over flags of their own.
    if std::env::args().any(|argument| argument == "--test" || argument == "--list") {
        return Ok(());
    }
    let runtime = tokio::runtime::Runtime::new()?;
    let (database, server, thin) = runtime.block_on(start())?;
    let body = json!({ "title": "Harbour at dusk", "prompt": "Still life, soft light" });
    let made = load::once(server.base_url(), &Load::post("/prompts", KEY, &body.to_string()))?;
    let id = made.pointer("/data/id").ok_or("a prompt")?.to_string();

    let mut within = true;
    for (name, load) in [
        ("GET /prompts/{id}", Load::get(&format!("/prompts/{id}"), KEY)),
        ("POST /prompts", Load::post("/prompts", KEY, &body.to_string())),
    ] {
        // What both answer is the same but for ids and times.
        load::once(server.base_url(), &load)?;
        load::once(&thin, &load)?;
        let ratio = compare(name, server.base_url(), &thin, &load)?;
        within &= ratio >= BOUND;
    }
    runtime.block_on(server.shutdown());
    drop(database);
    let fault = || format!("a request reaches less than {BOUND} of the thin server's rate");
    if within { Ok(()) } else { Err(fault().into()) }
}

async fn start() -> Result<(ScratchDatabase, EmbeddedServer, String)> {
    let database = ScratchDatabase::create().await?;
    let server = EmbeddedServer::builder()
        .database_url(database.url())
        .seed_key(format!("{KEY}=bench"))
        .start()
        .await?;
    let thin = thin::start(&database.url()).await?;
    Ok((database, server, thin))
}

/// Calls both in turn, round after round; the median of the ratios.
fn compare(name: &str, ours: &str, thin: &str, load: &Load) -> Result<f64> {
    let (mut ratios, mut rates) = (Vec::new(), (Vec::new(), Vec::new()));
    for round in 0..=ROUNDS {
        let a = load::rate(ours, load, CONNECTIONS, WINDOW)?;
        let b = load::rate(thin, load, CONNECTIONS, WINDOW)?;
        // The first round is for warming up.
        if round > 0 {
            ratios.push(a / b);
            rates.0.push(a);
            rates.1.push(b);
        }
    }
    let (ratio, a, b) = (median(ratios), median(rates.0), median(rates.1));
    println!("{name:<20} ours {a:>8.0}/s  thin {b:>8.0}/s  ratio {ratio:.2}");
    Ok(ratio)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
