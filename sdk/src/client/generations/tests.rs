//! Watching and waiting on a paused clock: the service is a script, nothing is sent.

use std::collections::VecDeque;
use std::error::Error as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::wait::Wait;
use super::watch::{Answer, Watch};
use crate::client::Error;
use crate::client::backoff::Dice;
use crate::client::clock::Time;
use crate::client::mode::Async;
use crate::client::reply::Reply;
use crate::client::request::Route;
use crate::model::{GenerationStatus, JobId, Prompt, PromptId};

const SECOND: Duration = Duration::from_secs(1);

/// What the service says to one question.
#[derive(Clone)]
enum Says {
    State(&'static str),
    /// With a `Retry-After`.
    AskLater(&'static str, Duration),
    Refuses(u16, Option<&'static str>),
    /// After so long.
    Slowly(Duration, &'static str),
    Never,
}
use Says::{AskLater, Never, Refuses, Slowly, State};

fn status(state: &str) -> GenerationStatus {
    let reason = (state == "failed").then_some("no paint left");
    let done = (state == "completed").then_some(7);
    serde_json::from_value(json!({ "status": state, "promptId": done, "error": reason })).unwrap()
}

fn refusal(status: u16, retry_after: Option<&str>) -> Error {
    let mut headers = HeaderMap::new();
    headers.extend(retry_after.map(|text| (http::header::RETRY_AFTER, text.parse().unwrap())));
    let route = Route::new(Method::GET, "/asked");
    let status = StatusCode::from_u16(status).unwrap();
    Reply::new(route, status, headers, Bytes::new()).with_wish(&Time::System).refused()
}

/// When the service was asked, counted from the beginning.
type Asked = Arc<Mutex<Vec<Duration>>>;

/// A watch on a service that says one thing after the other, and the last for ever.
fn watching(script: &[Says]) -> (Watch, Asked) {
    let (asked, start) = (Asked::default(), Instant::now());
    let (noted, mut script) = (asked.clone(), VecDeque::from(script.to_vec()));
    let ask = move || {
        noted.lock().unwrap().push(start.elapsed());
        let says = if script.len() > 1 { script.pop_front() } else { script.front().cloned() };
        answer(says.unwrap())
    };
    (Watch::new(JobId::from("job-1"), Time::System, Dice::default(), ask), asked)
}

fn answer(says: Says) -> futures_core::future::BoxFuture<'static, Result<Answer, Error>> {
    Box::pin(async move {
        let (state, retry_after) = match says {
            State(state) => (state, None),
            AskLater(state, retry_after) => (state, Some(retry_after)),
            Refuses(status, retry_after) => return Err(refusal(status, retry_after)),
            Slowly(time, state) => {
                sleep(time).await;
                (state, None)
            }
            Never => std::future::pending().await,
        };
        Ok(Answer { status: status(state), retry_after })
    })
}

fn prompt(id: PromptId) -> Prompt {
    let time = "2026-03-01T11:00:00Z";
    serde_json::from_value(json!({
        "id": id, "title": "t", "prompt": "p", "promptType": "image", "status": "active",
        "images": [{ "url": "https://cdn.example/a.png", "width": 8, "height": 8, "createdAt": time }],
        "createdAt": time, "updatedAt": time,
    }))
    .unwrap()
}

fn waiting(script: &[Says]) -> (Wait, Asked) {
    let (watch, asked) = watching(script);
    (Wait::new(Async, watch, |id| Box::pin(async move { Ok(prompt(id)) })), asked)
}

fn times(asked: &Asked) -> Vec<Duration> {
    asked.lock().unwrap().clone()
}

async fn states(watch: &mut Watch) -> Vec<String> {
    let mut states = Vec::new();
    while let Some(change) = watch.next().await {
        states.push(change.map_or_else(|error| error.to_string(), |s| s.status.to_string()));
    }
    states
}

#[tokio::test(start_paused = true)]
async fn the_first_status_comes_at_once_and_each_before_the_delay_after_it() {
    let (mut watch, asked) = watching(&[
        State("queued"),
        State("in_progress"),
        State("in_progress"),
        State("completed"),
    ]);
    let start = Instant::now();
    assert_eq!(watch.next().await.unwrap().unwrap().status.as_str(), "queued");
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(watch.next().await.unwrap().unwrap().status.as_str(), "in_progress");
    assert_eq!(start.elapsed(), times(&asked)[1]);
    assert_eq!(watch.next().await.unwrap().unwrap().status.as_str(), "completed");
    assert_eq!(start.elapsed(), times(&asked)[3]);
    assert!(watch.next().await.is_none() && watch.next().await.is_none());
    assert_eq!(asked.lock().unwrap().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn delays_grow_from_a_quarter_of_a_second_to_five_seconds_unless_told() {
    let (mut watch, asked) = watching(&[State("queued")]);
    states(&mut watch).await;
    let times = times(&asked);
    let mut length = 0.25_f64;
    for (before, after) in times.iter().zip(&times[1..]) {
        let delay = (*after - *before).as_secs_f64();
        // The clock of the tests counts whole milliseconds.
        assert!((length / 2.0 - 0.001..length + 0.002).contains(&delay), "{delay} of {length}");
        length = (length * 1.5).min(5.0);
    }
    assert!(times.len() > 120, "{}", times.len());
}

#[tokio::test(start_paused = true)]
async fn the_service_may_ask_for_longer_delays() {
    let wish = 20 * SECOND;
    let (mut watch, asked) = watching(&[
        AskLater("queued", wish),
        Refuses(503, Some("20")),
        Refuses(429, Some("Thu, 01 Jan 1970 00:00:00 GMT")),
        State("completed"),
    ]);
    assert_eq!(states(&mut watch).await, ["queued", "completed"]);
    let times = times(&asked);
    assert_eq!((times[1], times[2]), (wish, 2 * wish));
    assert!(times[3] - times[2] < SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_may_pass_does_not_end_it_and_can_be_seen() {
    let (mut watch, asked) = watching(&[State("queued"), Refuses(503, None), State("completed")]);
    watch.next().await.unwrap().unwrap();
    assert!(watch.last_failure().is_none());
    let change = tokio::time::timeout(Duration::from_millis(260), watch.next()).await;
    assert!(change.is_err() && asked.lock().unwrap().len() == 2);
    assert_eq!(watch.last_failure().unwrap().status().unwrap(), 503);
    assert_eq!(watch.last().unwrap().status.as_str(), "queued");
    assert_eq!(states(&mut watch).await, ["completed"]);
    assert!(watch.last_failure().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_stays_ends_it_at_once() {
    for code in [400, 401, 404, 500] {
        let (mut watch, asked) = watching(&[State("queued"), Refuses(code, None), State("queued")]);
        watch.next().await.unwrap().unwrap();
        assert_eq!(watch.next().await.unwrap().unwrap_err().status().unwrap(), code);
        assert!(watch.next().await.is_none());
        assert_eq!(asked.lock().unwrap().len(), 2);
        let (wait, _) = waiting(&[Refuses(code, None)]);
        assert_eq!(wait.await.unwrap_err().status().unwrap(), code);
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_state_is_told_and_asked_about_again() {
    let (mut watch, _) = watching(&[State("warming_up"), State("cancelled"), State("completed")]);
    assert_eq!(states(&mut watch).await, ["warming_up", "cancelled", "completed"]);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_is_exact_whatever_is_on_its_way() {
    let deadline = 10 * SECOND;
    for (says, last) in [
        (vec![State("queued")], "; it was queued when last asked"),
        (vec![State("queued"), Never], "; it was queued when last asked"),
        (vec![Never], "; nothing was heard of it"),
        (vec![AskLater("in_progress", 3600 * SECOND)], "; it was in_progress when last asked"),
        (vec![Slowly(11 * SECOND, "completed")], "; nothing was heard of it"),
    ] {
        let (wait, _) = waiting(&says);
        let start = Instant::now();
        let error = wait.deadline(deadline).await.unwrap_err();
        assert_eq!(start.elapsed(), deadline);
        let text = format!("the generation \"job-1\" was not finished within 10s{last}");
        assert_eq!(error.to_string(), text);
        assert!(error.is_deadline() && !error.is_job_failed() && !error.is_retryable());
        assert!(!error.is_timeout() && error.status().is_none() && error.message().is_none());
        assert_eq!(error.job_id(), Some(&JobId::from("job-1")));
        assert_eq!(error.last_status().is_some(), !last.contains("nothing"));
        assert!(error.source().is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn the_deadline_tells_why_the_last_poll_failed() {
    let (wait, _) = waiting(&[State("queued"), Refuses(502, None)]);
    let error = wait.deadline(SECOND).await.unwrap_err();
    assert_eq!(error.last_status().unwrap().status.as_str(), "queued");
    let cause = error.source().unwrap().to_string();
    assert_eq!(cause, "GET /asked: 502 Bad Gateway, with an empty body");
}

#[tokio::test(start_paused = true)]
async fn the_deadline_is_ten_minutes_unless_told_and_can_be_taken_away() {
    let (wait, _) = waiting(&[State("queued")]);
    let start = Instant::now();
    assert!(wait.await.unwrap_err().is_deadline());
    assert_eq!(start.elapsed(), 600 * SECOND);
    assert_eq!(Watch::DEFAULT_DEADLINE, 600 * SECOND);

    let (wait, _) = waiting(&[Slowly(100_000 * SECOND, "completed")]);
    assert!(wait.deadline(Duration::MAX).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_job_that_failed_is_an_error_of_its_own() {
    let (wait, _) = waiting(&[State("queued"), State("failed")]);
    let error = wait.await.unwrap_err();
    assert_eq!(error.to_string(), "the generation \"job-1\" failed: no paint left");
    assert!(error.is_job_failed() && !error.is_deadline() && !error.is_retryable());
    assert_eq!(error.message(), Some("no paint left"));
    assert_eq!(error.job_id(), Some(&JobId::from("job-1")));
    assert_eq!(error.last_status().unwrap().status.as_str(), "failed");
    assert!(error.status().is_none() && error.source().is_none());

    let (mut watch, _) = watching(&[State("failed")]);
    assert_eq!(states(&mut watch).await, ["failed"]);
}

#[tokio::test(start_paused = true)]
async fn waiting_tells_each_change_and_brings_the_output() {
    let (wait, asked) = waiting(&[State("queued"), State("queued"), State("completed")]);
    let told = Arc::new(Mutex::new(Vec::new()));
    let noted = told.clone();
    let wait = wait.on_change(move |status| noted.lock().unwrap().push(status.status.to_string()));
    let finished = wait.await.unwrap();
    assert_eq!(*told.lock().unwrap(), ["queued", "completed"]);
    assert_eq!(asked.lock().unwrap().len(), 3);
    assert_eq!(finished.status.prompt_id, Some(PromptId::new(7)));
    assert_eq!(finished.prompt.as_ref().unwrap().id, PromptId::new(7));
    assert_eq!(finished.images().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_output_is_insisted_on_under_the_same_deadline() {
    let tries = Arc::new(Mutex::new(0));
    let counted = tries.clone();
    let fetch = move |outcome: fn(u32) -> Result<Prompt, Error>| {
        let counted = counted.clone();
        move |_: PromptId| -> futures_core::future::BoxFuture<'static, Result<Prompt, Error>> {
            let mut counted = counted.lock().unwrap();
            *counted += 1;
            let outcome = outcome(*counted);
            Box::pin(async { outcome })
        }
    };
    let wait = |outcome| {
        *tries.lock().unwrap() = 0;
        Wait::new(Async, watching(&[State("completed")]).0, fetch(outcome))
    };

    let third = |tried| if tried < 3 { Err(refusal(503, None)) } else { Ok(prompt(7.into())) };
    assert!(wait(third).await.unwrap().prompt.is_some());
    assert_eq!(*tries.lock().unwrap(), 3);

    let finished = wait(|_| Err(refusal(404, None))).await.unwrap();
    assert!(finished.prompt.is_none() && finished.images().is_empty());
    assert_eq!(wait(|_| Err(refusal(401, None))).await.unwrap_err().status().unwrap(), 401);

    let start = Instant::now();
    let error = wait(|_| Err(refusal(503, None))).deadline(20 * SECOND).await.unwrap_err();
    assert!(error.is_deadline() && start.elapsed() == 20 * SECOND);
    assert_eq!(error.last_status().unwrap().status.as_str(), "completed");
    assert!(error.source().is_some());
}

#[tokio::test(start_paused = true)]
async fn dropping_it_asks_no_more() {
    let (mut watch, asked) = watching(&[State("queued")]);
    watch.next().await.unwrap().unwrap();
    assert!(tokio::time::timeout(3 * SECOND, watch.next()).await.is_err());
    drop(watch);
    let count = asked.lock().unwrap().len();
    sleep(3600 * SECOND).await;
    assert_eq!(asked.lock().unwrap().len(), count);

    let (wait, asked) = waiting(&[State("queued")]);
    assert!(tokio::time::timeout(3 * SECOND, wait.into_future()).await.is_err());
    let count = asked.lock().unwrap().len();
    sleep(3600 * SECOND).await;
    assert_eq!(asked.lock().unwrap().len(), count);
}
