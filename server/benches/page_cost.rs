//! Does the cost of a step grow with the account?
//!
//! Two accounts on one in-memory server, one with a thousand prompts and one
//! with a hundred thousand, all in one vault each. Every step is taken in turn
//! on the one and on the other over HTTP, and the medians are compared. A
//! ratio above the bound ends with exit code 1.
//!
//! `script/bench` runs it; `docs/benchmarks.md` tells what it showed.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use promptarium_server::EmbeddedServer;
use serde_json::{Value, json};
use tokio::net::TcpStream;

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const SMALL: usize = 1_000;
const LARGE: usize = 100_000;
const ROUNDS: usize = 1_000;
const BOUND: f64 = 1.5;
const ADDED_AT_ONCE: usize = 50;

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
    let mut small = Account::fill(base, "promptarium_live_small_s3cret", SMALL).await?;
    let mut large = Account::fill(base, "promptarium_live_large_s3cret", LARGE).await?;

    println!(
        "{:<34} {:>12} {:>12} {:>7}",
        "step",
        format!("at {SMALL}"),
        format!("at {LARGE}"),
        "ratio"
    );
    let mut within = true;
    for step in Step::ALL {
        let (a, b) = compare(*step, &mut small, &mut large).await?;
        let ratio = b.as_secs_f64() / a.as_secs_f64();
        println!("{:<34} {:>12?} {:>12?} {ratio:>7.2}", step.name(), a, b);
        within &= ratio <= BOUND;
    }
    if !within {
        return Err(
            format!("a step costs more than {BOUND} times as much in the large account").into()
        );
    }
    Ok(())
}

/// What is timed; each is one request.
#[derive(Clone, Copy)]
enum Step {
    Get,
    FirstPage,
    DeepPage,
    PageOfVault,
    PageOfType,
    Pin,
    Move,
    Count,
}

impl Step {
    const ALL: &[Self] = &[
        Self::Get,
        Self::FirstPage,
        Self::DeepPage,
        Self::PageOfVault,
        Self::PageOfType,
        Self::Pin,
        Self::Move,
        Self::Count,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Get => "GET one prompt",
            Self::FirstPage => "first page of 20",
            Self::DeepPage => "page of 20 in the middle",
            Self::PageOfVault => "first page of 20 of a vault",
            Self::PageOfType => "first page of 20 of one type",
            Self::Pin => "pin or unpin",
            Self::Move => "move",
            Self::Count => "GET the vault with its count",
        }
    }

    async fn take(self, account: &mut Account, round: usize) -> Result {
        let (prompt, vault, member) = (account.prompt, account.vault, account.member);
        match self {
            Self::Get => account.get(&format!("/prompts/{prompt}")).await?,
            Self::FirstPage => account.get("/prompts").await?,
            Self::DeepPage => account.get(&account.deep.clone()).await?,
            Self::PageOfVault => account.get(&format!("/prompts?vaultId={vault}")).await?,
            Self::PageOfType => account.get("/prompts?type=text").await?,
            Self::Pin => {
                let method = if round.is_multiple_of(2) { Method::POST } else { Method::DELETE };
                account.call(method, &format!("/vaults/{vault}/prompts/{member}/pin"), None).await?
            }
            Self::Move => {
                let path = format!("/vaults/{vault}/prompts/{member}/move");
                let body = json!({ "targetVaultId": vault });
                let moved = account.call(Method::POST, &path, Some(body)).await?;
                account.member = integer(&moved, "/data/vaultPromptId")?;
                return Ok(());
            }
            Self::Count => account.get(&format!("/vaults/{vault}")).await?,
        };
        Ok(())
    }
}

/// Takes a step on both, in turn; the median of each.
async fn compare(
    step: Step,
    small: &mut Account,
    large: &mut Account,
) -> Result<(Duration, Duration)> {
    let mut times = (Vec::with_capacity(ROUNDS), Vec::with_capacity(ROUNDS));
    for round in 0..ROUNDS {
        let start = Instant::now();
        step.take(small, round).await?;
        times.0.push(start.elapsed());
        let start = Instant::now();
        step.take(large, round).await?;
        times.1.push(start.elapsed());
    }
    Ok((median(times.0), median(times.1)))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// An account, a connection to it, and what the steps work on.
struct Account {
    connection: SendRequest<Full<Bytes>>,
    host: String,
    root: String,
    key: &'static str,
    vault: i64,
    prompt: i64,
    member: i64,
    deep: String,
}

impl Account {
    async fn fill(base: &str, key: &'static str, prompts: usize) -> Result<Self> {
        let rest = base.strip_prefix("http://").ok_or("an http address")?;
        let (host, root) = rest.split_once('/').ok_or("an address with a path")?;
        let stream = TcpStream::connect(host).await?;
        stream.set_nodelay(true)?;
        let (connection, driver) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(driver);
        let mut account = Self {
            connection,
            host: host.to_owned(),
            root: format!("/{}", root.trim_end_matches('/')),
            key,
            vault: 0,
            prompt: 0,
            member: 0,
            deep: String::new(),
        };
        let vault = account.call(Method::POST, "/vaults", Some(json!({ "name": "Bench" }))).await?;
        account.vault = integer(&vault, "/data/id")?;
        account.make_prompts(prompts).await?;
        account.deep = account.middle(prompts).await?;
        Ok(account)
    }

    async fn make_prompts(&mut self, count: usize) -> Result {
        let mut ids = Vec::with_capacity(count);
        for n in 0..count {
            let body = json!({ "title": format!("Study {n}"), "prompt": "Still life, soft light" });
            ids.push(integer(&self.call(Method::POST, "/prompts", Some(body)).await?, "/data/id")?);
        }
        let path = format!("/vaults/{}/prompts", self.vault);
        for ids in ids.chunks(ADDED_AT_ONCE) {
            self.call(Method::POST, &path, Some(json!({ "promptIds": ids }))).await?;
        }
        self.prompt = ids[count / 2];
        let listed = self.get(&path).await?;
        self.member = integer(&listed, "/data/0/vaultPromptId")?;
        Ok(())
    }

    /// The path of the page of 20 that starts half way down the list.
    async fn middle(&mut self, count: usize) -> Result<String> {
        let mut cursor = String::new();
        for _ in 0..(count / 2).div_ceil(100) {
            let page = self.get(&format!("/prompts?limit=100{cursor}")).await?;
            let next = page.pointer("/pagination/nextCursor").and_then(Value::as_str);
            cursor = format!("&cursor={}", next.ok_or("a further page")?);
        }
        Ok(format!("/prompts?limit=20{cursor}"))
    }

    async fn get(&mut self, path: &str) -> Result<Value> {
        self.call(Method::GET, path, None).await
    }

    async fn call(&mut self, method: Method, path: &str, body: Option<Value>) -> Result<Value> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.root))
            .header("host", &self.host)
            .header("authorization", format!("Bearer {}", self.key));
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let bytes = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
        self.connection.ready().await?;
        let response = self.connection.send_request(request.body(Full::new(bytes))?).await?;
        let status = response.status();
        let bytes = response.into_body().collect().await?.to_bytes();
        if !status.is_success() {
            return Err(format!("{status}: {}", String::from_utf8_lossy(&bytes)).into());
        }
        Ok(serde_json::from_slice(&bytes)?)
    }
}

fn integer(value: &Value, place: &str) -> Result<i64> {
    let integer = value.pointer(place).and_then(Value::as_i64);
    integer.ok_or_else(|| format!("no integer at {place}").into())
}
