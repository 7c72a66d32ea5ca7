//! Many tasks with one client, and a service that limits the rate.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use http::{HeaderValue, Request, Response};
use promptarium::transport::{Body, Failure, Transport};
use promptarium::{Client, ClientBuilder, Error, RetryBudget, RetryPolicy};
use tokio::time::{Instant, sleep};

use crate::stub::{envelope, prompt, response};

const SECOND: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug)]
enum Limiter {
    /// Each second starts with this many requests that are allowed.
    FixedWindow(u32),
    /// This many requests are allowed each second, and as many at once.
    TokenBucket(u32),
}

/// A service with a rate limit, which takes some time for each request.
#[derive(Clone)]
struct Limited(Arc<Service>);

struct Service {
    limiter: Limiter,
    retry_after: Option<&'static str>,
    start: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    window: u64,
    tokens: f64,
    filled: Duration,
    accepted: Vec<Duration>,
    refused: Vec<Duration>,
}

impl Limited {
    fn new(limiter: Limiter, retry_after: Option<&'static str>) -> Self {
        let state = State { window: u64::MAX, ..State::default() };
        let (start, state) = (Instant::now(), Mutex::new(state));
        Self(Arc::new(Service { limiter, retry_after, start, state }))
    }

    fn builder(&self) -> ClientBuilder {
        let builder = Client::builder().base_url("http://h/api/v1").api_key("k");
        builder.transport(self.clone()).overall_timeout(Duration::MAX)
    }

    /// The requests that were accepted and refused after this time.
    fn after(&self, time: Duration) -> (usize, usize) {
        let state = self.0.state.lock().unwrap();
        let after = |times: &[Duration]| times.iter().filter(|at| **at > time).count();
        (after(&state.accepted), after(&state.refused))
    }
}

impl Service {
    fn allows(&self) -> bool {
        let (now, mut state) = (self.start.elapsed(), self.state.lock().unwrap());
        let rate = match self.limiter {
            Limiter::FixedWindow(rate) => {
                if state.window != now.as_secs() {
                    (state.window, state.tokens) = (now.as_secs(), f64::from(rate));
                }
                rate
            }
            Limiter::TokenBucket(rate) => {
                let full = f64::from(rate);
                let earned = (now - state.filled).as_secs_f64() * full;
                let tokens = if state.window == u64::MAX { full } else { state.tokens + earned };
                (state.tokens, state.filled, state.window) = (tokens.min(full), now, 0);
                rate
            }
        };
        assert!(rate > 0);
        let allowed = state.tokens >= 1.0;
        if allowed {
            state.tokens -= 1.0;
            state.accepted.push(now);
        } else {
            state.refused.push(now);
        }
        allowed
    }
}

impl Transport for Limited {
    fn send(&self, _: Request<Body>) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
        let service = self.0.clone();
        Box::pin(async move {
            sleep(Duration::from_millis(5)).await;
            let allowed = service.allows();
            sleep(Duration::from_millis(15)).await;
            if allowed {
                return Ok(response(201, envelope(&prompt(7)).to_string()));
            }
            let mut refused = response(429, "");
            if let Some(after) = service.retry_after {
                refused.headers_mut().insert("retry-after", HeaderValue::from_static(after));
            }
            Ok(refused)
        })
    }
}

/// Creates this many prompts in this many tasks. Returns the results and the time that each task
/// took.
async fn create(client: &Client, tasks: usize, prompts: usize) -> (Vec<Result<(), Error>>, Vec<f64>) {
    let start = Instant::now();
    let tasks = (0..tasks).map(|task| {
        let client = client.clone();
        let share = (task..prompts).step_by(tasks).count();
        tokio::spawn(async move {
            let mut outcomes = Vec::new();
            for _ in 0..share {
                outcomes.push(client.prompts().create("Dusk", "A harbour").await.map(drop));
            }
            (outcomes, start.elapsed().as_secs_f64())
        })
    });
    let done = join_all(tasks).await.into_iter().map(Result::unwrap);
    let (outcomes, times): (Vec<_>, Vec<_>) = done.unzip();
    (outcomes.into_iter().flatten().collect(), times)
}

#[tokio::test(start_paused = true)]
async fn many_tasks_share_a_rate_limit_and_none_fails_or_starves() {
    let cases = [
        (64, 50, 1000),
        (16, 200, 3000),
        (64, 5, 200),
    ];
    for (tasks, rate, prompts) in cases {
        for limiter in [Limiter::FixedWindow(rate), Limiter::TokenBucket(rate)] {
            let service = Limited::new(limiter, Some("1"));
            let client = service.builder().build().unwrap();
            let (outcomes, times) = create(&client, tasks, prompts).await;
            let failed: Vec<_> = outcomes.into_iter().filter_map(Result::err).collect();
            assert!(failed.is_empty(), "{limiter:?}: {} failed: {}", failed.len(), failed[0]);

            let (accepted, refused) = service.after(SECOND);
            let share = refused as f64 / (accepted + refused) as f64;
            let slowest = times.iter().copied().fold(0.0, f64::max);
            let fastest = times.iter().copied().fold(f64::MAX, f64::min);
            let ideal = prompts as f64 / f64::from(rate);
            println!("{tasks} {limiter:?}: refused {refused} of {} after 1 s ({share:.3}), {fastest:.1} to {slowest:.1} s, ideal {ideal:.1}, {:?}", accepted + refused, client.pressure());
            assert!(share < 0.05, "{limiter:?}: {refused} refused, {accepted} accepted");
            assert!(slowest < 1.5 * fastest, "{limiter:?}: {fastest} to {slowest}");
            assert!(slowest < 2.0 * ideal + 2.0, "{limiter:?}: {slowest} of {ideal}");
            let pressure = client.pressure();
            assert_eq!(pressure.waiting, 0);
            assert!(pressure.rate.is_some_and(|limit| limit > 0.0), "{pressure:?}");
            assert_eq!(pressure.retries_left, Some(80), "a rate limit costs no retry");
        }
    }
}
