//! A target of a few lines, which answers whatever a test wants, and scenarios outside the list.

use std::io::Result;
use std::sync::Mutex;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::prelude::*;

/// A key nobody could mistake for text.
pub(crate) const KEY: &str = "acme_live_a1_c4n4ryThatMustNotShowAnywhere0123456789";

macro_rules! scenario {
    ($id:literal, $run:path) => {
        scenario!($id, [], $run)
    };
    ($id:literal, [$($need:ident),*], $run:path) => {
        &promptarium_conformance::scenario! { $id ["VA-16"] [$($need),*] $run, "A stand-in" }
    };
}
pub(crate) use scenario;

pub(crate) fn selection(scenarios: &[&'static Scenario]) -> Selection {
    let scenarios = scenarios.to_vec();
    Selection { filters: Vec::new(), excluded: Vec::new(), scenarios }
}

pub(crate) async fn finish(run: Run) -> Report {
    run.run(pending(), |_, _| {}).await
}

#[derive(Clone)]
pub(crate) enum Answer {
    Json(u16, String),
    Html(u16, &'static str),
    /// Status, further header lines, and a body that says it is JSON.
    With(u16, String, String),
    Redirect(&'static str),
    Hang,
    Reset,
    HangAfterHead,
    /// A body of which one byte comes every second.
    Drip,
    Endless,
    Garbage,
}

impl Answer {
    pub(crate) fn data(status: u16, data: Value) -> Self {
        Self::Json(status, Value::from_iter([("data", data), ("error", Value::Null)]).to_string())
    }

    /// An object without anything.
    pub(crate) fn nothing(status: u16) -> Self {
        Self::Json(status, "{}".into())
    }

    /// What `GET /vaults` is answered, so that a run begins.
    pub(crate) fn no_vaults() -> Self {
        Self::data(200, json!([]))
    }
}

/// A running stub; it ends with the test's runtime.
pub(crate) struct Stub {
    pub(crate) base_url: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Stub {
    /// Answers by method and path, query included.
    pub(crate) async fn start(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/api/v1", listener.local_addr().unwrap());
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let (answer, log) = (Arc::new(answer), Arc::clone(&seen));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
                tokio::spawn(serve(stream, move |line: String| {
                    log.lock().unwrap().push(line.clone());
                    answer(&line)
                }));
            }
        });
        Self { base_url, seen }
    }

    pub(crate) async fn always(answer: Answer) -> Self {
        Self::start(move |_| answer.clone()).await
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) async fn run(&self, scenarios: &[&'static Scenario]) -> Report {
        finish(Run::new(self.target(), selection(scenarios))).await
    }

    /// With all keys. It is not waited for long, but for longer than a busy machine stalls.
    pub(crate) fn config(&self) -> TargetConfig {
        let mut config = TargetConfig::new(self.base_url.parse().unwrap(), KEY);
        config.read_only_api_key = Some(KEY.replace("a1", "r1"));
        config.other_api_key = Some(KEY.replace("a1", "o1"));
        config.revoked_api_key = Some(KEY.replace("a1", "v1"));
        config.timeout = Duration::from_secs(2);
        config
    }

    pub(crate) fn target(&self) -> Arc<Target> {
        self.target_with(RunOptions::default())
    }

    pub(crate) fn target_with(&self, options: RunOptions) -> Arc<Target> {
        Target::new(TargetConfig { options, ..self.config() }).unwrap().into()
    }
}

async fn serve(stream: TcpStream, answer: impl Fn(String) -> Answer) -> Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some(line) = read(&mut stream).await? {
        let answer = answer(line);
        let (status, head, body) = match answer {
            Answer::Json(status, body) => (status, "content-type: application/json".into(), body),
            Answer::Html(status, body) => (status, "content-type: text/html".into(), body.into()),
            Answer::With(status, head, body) => {
                (status, format!("content-type: application/json\r\n{head}"), body)
            }
            Answer::Redirect(to) => (308, format!("location: {to}"), String::new()),
            Answer::Hang => pending().await,
            Answer::Reset => return Ok(()),
            Answer::Garbage => {
                return stream.write_all(b"\x16\x03\x01 220 who are you? \x00\xff\r\n\r\n").await;
            }
            Answer::HangAfterHead | Answer::Drip | Answer::Endless => {
                return begin_a_body(stream.get_mut(), &answer).await;
            }
        };
        let length = body.len();
        let whole =
            format!("HTTP/1.1 {status} x\r\n{head}\r\ncontent-length: {length}\r\n\r\n{body}");
        stream.write_all(whole.as_bytes()).await?;
    }
    Ok(())
}

/// Writes a good head and then, in one of the bad ways, a body.
async fn begin_a_body(stream: &mut TcpStream, answer: &Answer) -> Result<()> {
    stream.write_all(b"HTTP/1.1 200 x\r\ncontent-type: application/json\r\n\r\n{").await?;
    loop {
        match answer {
            Answer::Drip => {
                tokio::time::sleep(Duration::from_secs(1)).await;
                stream.write_all(b" ").await?;
            }
            Answer::Endless => stream.write_all(&[b' '; 64 << 10]).await?,
            _ => pending().await,
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Result<Option<String>> {
    let (mut first, mut length) = (String::new(), 0);
    if stream.read_line(&mut first).await? == 0 {
        return Ok(None);
    }
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        match line.trim_end().split_once(':') {
            Some(("content-length", value)) => length = value.trim_start().parse().unwrap(),
            Some(_) => {}
            None => break,
        }
    }
    stream.read_exact(&mut vec![0; length]).await?;
    Ok(Some(first.trim_end().trim_end_matches(" HTTP/1.1").replace("/api/v1", "")))
}
