//! Backoff and timeouts of a call, on a paused clock and without sockets.

use std::time::Duration;

use http::Response;
use promptarium::transport::{Body, Failure};
use promptarium::{Client, ClientBuilder, Error, PromptId, RetryBudget, RetryPolicy};
use tokio::time::Instant;

use crate::stub::{Scripted, envelope, prompt, response};

const SECOND: Duration = Duration::from_secs(1);

fn unavailable(header: Option<(&'static str, String)>) -> Response<Body> {
    let mut answer = response(503, "");
    answer.headers_mut().extend(header.map(|(name, value)| {
        (http::HeaderName::from_static(name), http::HeaderValue::try_from(value).unwrap())
    }));
    answer
}

fn builder(script: &Scripted) -> ClientBuilder {
    let builder = Client::builder().base_url("http://h/api/v1").api_key("k");
    builder.transport(script.clone())
}

/// The error of reading a prompt, and the time until it was returned.
async fn reading(builder: ClientBuilder) -> (Error, Duration) {
    let client = builder.build().unwrap();
    let begun = Instant::now();
    let error = client.prompts().get(PromptId::new(7)).await.unwrap_err();
    (error, begun.elapsed())
}

#[tokio::test(start_paused = true)]
async fn the_first_attempt_is_not_delayed_and_the_others_ever_longer() {
    let script = Scripted::new(|_| Ok(unavailable(None)));
    let builder = builder(&script).retry(RetryPolicy::new().max_attempts(9));
    reading(builder).await;
    let times = script.times();
    assert_eq!((times.len(), times[0]), (9, Duration::ZERO));
    let mut length = Duration::from_millis(200);
    for pair in times.windows(2) {
        let delay = pair[1] - pair[0];
        // The clock of the timers counts milliseconds.
        assert!(delay + SECOND / 500 >= length / 2 && delay <= length + SECOND / 500, "{delay:?}");
        length = (2 * length).min(10 * SECOND);
    }
}

#[tokio::test(start_paused = true)]
async fn delays_double_up_to_the_maximum_and_are_drawn_from_the_upper_half() {
    let policy = RetryPolicy::new().max_attempts(6).max_backoff(SECOND);
    let script = Scripted::new(|_| Ok(unavailable(None)));
    let builder = builder(&script).retry_budget(RetryBudget::unlimited());
    let client = builder.retry(policy).build().unwrap();
    for _ in 0..500 {
        client.prompts().get(PromptId::new(7)).await.unwrap_err();
    }
    let (mut shortest, mut longest) = (Duration::MAX, Duration::ZERO);
    for call in script.times().chunks(6) {
        for (pair, length) in call.windows(2).zip([200, 400, 800, 1000, 1000]) {
            let (delay, length) = (pair[1] - pair[0], Duration::from_millis(length));
            assert!(delay + SECOND / 500 >= length / 2 && delay <= length + SECOND / 500);
        }
        (shortest, longest) = (shortest.min(call[1] - call[0]), longest.max(call[1] - call[0]));
    }
    assert!(
        shortest < SECOND * 11 / 100 && longest > SECOND * 19 / 100,
        "{shortest:?} {longest:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn no_backoff_retries_without_pause_or_overflows() {
    let half = SECOND / 2;
    for (initial, max, shortest) in [
        (Duration::ZERO, Duration::ZERO, Duration::from_micros(500)),
        // The maximum bounds the first delay too.
        (half, Duration::ZERO, Duration::from_micros(500)),
        (Duration::MAX, Duration::MAX, 24 * 3600 * SECOND),
    ] {
        let script = Scripted::new(|_| Ok(unavailable(None)));
        let policy = RetryPolicy::new().initial_backoff(initial).max_backoff(max);
        let builder = builder(&script).retry(policy).overall_timeout(Duration::MAX);
        assert_eq!(reading(builder).await.0.attempts(), 3);
        for pair in script.times().windows(2) {
            assert!(pair[1] - pair[0] >= shortest, "{initial:?}: {pair:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_waited_for_in_all_its_forms() {
    let in_a_while = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(9);
    let date = jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&in_a_while);
    for (header, value, shortest, longest) in [
        ("retry-after", "7".to_owned(), 7.0, 7.1),
        ("retry-after", date.unwrap(), 7.0, 9.1),
        ("retry-after-ms", "1500".to_owned(), 1.5, 1.6),
        // Shorter than the backoff.
        ("retry-after-ms", "10".to_owned(), 0.098, 0.402),
    ] {
        let answer = value.clone();
        let script = Scripted::new(move |_| Ok(unavailable(Some((header, answer.clone())))));
        let (error, _) = reading(builder(&script)).await;
        assert_eq!(error.attempts(), 3, "{header}: {value}");
        for pair in script.times().windows(2) {
            let delay = (pair[1] - pair[0]).as_secs_f64();
            assert!((shortest..=longest).contains(&delay), "{header}: {value}: {delay}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_after_that_is_too_long_fails_at_once_and_is_in_the_error() {
    for (after, attempts) in [("60", 3), ("61", 1), ("3600", 1)] {
        let script =
            Scripted::new(move |_| Ok(unavailable(Some(("retry-after", after.to_owned())))));
        let (error, took) = reading(builder(&script).overall_timeout(Duration::MAX)).await;
        assert_eq!(error.attempts(), attempts, "{after}");
        assert_eq!(error.retry_after().unwrap().as_secs().to_string(), after);
        assert_eq!(took.is_zero(), attempts == 1, "{after}: {took:?}");
    }
    let script = Scripted::new(|_| Ok(unavailable(Some(("retry-after", "61".to_owned())))));
    let (error, _) = reading(builder(&script)).await;
    insta::assert_snapshot!(error, @"GET /prompts/{promptId}: 503 Service Unavailable, with an empty body (retry after 61s)");
}

#[tokio::test(start_paused = true)]
async fn the_whole_call_has_a_limit_that_counts_attempts_and_delays() {
    // Each attempt takes three seconds, so a fourth would be too late.
    let script = Scripted::with_delay(3 * SECOND, |_| Err(Failure::exchanging("hung up")));
    let policy = RetryPolicy::new().max_attempts(100).initial_backoff(SECOND).max_backoff(SECOND);
    let (error, took) = reading(builder(&script).retry(policy).overall_timeout(10 * SECOND)).await;
    assert!(took <= 10 * SECOND + SECOND / 20 && took >= 9 * SECOND, "{took:?}");
    assert!(error.is_timeout() || error.attempts() == 3, "{error}");

    let script = Scripted::with_delay(Duration::MAX, |_| Err(Failure::exchanging("never")));
    let (error, took) = reading(builder(&script).overall_timeout(7 * SECOND)).await;
    assert!(took.abs_diff(7 * SECOND) <= SECOND / 20, "{took:?}");
    insta::assert_snapshot!(error, @"GET /prompts/{promptId}: timed out after 7s (overall_timeout) while waiting for http://h");
    assert!(error.is_timeout() && error.is_retryable());
}

#[tokio::test(start_paused = true)]
async fn a_delay_that_would_outlast_the_call_is_not_begun() {
    let script = Scripted::new(|_| Ok(unavailable(Some(("retry-after", "30".to_owned())))));
    let (error, took) = reading(builder(&script).overall_timeout(29 * SECOND)).await;
    assert_eq!((error.attempts(), error.status().unwrap().as_u16()), (1, 503));
    assert_eq!(took, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_times_out_is_retried() {
    let script = Scripted::with_delay(Duration::MAX, |_| Err(Failure::exchanging("never")));
    let (error, _) = reading(builder(&script).request_timeout(5 * SECOND)).await;
    assert_eq!(error.attempts(), 3);
    insta::assert_snapshot!(error, @"GET /prompts/{promptId}: timed out after 5s (request_timeout) while waiting for http://h (after 3 attempts)");
}

#[tokio::test(start_paused = true)]
async fn a_call_has_limits_of_its_own() {
    let script = Scripted::with_delay(Duration::MAX, |_| Err(Failure::exchanging("never")));
    let client = builder(&script).build().unwrap();
    let get = || client.prompts().get(PromptId::new(7));
    let begun = Instant::now();
    let error = get().timeout(3 * SECOND).await.unwrap_err();
    assert!(begun.elapsed().abs_diff(3 * SECOND) <= SECOND / 20 && error.attempts() == 1);
    assert!(error.to_string().contains("timed out after 3s (timeout)"), "{error}");
    let error = get().request_timeout(2 * SECOND).timeout(Duration::MAX).await.unwrap_err();
    assert_eq!(error.attempts(), 3);
    let error = get().idle_timeout(SECOND).retry(RetryPolicy::never()).await.unwrap_err();
    insta::assert_snapshot!(error, @"GET /prompts/{promptId}: no data for 1s (idle_timeout) while waiting for http://h");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_sends_nothing_more() {
    let script = Scripted::new(|_| Ok(unavailable(None)));
    let client = builder(&script).build().unwrap();
    let call = client.prompts().get(PromptId::new(7)).into_future();
    let outcome = tokio::time::timeout(Duration::from_millis(50), call).await;
    assert!(outcome.is_err());
    tokio::time::sleep(1000 * SECOND).await;
    assert_eq!(script.times().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_time_is_the_answer() {
    let body = envelope(&prompt(7)).to_string();
    let script = Scripted::with_delay(50 * SECOND, move |_| Ok(response(200, body.clone())));
    let builder = builder(&script).idle_timeout(51 * SECOND);
    let client = builder.build().unwrap();
    assert_eq!(client.prompts().get(PromptId::new(7)).await.unwrap().id, PromptId::new(7));
}

#[tokio::test(start_paused = true)]
async fn the_longest_backoff_bounds_the_first_one_too() {
    let script = Scripted::new(|_| Ok(unavailable(None)));
    let policy = RetryPolicy::new().max_attempts(9).max_backoff(SECOND / 20);
    reading(builder(&script).retry(policy)).await;
    for pair in script.times().windows(2) {
        let delay = pair[1] - pair[0];
        assert!(delay >= SECOND / 41 && delay <= SECOND * 51 / 1000, "{delay:?}");
    }
}
