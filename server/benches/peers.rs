//! How fast the server is beside other programs that give the same responses: bare hyper, the
//! thinnest server on PostgreSQL, and axum with sqlx as tutorials write it (`benches/peers`).
//!
//! Each is a process of its own, and `wrk` with 32 connections calls them in turn. The ratio is
//! the median of the ratios within the rounds.
//!
//! `script/bench` builds the programs and runs it.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use std::error::Error;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use promptarium_server::test_support::ScratchDatabase;

type Result<T = ()> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const KEY: &str = "promptarium_live_bench_s3cret";
const CONNECTIONS: &str = "32";
const DURATION: &str = "2s";
const ROUNDS: usize = 15;

/// What `wrk` sends: a path below the base URL, and a body if it is a `POST`.
#[derive(Clone, Copy)]
struct Load {
    name: &'static str,
    path: &'static str,
    post: bool,
}

const GET: Load = Load { name: "GET one prompt", path: "/prompts/1", post: false };
const LIST: Load = Load { name: "first page of 20", path: "/prompts?limit=20", post: false };
const POST: Load = Load { name: "POST a prompt", path: "/prompts", post: true };

/// The loads of each store, with the peers and the lowest ratio to each.
const MEMORY: &[(Load, &[(&str, f64)])] = &[(GET, &[("bare", 0.75)])];
const POSTGRES: &[(Load, &[(&str, f64)])] = &[
    (GET, &[("thin", 1.4), ("tutorial", 4.0)]),
    (LIST, &[("thin", 1.8), ("tutorial", 4.0)]),
    (POST, &[("thin", 1.3), ("tutorial", 4.0)]),
];

fn main() -> Result {
    // `cargo bench` and `cargo test --benches` hand over flags of their own.
    if std::env::args().any(|argument| argument == "--test" || argument == "--list") {
        return Ok(());
    }
    let peers =
        PathBuf::from(std::env::var("PROMPTARIUM_PEERS").map_err(
            |_| "PROMPTARIUM_PEERS is not set; script/bench builds the peers and sets it",
        )?);
    let only = std::env::var("PROMPTARIUM_BENCH_ONLY").unwrap_or_default();
    println!("| Store | Request | Peer | Server, 1/s | Peer, 1/s | Ratio | Bound |");
    println!("|---|---|---|---|---|---|---|");
    let mut failed = Vec::new();
    if only.is_empty() || only == "memory" {
        failed.extend(compare("memory", MEMORY, &peers, None)?);
    }
    if only.is_empty() || only == "postgres" {
        let runtime = tokio::runtime::Runtime::new()?;
        let database = runtime.block_on(ScratchDatabase::create())?;
        failed.extend(compare("postgres", POSTGRES, &peers, Some(&database.url()))?);
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ").into()) }
}

/// Measures all loads of a store and prints a row for each peer; the bounds that do not hold.
fn compare(
    store: &str,
    loads: &[(Load, &[(&'static str, f64)])],
    peers: &Path,
    database: Option<&str>,
) -> Result<Vec<String>> {
    let server = Program::start(None, database)?;
    // Prompts to read.
    server.rate(POST)?;
    let mut failed = Vec::new();
    for (load, bounds) in loads {
        let mut programs = Vec::new();
        for (name, _) in *bounds {
            programs.push(Program::start(Some(&peers.join(name)), database)?);
        }
        // The server first; the first round is for warming up.
        let mut rates = vec![Vec::new(); programs.len() + 1];
        for round in 0..=ROUNDS {
            for (program, rates) in std::iter::once(&server).chain(&programs).zip(&mut rates) {
                let rate = program.rate(*load)?;
                if round > 0 {
                    rates.push(rate);
                }
            }
        }
        for ((name, bound), peer) in bounds.iter().zip(&rates[1..]) {
            let ratio = median(rates[0].iter().zip(peer).map(|(a, b)| a / b).collect());
            let (ours, theirs) = (median(rates[0].clone()), median(peer.clone()));
            println!(
                "| {store} | {} | {name} | {ours:.0} | {theirs:.0} | {ratio:.2} | {bound:.2} |",
                load.name
            );
            if ratio < *bound {
                failed.push(format!("{store}, {}: {ratio:.2} of {name}", load.name));
            }
        }
    }
    Ok(failed)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A server process, killed when it is dropped.
struct Program {
    process: Child,
    base_url: String,
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Program {
    /// The server, or a peer.
    fn start(peer: Option<&Path>, database: Option<&str>) -> Result<Self> {
        let address = &TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        let server = Path::new(env!("CARGO_BIN_EXE_promptarium-server"));
        let mut command = Command::new(peer.unwrap_or(server));
        match peer {
            Some(_) => command.arg(address).args(database),
            None => command
                .args(["--seed-key", &format!("{KEY}=bench"), "--listen", address])
                .args(database.iter().flat_map(|url| ["--database-url", url])),
        };
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let process = command
            .spawn()
            .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
        let program = Self { process, base_url: format!("http://{address}/api/v1") };
        let deadline = Instant::now() + Duration::from_secs(20);
        while std::net::TcpStream::connect(address).is_err() {
            if Instant::now() > deadline {
                return Err(format!("{} does not listen", command.get_program().display()).into());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(program)
    }

    /// Requests per second.
    fn rate(&self, load: Load) -> Result<f64> {
        let mut wrk = Command::new("wrk");
        wrk.args(["-t", "1", "-c", CONNECTIONS, "-d", DURATION]);
        wrk.args(["-H", &format!("authorization: Bearer {KEY}")]);
        if load.post {
            wrk.args(["-s", concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers/post.lua")]);
        }
        let output = wrk.arg(format!("{}{}", self.base_url, load.path)).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        if text.contains("Non-2xx") || text.contains("Socket errors") {
            return Err(format!("{} failed: {text}", load.name).into());
        }
        let rate = text.lines().find_map(|line| line.strip_prefix("Requests/sec:"));
        Ok(rate.ok_or_else(|| format!("wrk printed no rate: {text}"))?.trim().parse()?)
    }
}
