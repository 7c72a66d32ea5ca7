//! A target of a few lines, which answers whatever a test wants.

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use promptarium_conformance::{Report, Run, RunOptions, Scenario, Target, TargetConfig};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::isolation::selection;

/// A key nobody could mistake for text.
pub(crate) const KEY: &str = "acme_live_a1_c4n4ryThatMustNotShowAnywhere0123456789";

/// What the stub does with a request.
#[derive(Clone)]
pub(crate) enum Answer {
    Json(u16, String),
    Html(u16, &'static str),
    /// Status, further header lines, and a body that says it is JSON.
    With(u16, String, String),
    Redirect(&'static str),
    Hang,
    Reset,
    /// The head of an answer and nothing of its body.
    HangAfterHead,
    /// A body of which one byte comes every second.
    Drip,
    /// A body without an end.
    Endless,
    /// Bytes that are no HTTP.
    Garbage,
}

/// A request as the stub saw it.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Method and path, query included.
    pub(crate) line: String,
}

/// A running stub; it ends with the test's runtime.
pub(crate) struct Stub {
    pub(crate) base_url: String,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Stub {
    pub(crate) async fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/api/v1", listener.local_addr().unwrap());
        let seen = Arc::<Mutex<Vec<Request>>>::default();
        let (answer, log) = (Arc::new(answer), Arc::clone(&seen));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
                tokio::spawn(async move {
                    let seen = |request: Request| {
                        log.lock().unwrap().push(request.clone());
                        answer(&request)
                    };
                    let _ = serve(stream, seen).await;
                });
            }
        });
        Self { base_url, seen }
    }

    /// The request lines so far.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().iter().map(|request| request.line.clone()).collect()
    }

    /// What comes of these scenarios.
    pub(crate) async fn run(&self, scenarios: &[&'static Scenario]) -> Report {
        Run::new(self.target(), selection(scenarios)).run(pending(), |_, _| {}).await
    }

    /// The stub as a target that is not waited for long, but for longer than a busy machine stalls.
    pub(crate) fn target(&self) -> Arc<Target> {
        self.target_with(RunOptions::default())
    }

    pub(crate) fn target_with(&self, options: RunOptions) -> Arc<Target> {
        let mut config = TargetConfig::new(self.base_url.parse().unwrap(), KEY);
        config.read_only_api_key = Some(KEY.replace("a1", "r1"));
        config.other_api_key = Some(KEY.replace("a1", "o1"));
        config.revoked_api_key = Some(KEY.replace("a1", "v1"));
        config.timeout = Duration::from_secs(2);
        config.options = options;
        Arc::new(Target::new(config).unwrap())
    }
}

async fn serve(stream: TcpStream, answer: impl Fn(Request) -> Answer) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read(&mut stream).await? {
        let answered = answer(request);
        let (status, more, body) = match answered.clone() {
            Answer::Json(status, body) => (status, "content-type: application/json".into(), body),
            Answer::Html(status, body) => (status, "content-type: text/html".into(), body.into()),
            Answer::With(status, headers, body) => {
                (status, format!("content-type: application/json\r\n{headers}"), body)
            }
            Answer::Redirect(to) => (308, format!("location: {to}"), String::new()),
            Answer::Hang => std::future::pending().await,
            Answer::Reset => return Ok(()),
            Answer::Garbage => {
                stream
                    .get_mut()
                    .write_all(b"\x16\x03\x01 220 who are you? \x00\xff\r\n\r\n")
                    .await?;
                return Ok(());
            }
            Answer::HangAfterHead | Answer::Drip | Answer::Endless => {
                return begin_a_body(stream.get_mut(), &answered).await;
            }
        };
        let head =
            format!("HTTP/1.1 {status} x\r\n{more}\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.get_mut().write_all((head + &body).as_bytes()).await?;
    }
    Ok(())
}

/// Writes a good head and then, in one of the bad ways, a body.
async fn begin_a_body(stream: &mut TcpStream, answer: &Answer) -> std::io::Result<()> {
    let head = "HTTP/1.1 200 x\r\ncontent-type: application/json\r\n\r\n{";
    stream.write_all(head.as_bytes()).await?;
    loop {
        match answer {
            Answer::Drip => {
                tokio::time::sleep(Duration::from_secs(1)).await;
                stream.write_all(b" ").await?;
            }
            Answer::Endless => stream.write_all(&[b' '; 64 << 10]).await?,
            _ => std::future::pending().await,
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> std::io::Result<Option<Request>> {
    let mut first = String::new();
    if stream.read_line(&mut first).await? == 0 {
        return Ok(None);
    }
    let mut length = 0;
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
    let line = first.trim_end().trim_end_matches(" HTTP/1.1").replace("/api/v1", "");
    Ok(Some(Request { line }))
}
