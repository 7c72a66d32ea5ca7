//! What a call costs on top of the HTTP client.
//!
//! The same call through this crate and by reqwest and `serde_json` alone, in turn, on open
//! connections, to a server that answers with the same bytes. The server is a task of the same
//! thread, since the time to wake another thread varies with its core. The median of the ratios of
//! neighbouring rounds has a bound.
//!
//! `script/bench` runs it; `docs/reference/benchmarks.md` has its results.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![allow(missing_docs, reason = "a benchmark has no users")]

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use promptarium::{Client, Prompt, PromptId};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const KEY: &str = "promptarium_live_bench_s3cret";
const ROUNDS: usize = 41;
const CALLS: u32 = 200;
const BOUND: f64 = 1.05;

#[derive(Deserialize)]
struct Envelope<T> {
    data: T,
}

fn main() -> Result {
    // `cargo bench` and `cargo test --benches` pass flags of their own.
    if std::env::args().any(|argument| argument == "--test" || argument == "--list") {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let one = runtime.block_on(compare("GET /prompts/{id}", &prompt(7), Call::One))?;
    let many: Vec<_> = (1..=100).map(prompt).collect();
    let page = runtime.block_on(compare("a page of 100 prompts", &json!(many), Call::Page))?;
    if one.max(page) <= BOUND {
        Ok(())
    } else {
        Err(format!("a call costs more than {BOUND} times one without this crate").into())
    }
}

#[derive(Clone, Copy)]
enum Call {
    One,
    Page,
}

/// The median of the ratios of the time through this crate and the time without.
async fn compare(name: &str, data: &Value, call: Call) -> Result<f64> {
    let address = serve(&json!({ "data": data, "error": null }).to_string()).await?;
    let base = format!("http://{address}/api/v1");
    let client = Client::new(&base, KEY)?;
    let bare = reqwest::Client::builder().timeout(Duration::from_secs(60)).build()?;
    let (mut ratios, mut times) = (Vec::new(), (Vec::new(), Vec::new()));
    for round in 0..=ROUNDS {
        let ours = through(&client, call).await?;
        let theirs = without(&bare, &base, call).await?;
        // The first round is a warm-up.
        if round > 0 {
            ratios.push(ours / theirs);
            times.0.push(ours);
            times.1.push(theirs);
        }
    }
    let (ratio, ours, theirs) = (median(ratios), median(times.0), median(times.1));
    println!("{name:<24} ours {ours:>7.1} µs  reqwest {theirs:>7.1} µs  ratio {ratio:.3}");
    Ok(ratio)
}

/// Microseconds for a call.
async fn through(client: &Client, call: Call) -> Result<f64> {
    let start = Instant::now();
    for _ in 0..CALLS {
        match call {
            Call::One => drop(client.prompts().get(PromptId::new(7)).await?),
            Call::Page => drop(client.prompts().list().page_size(100).await?),
        }
    }
    Ok(micros(start))
}

/// Microseconds for the same without this crate.
async fn without(client: &reqwest::Client, base: &str, call: Call) -> Result<f64> {
    let start = Instant::now();
    for _ in 0..CALLS {
        let url = match call {
            Call::One => format!("{base}/prompts/7"),
            Call::Page => format!("{base}/prompts?limit=100"),
        };
        let answer = client.get(url).bearer_auth(KEY).send().await?.error_for_status()?;
        let body = answer.bytes().await?;
        match call {
            Call::One => drop(serde_json::from_slice::<Envelope<Prompt>>(&body)?.data),
            Call::Page => drop(serde_json::from_slice::<Envelope<Vec<Prompt>>>(&body)?.data),
        }
    }
    Ok(micros(start))
}

fn micros(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A server that answers every request with this body.
async fn serve(body: &str) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let length = body.len();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: r-1\r\n";
    let answer = Arc::new(format!("{head}content-length: {length}\r\n\r\n{body}"));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer_all(stream, answer.clone()));
        }
    });
    Ok(address)
}

async fn answer_all(mut stream: TcpStream, answer: Arc<String>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut request = Vec::with_capacity(4096);
    loop {
        while !request.ends_with(b"\r\n\r\n") {
            if stream.read_buf(&mut request).await? == 0 {
                return Ok(());
            }
        }
        request.clear();
        stream.write_all(answer.as_bytes()).await?;
    }
}

fn prompt(id: i64) -> Value {
    json!({
        "id": id,
        "title": format!("Harbour at dusk {id}"),
        "prompt": "A harbour at dusk, long exposure, lanterns on the quay",
        "promptType": "image",
        "platform": null,
        "status": "active",
        "images": [{
            "url": "https://cdn.example/a.png", "width": 1024, "height": 576,
            "createdAt": "2026-03-01T12:00:00.000000Z",
        }],
        "vaultIds": [3, 4],
        "createdAt": "2026-03-01T11:00:00.000000Z",
        "updatedAt": "2026-03-01T11:30:00.000000Z",
    })
}
