//! Throughput of uploads into a folder. The attacks in `tests/hostile` have the memory of many at once.
//!
//! Compares the server with `--blob-store file:` to bare hyper that writes each piece of a body
//! to a file and then syncs file and folder, as the server does. Both are separate processes and
//! get uploads of 10 MiB in turn. A bound that does not hold ends with exit code 1.
//!
//! `script/bench` runs it; `docs/reference/benchmarks.md` has the results.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::future::try_join_all;
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};

type Result<T = ()> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const FILE_BYTES: usize = 10 * 1024 * 1024;
/// What is compared: so many uploads at a time, in so many rounds.
const RUNS: [(usize, usize); 2] = [(1, 101), (8, 31)];
const RATIO_MIN: f64 = 0.7;

/// The word that makes this program the floor; a folder follows it.
const FLOOR: &str = "floor";

#[tokio::main]
async fn main() -> Result {
    let arguments = std::env::args().collect::<Vec<_>>();
    // `cargo bench` and `cargo test --benches` hand over flags of their own.
    if arguments.iter().any(|argument| argument == "--test" || argument == "--list") {
        return Ok(());
    }
    if let [_, word, folder] = &arguments[..]
        && word == FLOOR
    {
        return serve_floor(folder.into()).await;
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("upload-bench");
    let outcome = measure(&folder).await;
    fs::remove_dir_all(&folder)?;
    outcome
}

async fn measure(folder: &Path) -> Result {
    let file: Bytes = (0..FILE_BYTES).map(|at| (at % 251) as u8).collect();
    let floor = Target::floor(&folder.join("floor")).await?;
    let product = Target::product(&folder.join("product")).await?;
    let mut failed = Vec::new();
    println!("10 MiB at a time         floor      product   ratio");
    for (at_once, rounds) in RUNS {
        let (mut floors, mut products, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..rounds {
            let mut targets = [(&floor, &mut floors), (&product, &mut products)];
            // Each is first as often.
            targets.rotate_left(round % 2);
            for (target, times) in targets {
                times.push(target.upload(at_once, &file).await?.as_secs_f64());
            }
            ratios.push(floors[round] / products[round]);
        }
        let (floor, product, ratio) = (median(floors), median(products), median(ratios));
        println!("{at_once:>16} {:>10.2} ms {:>9.2} ms {ratio:>7.2}", floor * 1e3, product * 1e3);
        if ratio < RATIO_MIN {
            failed.push(format!("{at_once} uploads at a time reach {ratio:.2} of the floor"));
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ").into()) }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A process that takes files, and the folder that it keeps them in.
struct Target {
    _process: Child,
    base: String,
    /// None for the floor.
    key: Option<String>,
    folder: PathBuf,
}

impl Target {
    async fn floor(folder: &Path) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(FLOOR).arg(folder);
        Self::start(command, folder).await
    }

    async fn product(folder: &Path) -> Result<Self> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_promptarium-server"));
        command.args(["--json", "--listen", "127.0.0.1:0", "--log", "warn", "--data", "memory:"]);
        command.arg(format!("--blob-store=file:{}", folder.display()));
        Self::start(command, folder).await
    }

    /// Both say on their first line, as JSON, where they are.
    async fn start(mut command: Command, folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder)?;
        let mut process =
            command.stdout(std::process::Stdio::piped()).kill_on_drop(true).spawn()?;
        let stdout = process.stdout.take().ok_or("a pipe")?;
        let line = BufReader::new(stdout).lines().next_line().await?.ok_or("a ready line")?;
        let ready: Value = serde_json::from_str(&line)?;
        Ok(Self {
            _process: process,
            base: text(&ready, "/base_url")?,
            key: text(&ready, "/api_key").ok(),
            folder: folder.to_owned(),
        })
    }

    /// How long so many uploads at once take, each on a connection of its own that
    /// is open already. The files go again, which is not timed.
    async fn upload(&self, at_once: usize, file: &Bytes) -> Result<Duration> {
        let ready = try_join_all((0..at_once).map(|_| self.prepare())).await?;
        let start = Instant::now();
        let answers = ready.into_iter().map(|request| request.body(file.clone()).send());
        for answer in try_join_all(answers).await? {
            answer.error_for_status()?;
        }
        let time = start.elapsed();
        let kept = remove_files(&self.folder)?;
        if kept != at_once {
            return Err(format!("{kept} files of 10 MiB, not {at_once}").into());
        }
        Ok(time)
    }

    /// An upload without its file. The first request opens the connection.
    async fn prepare(&self) -> Result<RequestBuilder> {
        let client = Client::builder().no_proxy().build()?;
        let Some(key) = &self.key else {
            client.get(&self.base).send().await?.bytes().await?;
            return Ok(client.put(&self.base));
        };
        let slot = client.post(format!("{}/uploads/images", self.base)).bearer_auth(key);
        let slot = slot.json(&json!({ "contentType": "image/png", "size": FILE_BYTES }));
        let slot: Value = slot.send().await?.error_for_status()?.json().await?;
        let upload = client.put(text(&slot, "/data/uploadUrl")?);
        Ok(upload.bearer_auth(text(&slot, "/data/token")?).header("content-type", "image/png"))
    }
}

/// Empties a folder and those in it; how many files of the right size were there.
fn remove_files(folder: &Path) -> Result<usize> {
    let mut whole = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            whole += remove_files(&entry.path())?;
        } else {
            whole += usize::from(entry.metadata()?.len() == FILE_BYTES as u64);
            fs::remove_file(entry.path())?;
        }
    }
    Ok(whole)
}

/// The floor: any `PUT` becomes a new file in the folder, and other requests do nothing.
async fn serve_floor(folder: PathBuf) -> Result {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", json!({ "base_url": format!("http://{}", listener.local_addr()?) }));
    let (folder, files) = (Arc::new(folder), Arc::new(AtomicU64::new(0)));
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (folder, files) = (folder.clone(), files.clone());
        let service = service_fn(move |request: Request<Incoming>| {
            let path = folder.join(files.fetch_add(1, Ordering::Relaxed).to_string());
            keep(request, folder.clone(), path)
        });
        let io = TokioIo::new(stream);
        tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(io, service));
    }
}

/// Writing into the kernel's memory is quicker than handing it to another thread;
/// waiting for the disk is not.
async fn keep(
    request: Request<Incoming>,
    folder: Arc<PathBuf>,
    path: PathBuf,
) -> Result<Response<Empty<Bytes>>> {
    if request.method() != Method::PUT {
        return Ok(Response::new(Empty::new()));
    }
    let mut file = fs::File::create_new(path)?;
    let mut body = request.into_body();
    while let Some(frame) = body.frame().await {
        if let Ok(bytes) = frame?.into_data() {
            file.write_all(&bytes)?;
        }
    }
    let synced = tokio::task::spawn_blocking(move || {
        file.sync_all()?;
        fs::File::open(&*folder)?.sync_all()
    });
    synced.await??;
    Ok(Response::new(Empty::new()))
}

fn text(value: &Value, place: &str) -> Result<String> {
    let text = value.pointer(place).and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| format!("no text at {place}").into())
}
