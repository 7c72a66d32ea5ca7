//! Many tasks with one client, and a service that limits the rate.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use http::{HeaderValue, Request, Response};
use promptarium::testing::{Answer, Script, builder, client, fixture};
use promptarium::transport::{Body, Failure, Transport};
use promptarium::{Client, ClientBuilder, Error, Outcome, PromptId, RetryBudget, RetryPolicy};
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
async fn create(
    client: &Client,
    tasks: usize,
    prompts: usize,
) -> (Vec<Result<(), Error>>, Vec<f64>) {
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
    for (tasks, rate, prompts) in [(64, 50, 1000), (16, 200, 3000), (64, 5, 256)] {
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

fn slow_down() -> Answer {
    Answer::error(429, "slow down")
}

async fn get(client: &Client) -> Result<u32, Error> {
    let got = client.prompts().get(PromptId::new(7)).send_with_meta().await?;
    Ok(got.meta.attempts())
}

#[tokio::test(start_paused = true)]
async fn responses_429_with_retry_after_count_neither_as_attempts_nor_in_the_budget() {
    let script = Script::new();
    let mut answers = script.get("/prompts/7");
    for _ in 0..6 {
        answers = answers.answer(slow_down().retry_after(SECOND));
    }
    answers.always(Answer::data(&fixture::prompt()));
    let client = builder(&script).retry_budget(RetryBudget::new().reserve(0)).build().unwrap();
    assert_eq!(get(&client).await.unwrap(), 7);
    assert_eq!(client.pressure().retries_left, Some(0));
}

#[tokio::test(start_paused = true)]
async fn responses_429_without_retry_after_count_as_attempts_and_in_the_budget() {
    let script = Script::new();
    script.any().always(slow_down());
    let client = client(&script);
    let error = get(&client).await.unwrap_err();
    assert_eq!((error.attempts(), client.pressure().retries_left), (3, Some(78)));
    assert_eq!(error.outcome(), Outcome::NotDone);
}

#[tokio::test(start_paused = true)]
async fn a_policy_without_retries_makes_429_final() {
    let script = Script::new();
    script.any().always(slow_down().retry_after(SECOND));
    let client = builder(&script).retry(RetryPolicy::never()).build().unwrap();
    let error = get(&client).await.unwrap_err();
    assert_eq!((error.attempts(), error.retry_after()), (1, Some(SECOND)));
    assert_eq!(script.calls().len(), 1);
    assert!(error.is_rate_limited() && error.is_retryable());
}

#[tokio::test(start_paused = true)]
async fn an_empty_budget_is_named_in_the_error() {
    let script = Script::new();
    script.any().always(Answer::error(503, "busy"));
    let client = builder(&script).retry_budget(RetryBudget::new().reserve(1)).build().unwrap();
    let error = get(&client).await.unwrap_err();
    insta::assert_snapshot!(error, @"GET /prompts/{promptId}: 503 Service Unavailable: busy (after 2 attempts, not retried, as the retry budget of the client is empty)");
    // One that ends after its attempts or is not retried does not blame the budget.
    let mut error = get(&builder(&script).build().unwrap()).await.unwrap_err();
    assert!(!error.to_string().contains("budget"), "{error}");
    error = client.prompts().create("t", "p").await.unwrap_err();
    assert!(!error.to_string().contains("budget"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn all_clones_pause_together_and_show_it() {
    let script = Script::new();
    let answers = script.get("/prompts/7").answer(Answer::data(&fixture::prompt()));
    let answers = answers.answer(slow_down().retry_after(5 * SECOND));
    answers.always(Answer::data(&fixture::prompt()));
    let client = client(&script);
    assert_eq!(client.pressure().rate, None);
    get(&client).await.unwrap();
    let refused = tokio::spawn({
        let client = client.clone();
        async move { get(&client).await }
    });
    sleep(Duration::from_millis(10)).await;
    let (start, clone) = (Instant::now(), client.clone());
    let waiting = tokio::spawn(async move { get(&clone).await });
    sleep(SECOND).await;
    let pressure = client.pressure();
    assert_eq!(pressure.waiting, 1);
    assert!(pressure.paused_for > 3 * SECOND && pressure.paused_for < 5 * SECOND, "{pressure:?}");
    assert!(pressure.rate.is_some());
    assert_eq!(script.calls().len(), 2);
    assert_eq!(waiting.await.unwrap().unwrap(), 1);
    assert!(start.elapsed() > 4 * SECOND && start.elapsed() < 8 * SECOND, "{:?}", start.elapsed());
    assert_eq!(refused.await.unwrap().unwrap(), 2);
    assert_eq!((client.pressure().waiting, client.pressure().paused_for), (0, Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_while_it_waits_for_its_turn_holds_up_no_other() {
    let script = Script::new();
    let answers = script.get("/prompts/7").answer(slow_down().retry_after(2 * SECOND));
    answers.always(Answer::data(&fixture::prompt()));
    let client = client(&script);
    let first = get(&client);
    let dropped = async {
        sleep(Duration::from_millis(10)).await;
        let both = futures::future::join(get(&client), get(&client));
        tokio::time::timeout(SECOND, Box::pin(both)).await.unwrap_err();
    };
    let (first, ()) = futures::future::join(first, Box::pin(dropped)).await;
    first.unwrap();
    assert_eq!(client.pressure().waiting, 0);
    assert_eq!(script.calls().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_time_ends_before_its_turn_was_not_sent() {
    let script = Script::new();
    script.any().always(slow_down().retry_after(30 * SECOND));
    let client = client(&script);
    let outcomes = join_all((0..2).map(|number| {
        let client = client.clone();
        async move {
            sleep(number * SECOND).await;
            client.prompts().create("t", "p").timeout(5 * SECOND).await.unwrap_err()
        }
    }));
    let [refused, waiting] = &outcomes.await[..] else { panic!() };
    assert!(refused.is_rate_limited() && refused.attempts() == 1, "{refused}");
    insta::assert_snapshot!(waiting, @"POST /prompts: timed out after 5s (timeout) while the client paused for the rate limit of the service");
    assert_eq!((waiting.attempts(), waiting.outcome()), (0, Outcome::NotDone));
    assert!(waiting.is_timeout() && waiting.is_retryable());
    assert_eq!(script.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_retry_after_that_is_too_long_fails_one_call_and_pauses_no_other() {
    let script = Script::new();
    let answers = script.get("/prompts/7").answer(slow_down().retry_after(3600 * SECOND));
    answers.always(Answer::data(&fixture::prompt()));
    let (client, start) = (client(&script), Instant::now());
    assert!(get(&client).await.unwrap_err().is_rate_limited());
    get(&client).await.unwrap();
    assert!(start.elapsed() < SECOND, "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_client_whose_first_request_is_refused_is_not_slow_for_long() {
    let script = Script::new();
    let answers = script.get("/prompts/7").answer(slow_down().retry_after(SECOND));
    answers.always(Answer::data(&fixture::prompt()));
    let (client, start) = (client(&script), Instant::now());
    for _ in 0..20 {
        get(&client).await.unwrap();
    }
    assert!(start.elapsed() < 30 * SECOND, "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_429_without_end_is_bounded_by_the_policy() {
    let attempts = async |policy: RetryPolicy| {
        let script = Script::new();
        script.any().always(Answer::error(429, "slow down").retry_after(SECOND));
        let client = builder(&script).overall_timeout(Duration::MAX).retry(policy).build().unwrap();
        let start = Instant::now();
        let error = client.prompts().create("t", "p").await.unwrap_err();
        assert!(error.is_rate_limited() && error.outcome() == Outcome::NotDone, "{error}");
        (start.elapsed().as_secs(), error.attempts())
    };
    let policy = RetryPolicy::new().max_attempts(3);
    let (seconds, _) = attempts(policy.clone()).await;
    assert!((118..=122).contains(&seconds), "{seconds}");
    let (seconds, _) = attempts(policy.clone().max_rate_limit_wait(10 * SECOND)).await;
    assert!((8..=12).contains(&seconds), "{seconds}");
    assert_eq!(attempts(policy.max_rate_limit_wait(Duration::ZERO)).await, (0, 1));
}
