//! A client with an account of its own that does ordinary things all the time.

use std::time::{Duration, Instant};

use reqwest::{Client, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::target::GOOD;

/// Between two rounds of requests.
const PAUSE: Duration = Duration::from_millis(20);
/// 99 of 100 requests take less. A debug build takes 10 to 20 times as long for what it parses,
/// digests and writes, and shares the machine with other tests.
const P99_MAX: Duration = Duration::from_millis(if cfg!(debug_assertions) { 5_000 } else { 250 });
/// An upload waits for the disk, which other uploads keep busy.
const UPLOAD_MAX: Duration = Duration::from_secs(5);
const REQUESTS_MIN: usize = 5;

pub(crate) struct GoodClient {
    stop: oneshot::Sender<()>,
    running: JoinHandle<Report>,
}

/// What it saw.
#[derive(Default)]
pub(crate) struct Report {
    times: Vec<Duration>,
    uploads: Vec<Duration>,
    errors: Vec<String>,
}

struct Session {
    client: Client,
    base_url: String,
    report: Report,
}

impl GoodClient {
    pub(crate) fn start(base_url: &str) -> Self {
        let client = Client::builder().timeout(Duration::from_secs(30)).build().unwrap();
        let mut session =
            Session { client, base_url: base_url.to_owned(), report: Report::default() };
        let (stop, mut stopped) = oneshot::channel();
        let running = tokio::spawn(async move {
            while stopped
                .try_recv()
                .is_err_and(|error| error == oneshot::error::TryRecvError::Empty)
            {
                session.work().await;
                sleep(PAUSE).await;
            }
            session.report
        });
        Self { stop, running }
    }

    pub(crate) async fn stop(self) -> Report {
        self.stop.send(()).unwrap();
        self.running.await.unwrap()
    }
}

impl Session {
    async fn work(&mut self) {
        let prompt = json!({ "title": "Harbour", "prompt": "A harbour at dawn" });
        let created = self.post("/prompts", &prompt, StatusCode::CREATED).await;
        let id = &created["data"]["id"];
        self.get(&format!("/prompts/{id}")).await;
        self.get("/prompts?limit=5").await;
        let generation = json!({ "modelId": "local/fail", "prompt": "A harbour" });
        self.post("/generations", &generation, StatusCode::ACCEPTED).await;
        self.upload().await;
    }

    async fn upload(&mut self) {
        let wanted = json!({ "contentType": "image/png", "size": 1000 });
        let slot = self.post("/uploads/images", &wanted, StatusCode::CREATED).await;
        let text = |name: &str| slot["data"][name].as_str().unwrap_or_default();
        let put = self.client.put(text("uploadUrl")).bearer_auth(text("token"));
        let put = put.header("content-type", "image/png").body(vec![7; 1000]);
        self.send("PUT", put, StatusCode::OK).await;
    }

    async fn post(&mut self, path: &str, body: &Value, expected: StatusCode) -> Value {
        let request = self.client.post(format!("{}{path}", self.base_url)).json(body);
        self.send(path, request.bearer_auth(GOOD), expected).await
    }

    async fn get(&mut self, path: &str) {
        let request = self.client.get(format!("{}{path}", self.base_url)).bearer_auth(GOOD);
        self.send(path, request, StatusCode::OK).await;
    }

    async fn send(&mut self, what: &str, request: RequestBuilder, expected: StatusCode) -> Value {
        let begin = Instant::now();
        let outcome = async {
            let response = request.send().await?;
            Ok::<_, reqwest::Error>((response.status(), response.bytes().await?))
        };
        let outcome = outcome.await;
        let Report { times, uploads, .. } = &mut self.report;
        if what == "PUT" { uploads } else { times }.push(begin.elapsed());
        match outcome {
            Ok((status, body)) if status == expected => {
                serde_json::from_slice(&body).unwrap_or_default()
            }
            Ok((status, body)) => {
                let body = String::from_utf8_lossy(&body);
                self.report.errors.push(format!("{what}: {status} {body}"));
                Value::Null
            }
            Err(error) => {
                self.report.errors.push(format!("{what}: {error:?}"));
                Value::Null
            }
        }
    }
}

impl Report {
    fn p99(&self) -> Duration {
        let mut times = self.times.clone();
        times.sort_unstable();
        times[(times.len() * 99).div_ceil(100) - 1]
    }

    pub(crate) fn check(&self) {
        assert!(self.errors.is_empty(), "{:#?}", self.errors);
        assert!(self.times.len() >= REQUESTS_MIN, "{} requests", self.times.len());
        assert!(self.p99() < P99_MAX, "{self:?}");
        assert!(self.uploads.iter().all(|time| *time < UPLOAD_MAX), "{self:?}");
    }
}

impl std::fmt::Debug for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (count, errors) = (self.times.len(), self.errors.len());
        let [slowest, upload] = [&self.times, &self.uploads].map(|times| times.iter().max());
        write!(f, "{count} requests, {errors} errors, p99 {:?}, ", self.p99())?;
        write!(f, "slowest {slowest:?}, slowest upload {upload:?}")
    }
}
