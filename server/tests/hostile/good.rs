//! A client with an account of its own that does ordinary things all the time. It has a thread of
//! its own, so that it measures the server and not the attacker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use futures::future::join;
use reqwest::{Client, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::TIMEOUT;
use crate::report::Seen;
use crate::target::GOOD;

/// Between two rounds of requests, and between two generations.
const PAUSE: Duration = Duration::from_millis(20);
/// Between two requests for the status of a generation.
const POLL: Duration = Duration::from_millis(20);
/// Generations before the attack.
const UNDISTURBED: usize = 3;

pub(crate) struct GoodClient {
    stop: Arc<AtomicBool>,
    undisturbed: Vec<Duration>,
    running: JoinHandle<Seen>,
}

impl GoodClient {
    /// Returns when it has seen how long generations take without an attack.
    pub(crate) async fn start(base_url: &str) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (ready, undisturbed) = oneshot::channel();
        let session = |client: &Client| Session {
            client: client.clone(),
            base_url: base_url.to_owned(),
            stop: stop.clone(),
            seen: Seen::default(),
        };
        let client = Client::builder().timeout(TIMEOUT / 2).build().unwrap();
        let (mut requests, mut jobs) = (session(&client), session(&client));
        let running = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                for _ in 0..UNDISTURBED {
                    requests.step().await;
                    jobs.generation().await;
                }
                assert!(jobs.seen.errors.is_empty(), "before the attack: {:?}", jobs.seen.errors);
                ready.send(std::mem::take(&mut jobs.seen).jobs).unwrap();
                requests.seen = Seen::default();
                join(requests.repeat(Session::step), jobs.repeat(Session::generation)).await;
                requests.seen.with(jobs.seen)
            })
        });
        Self { stop, undisturbed: undisturbed.await.unwrap(), running }
    }

    /// The times of generations before the attack, and what it saw since then.
    pub(crate) async fn stop(self) -> (Vec<Duration>, Seen) {
        self.stop.store(true, Ordering::Relaxed);
        let seen = tokio::task::spawn_blocking(|| self.running.join().unwrap());
        (self.undisturbed, seen.await.unwrap())
    }
}

struct Session {
    client: Client,
    base_url: String,
    stop: Arc<AtomicBool>,
    seen: Seen,
}

impl Session {
    /// Repeats a step at least once, until the client is stopped.
    async fn repeat(&mut self, step: impl AsyncFn(&mut Self)) {
        loop {
            step(self).await;
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            sleep(PAUSE).await;
        }
    }

    async fn step(&mut self) {
        let prompt = json!({ "title": "Harbour", "prompt": "A harbour at dawn" });
        let created = self.post("/prompts", &prompt, StatusCode::CREATED).await;
        let id = &created["data"]["id"];
        self.get(&format!("/prompts/{id}")).await;
        self.get("/prompts?limit=5").await;
        self.get("/vaults").await;
        self.upload().await;
    }

    /// A generation from the request to its end.
    async fn generation(&mut self) {
        let begin = Instant::now();
        let generation = json!({ "modelId": "local/picture", "prompt": "A harbour" });
        let job = self.post("/generations", &generation, StatusCode::ACCEPTED).await;
        let status =
            format!("/generations/{}/status", job["data"]["clientJobId"].as_str().unwrap_or("?"));
        while begin.elapsed() < TIMEOUT {
            match self.get(&status).await["data"]["status"].as_str() {
                Some("queued" | "in_progress") => sleep(POLL).await,
                Some("completed") => return self.seen.jobs.push(begin.elapsed()),
                other => return self.seen.errors.push(format!("a generation is {other:?}")),
            }
        }
        self.seen.errors.push("a generation has no end".to_owned());
    }

    async fn upload(&mut self) {
        let wanted = json!({ "contentType": "image/png", "size": 1000 });
        let slot = self.post("/uploads/images", &wanted, StatusCode::CREATED).await;
        let text = |name: &str| slot["data"][name].as_str().unwrap_or_default();
        let put = self.client.put(text("uploadUrl")).bearer_auth(text("token"));
        let put = put.header("content-type", "image/png").body(vec![7; 1000]);
        let (time, _) = self.send("PUT", put, StatusCode::OK).await;
        self.seen.uploads.push(time);
    }

    async fn post(&mut self, path: &str, body: &Value, expected: StatusCode) -> Value {
        let request = self.client.post(format!("{}{path}", self.base_url)).json(body);
        self.timed(path, request, expected).await
    }

    async fn get(&mut self, path: &str) -> Value {
        let request = self.client.get(format!("{}{path}", self.base_url));
        self.timed(path, request, StatusCode::OK).await
    }

    async fn timed(&mut self, path: &str, request: RequestBuilder, expected: StatusCode) -> Value {
        let (time, body) = self.send(path, request.bearer_auth(GOOD), expected).await;
        self.seen.requests.push(time);
        body
    }

    /// The time that a request took, and the JSON of the response.
    async fn send(
        &mut self,
        what: &str,
        request: RequestBuilder,
        expected: StatusCode,
    ) -> (Duration, Value) {
        let begin = Instant::now();
        let outcome = async {
            let response = request.send().await?;
            Ok::<_, reqwest::Error>((response.status(), response.bytes().await?))
        };
        let outcome = outcome.await;
        let body = match outcome {
            Ok((status, body)) if status == expected => {
                serde_json::from_slice(&body).unwrap_or_default()
            }
            Ok((status, body)) => {
                let body = String::from_utf8_lossy(&body);
                self.seen.errors.push(format!("{what}: {status} {body}"));
                Value::Null
            }
            Err(error) => {
                self.seen.errors.push(format!("{what}: {error:?}"));
                Value::Null
            }
        };
        (begin.elapsed(), body)
    }
}
