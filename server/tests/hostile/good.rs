//! A client with an account of its own that does ordinary things all the time. It has a thread of
//! its own, so that it measures the server and not the attacker.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use futures::future::join;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::report::Seen;
use crate::support::TIMEOUT;
use crate::support::http::{Http, Outcome, Request};
use crate::target::GOOD;

/// Between two rounds of requests, two generations, and two requests for a status.
const PAUSE: Duration = Duration::from_millis(20);
/// Generations before the attack.
const UNDISTURBED: usize = 3;

pub(crate) struct GoodClient {
    stop: Arc<AtomicBool>,
    undisturbed: Vec<Duration>,
    running: JoinHandle<Seen>,
}

impl GoodClient {
    /// Returns when it has seen how long generations take without an attack.
    pub(crate) async fn start(address: String) -> Self {
        let (stop, (ready, undisturbed)) = (Arc::<AtomicBool>::default(), oneshot::channel());
        let stopped = stop.clone();
        let running = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let session = Session { http: Http::default(), address, seen: RefCell::default() };
            runtime.unwrap().block_on(async {
                for _ in 0..UNDISTURBED {
                    session.step().await;
                    session.generation().await;
                }
                let before = session.seen.take();
                assert!(before.errors.is_empty(), "before the attack: {:?}", before.errors);
                ready.send(before.jobs).unwrap();
                let steps = repeat(&stopped, async || session.step().await);
                join(steps, repeat(&stopped, async || session.generation().await)).await;
                session.seen.take()
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

/// Repeats a step at least once, until the client is stopped.
async fn repeat(stopped: &AtomicBool, step: impl AsyncFn()) {
    loop {
        step().await;
        if stopped.load(Ordering::Relaxed) {
            return;
        }
        sleep(PAUSE).await;
    }
}

struct Session {
    http: Http,
    address: String,
    seen: RefCell<Seen>,
}

impl Session {
    async fn step(&self) {
        let prompt = json!({ "title": "Harbour", "prompt": "A harbour at dawn" });
        let created = self.call("POST", "/prompts", prompt, 201).await;
        self.get(&format!("/prompts/{}", created["data"]["id"])).await;
        self.get("/prompts?limit=5").await;
        self.get("/vaults").await;
        self.upload().await;
    }

    /// A generation from the request to its end.
    async fn generation(&self) {
        let begin = Instant::now();
        let generation = json!({ "modelId": "local/picture", "prompt": "A harbour" });
        let job = self.call("POST", "/generations", generation, 202).await;
        let name = job["data"]["clientJobId"].as_str().unwrap_or("?");
        let status = format!("/generations/{name}/status");
        while begin.elapsed() < TIMEOUT {
            match self.get(&status).await["data"]["status"].as_str() {
                Some("queued" | "in_progress") => sleep(PAUSE).await,
                Some("completed") => return self.seen.borrow_mut().jobs.push(begin.elapsed()),
                other => return self.fault(format!("a generation is {other:?}")),
            }
        }
        self.fault("a generation has no end".to_owned());
    }

    async fn upload(&self) {
        let wanted = json!({ "contentType": "image/png", "size": 1000 });
        let slot = self.call("POST", "/uploads/images", wanted, 201).await;
        let text = |name: &str| slot["data"][name].as_str().unwrap_or_default();
        let url = text("uploadUrl");
        let path = url.find("/storage/").map_or("", |at| &url[at..]);
        let put = self.http.put(&self.address, path, text("token"), &[7; 1000]);
        let (time, _) = self.timed("PUT", put, 200).await;
        self.seen.borrow_mut().uploads.push(time);
    }

    async fn get(&self, path: &str) -> Value {
        self.call("GET", path, Value::Null, 200).await
    }

    async fn call(&self, method: &str, path: &str, body: Value, expected: u16) -> Value {
        let request = Request::new(method, path, body);
        let call = self.http.call(&self.address, GOOD, &request);
        let (time, body) = self.timed(path, call, expected).await;
        self.seen.borrow_mut().requests.push(time);
        body
    }

    /// The time that a request took, and the JSON of the response.
    async fn timed(
        &self,
        what: &str,
        outcome: impl Future<Output = Outcome>,
        expected: u16,
    ) -> (Duration, Value) {
        let begin = Instant::now();
        let outcome = outcome.await;
        let time = begin.elapsed();
        let fault = match outcome {
            Outcome::Response(response) if response.status == expected => {
                return (time, serde_json::from_str(&response.body).unwrap_or_default());
            }
            Outcome::Response(response) => response.summary(),
            other => format!("{other:?}"),
        };
        self.fault(format!("{what}: {fault}"));
        (time, Value::Null)
    }

    fn fault(&self, what: String) {
        self.seen.borrow_mut().errors.push(what);
    }
}
