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

use crate::report::Report;
use crate::support::TIMEOUT;
use crate::support::client::{Response, Slot};
use crate::support::http::{Http, Outcome, json_request};
use crate::target::GOOD;

/// Between two rounds of requests, two generations, and two requests for a status.
const PAUSE: Duration = Duration::from_millis(20);
/// Generations before the attack.
const UNDISTURBED: usize = 3;

pub(crate) struct GoodClient {
    stop: Arc<AtomicBool>,
    running: JoinHandle<Report>,
}

impl GoodClient {
    /// Returns when it has seen how long generations take without an attack.
    pub(crate) async fn start(address: String) -> Self {
        let (stop, (ready, is_ready)) = (Arc::<AtomicBool>::default(), oneshot::channel());
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
                ready.send(()).unwrap();
                let steps = repeat(&stopped, async || session.step().await);
                join(steps, repeat(&stopped, async || session.generation().await)).await;
                Report { undisturbed: before.jobs, ..session.seen.take() }
            })
        });
        is_ready.await.unwrap();
        Self { stop, running }
    }

    /// What it saw.
    pub(crate) async fn stop(self) -> Report {
        self.stop.store(true, Ordering::Relaxed);
        tokio::task::spawn_blocking(|| self.running.join().unwrap()).await.unwrap()
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
    seen: RefCell<Report>,
}

impl Session {
    async fn step(&self) {
        let prompt = json!({ "title": "Harbour", "prompt": "A harbour at dawn" });
        let created = self.call("POST", "/prompts", prompt, 201).await;
        let id = created.map(|prompt| prompt.data()["id"].clone()).unwrap_or_default();
        for path in [&*format!("/prompts/{id}"), "/prompts?limit=5", "/vaults"] {
            self.call("GET", path, Value::Null, 200).await;
        }
        let wanted = json!({ "contentType": "image/png", "size": 1000 });
        let Some(slot) = self.call("POST", "/uploads/images", wanted, 201).await else { return };
        let slot = Slot::parse(&slot, &format!("http://{}", self.address));
        self.timed("PUT", slot.put_request(&[7; 1000]), 200, |seen| &mut seen.uploads).await;
    }

    /// A generation from the request to its end.
    async fn generation(&self) {
        let begin = Instant::now();
        let generation = json!({ "modelId": "local/picture", "prompt": "A harbour" });
        let Some(job) = self.call("POST", "/generations", generation, 202).await else { return };
        let path = format!(
            "/generations/{}/status",
            job.data()["clientJobId"].as_str().unwrap_or_default()
        );
        while begin.elapsed() < TIMEOUT {
            let job = self.call("GET", &path, Value::Null, 200).await;
            let job = job.map(|job| job.data()).unwrap_or_default();
            match job["status"].as_str() {
                Some("queued" | "in_progress") => sleep(PAUSE).await,
                Some("completed") => return self.seen.borrow_mut().jobs.push(begin.elapsed()),
                other => return self.fault(format!("a generation is {other:?}")),
            }
        }
        self.fault("a generation has no end".to_owned());
    }

    async fn call(&self, method: &str, path: &str, body: Value, expected: u16) -> Option<Response> {
        let request = json_request(GOOD, method, path, body);
        self.timed(path, request, expected, |seen| &mut seen.requests).await
    }

    /// The expected response; adds the time that it took.
    async fn timed(
        &self,
        what: &str,
        request: impl AsRef<[u8]>,
        expected: u16,
        times: fn(&mut Report) -> &mut Vec<Duration>,
    ) -> Option<Response> {
        let begin = Instant::now();
        let outcome = self.http.send(&self.address, request).await;
        times(&mut self.seen.borrow_mut()).push(begin.elapsed());
        let fault = match outcome {
            Outcome::Response(response) if response.status == expected => return Some(response),
            Outcome::Response(response) => response.summary(),
            other => format!("{other:?}"),
        };
        self.fault(format!("{what}: {fault}"));
        None
    }

    fn fault(&self, what: String) {
        self.seen.borrow_mut().errors.push(what);
    }
}
