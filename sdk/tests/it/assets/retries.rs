//! Downloads that fail on the way: which are retried.

use std::time::Duration;

use insta::assert_snapshot;
use promptarium::testing::{Answer, Script, builder, client, fixture};
use promptarium::{Asset, Error, RetryBudget, RetryPolicy};
use serde_json::json;
use tokio::time::Instant;

use crate::errors::kinds;

pub(super) const URL: &str = "https://cdn.example/1.png";

pub(super) fn bytes() -> Vec<u8> {
    (0..1000).map(|at| (at % 251) as u8).collect()
}

pub(super) fn whole() -> Answer {
    let answer = Answer::raw(200, "image/png", bytes());
    answer.header("etag", "\"v1\"").header("content-length", "1000")
}

/// The answer to a request for the bytes from this one.
pub(super) fn rest(from: usize) -> Answer {
    let answer = Answer::raw(206, "image/png", bytes()[from..].to_vec());
    let range = format!("bytes {from}-999/1000");
    answer.header("etag", "\"v1\"").header("content-range", &range)
}

/// A script with these answers of a storage.
pub(super) fn storage(answers: Vec<Answer>) -> Script {
    let script = Script::new();
    for answer in answers {
        script.get(URL).answer(answer);
    }
    script
}

/// `Range` and `If-Range` of each request.
pub(super) fn ranges(script: &Script) -> Vec<String> {
    let of = |name: &str, request: &promptarium::testing::SeenRequest| {
        request.header(name).unwrap_or("-").to_owned()
    };
    let requests = script.requests();
    requests.iter().map(|seen| of("range", seen) + " " + &of("if-range", seen)).collect()
}

async fn fetch(answers: Vec<Answer>) -> (Result<Asset, Error>, Vec<String>) {
    let script = storage(answers);
    (client(&script).assets().download(URL).await, ranges(&script))
}

/// Fails unless the whole asset was received with these requests.
pub(super) async fn succeeds(answers: Vec<Answer>, requests: &[&str]) {
    let (asset, seen) = fetch(answers).await;
    assert!(asset.unwrap().bytes == bytes());
    assert_eq!(seen, requests);
}

#[tokio::test(start_paused = true)]
async fn errors_that_may_pass_are_retried() {
    for status in [408, 425, 429, 500, 502, 503, 504, 522] {
        succeeds(vec![Answer::error(status, "no"), whole()], &["- -", "- -"]).await;
    }
    succeeds(vec![Answer::no_connection(), Answer::disconnect(), whole()], &["- -"; 3]).await;
    let soon = Answer::error(404, "soon").retry_after(Duration::from_secs(2));
    succeeds(vec![soon, whole()], &["- -", "- -"]).await;
}

#[tokio::test(start_paused = true)]
async fn other_errors_are_final() {
    for status in [400, 401, 403, 404, 410, 501] {
        let (asset, seen) = fetch(vec![Answer::error(status, "no")]).await;
        assert_eq!(asset.unwrap_err().status().unwrap(), status);
        assert_eq!(seen.len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn the_error_of_the_last_attempt_counts_the_attempts() {
    let (asset, _) = fetch((0..3).map(|_| Answer::error(503, "busy")).collect()).await;
    let error = asset.unwrap_err();
    assert_snapshot!(error, @"GET {url}: 503 Service Unavailable: busy (after 3 attempts)");
    assert_eq!((kinds(&error).as_str(), error.attempts()), ("server retryable", 3));
}

#[tokio::test(start_paused = true)]
async fn after_a_body_that_is_cut_or_stalls_the_asset_is_downloaded_anew() {
    succeeds(vec![whole().cut_at(400), whole()], &["- -", "- -"]).await;
    succeeds(vec![whole().stall_at(400), whole()], &["- -", "- -"]).await;
    succeeds(vec![whole().cut_at(400), whole().cut_at(200), whole()], &["- -"; 3]).await;
}

#[tokio::test(start_paused = true)]
async fn a_body_that_is_shorter_than_its_length_is_incomplete() {
    let short = || {
        let answer = Answer::raw(200, "image/png", bytes()[..400].to_vec());
        answer.header("content-length", "1000")
    };
    succeeds(vec![short(), whole()], &["- -", "- -"]).await;
    let once = storage(vec![short()]);
    let error = client(&once).assets().download(URL).retry(RetryPolicy::never()).await;
    let error = error.unwrap_err();
    assert_snapshot!(error, @"GET {url}: connection closed before the whole response was received (200 OK)");
    assert_eq!(kinds(&error), "transport retryable");
}

#[tokio::test(start_paused = true)]
async fn the_policy_and_the_budget_are_those_of_other_calls() {
    let busy = || (0..9).map(|_| Answer::error(503, "busy")).collect();
    let script = storage(busy());
    let budget = RetryBudget::new().reserve(1).percent(0);
    let client = builder(&script).retry_budget(budget).build().unwrap();
    let error = client.assets().download(URL).await.unwrap_err();
    assert_snapshot!(error, @"GET {url}: 503 Service Unavailable: busy (after 2 attempts, not retried, as the retry budget of the client is empty)");

    let script = storage(busy());
    let policy = RetryPolicy::new().max_attempts(5).initial_backoff(Duration::from_secs(4));
    let client = builder(&script).build().unwrap();
    let start = Instant::now();
    let error = client.assets().download(URL).retry(policy).await.unwrap_err();
    assert_eq!(error.attempts(), 5);
    // 4, 8, 10 and 10 seconds, each at least half.
    let elapsed = start.elapsed().as_secs();
    assert!((16..=32).contains(&elapsed), "{elapsed}");
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_of_the_api_and_one_of_the_storage_have_nothing_in_common() {
    let script = storage(vec![]);
    let slow = || Answer::error(429, "slow down").retry_after(Duration::from_secs(30));
    script.get("/vaults").answer(slow()).answer(Answer::data(&[(); 0]));
    for _ in 0..3 {
        script.get(URL).answer(slow());
    }
    script.get(URL).always(whole());
    let client = client(&script);
    let limited = tokio::spawn(client.vaults().list().send());
    tokio::time::sleep(Duration::from_secs(1)).await;

    // Each 429 of the storage is an attempt, or without a time limit there would be no end.
    let start = Instant::now();
    let error = client.assets().download(URL).await.unwrap_err();
    assert_eq!((kinds(&error).as_str(), error.attempts()), ("rate_limited retryable", 3));
    assert_eq!(start.elapsed().as_secs(), 60);
    limited.await.unwrap().unwrap();

    assert_eq!(client.pressure().waiting, 0);
    let start = Instant::now();
    for _ in 0..100 {
        client.assets().download(URL).await.unwrap();
    }
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn each_time_limit_says_which_it_is() {
    let stalled = || (0..9).map(|_| whole().stall_at(400)).collect();
    let script = storage(stalled());
    let download = client(&script).assets().download(URL);
    let error = download.request_timeout(Duration::from_secs(5)).await.unwrap_err();
    assert_snapshot!(error, @"GET {url}: timed out after 5s (request_timeout) before the whole response was received (200 OK) (after 3 attempts)");

    let script = storage(stalled());
    let download = client(&script).assets().download(URL);
    let error = download.idle_timeout(Duration::from_secs(5)).await.unwrap_err();
    assert_snapshot!(error, @"GET {url}: no data for 5s (idle_timeout) before the whole response was received (200 OK) (after 3 attempts)");

    let script = storage(stalled());
    let start = Instant::now();
    let download = client(&script).assets().download(URL);
    let error = download.timeout(Duration::from_secs(30)).await.unwrap_err();
    assert_snapshot!(error, @"timed out after 30s (timeout) while waiting for https://cdn.example/1.png (after 2 attempts)");
    assert_eq!((kinds(&error).as_str(), start.elapsed().as_secs()), ("timeout retryable", 30));

    // A long download is no slow one: only a step of it has a limit by default.
    let slow = storage(vec![whole().after(Duration::from_secs(15))]);
    client(&slow).assets().download(URL).await.unwrap();
}

#[tokio::test]
async fn headers_are_sent_and_invalid_ones_are_errors() {
    let script = storage(vec![whole()]);
    let download = client(&script).assets().download(URL);
    download.header("traceparent", "00-1-2-01").send().await.unwrap();
    assert_eq!(script.requests()[0].header("traceparent"), Some("00-1-2-01"));
    let error = client(&script).assets().download(URL).header("a b", "").await.unwrap_err();
    assert_snapshot!(error, @r#""a b" is not a valid header name"#);
}

#[tokio::test]
async fn downloads_can_be_spawned_and_joined() {
    let script = storage(vec![]);
    script.get(URL).always(whole());
    let assets = client(&script).assets();
    let spawned = tokio::spawn(assets.download(URL).send());
    let joined = futures::future::join_all((0..3).map(|_| assets.download(URL).send())).await;
    for asset in joined.into_iter().chain([spawned.await.unwrap()]) {
        assert_eq!(asset.unwrap().bytes.len(), 1000);
    }
}

#[tokio::test(start_paused = true)]
async fn progress_tells_attempt_bytes_and_total() {
    let mut seen = Vec::new();
    let script = storage(vec![whole().cut_at(400), whole()]);
    let download = client(&script).assets().download(URL);
    download.on_progress(|p| seen.push((p.attempt, p.received, p.total))).await.unwrap();
    let total = Some(1000);
    assert_eq!(seen, [(1, 0, total), (1, 400, total), (2, 0, total), (2, 1000, total)]);

    let mut seen = Vec::new();
    let again = Answer::raw(200, "image/png", bytes());
    let script = storage(vec![again.clone().cut_at(400), again]);
    let download = client(&script).assets().download(URL);
    download.on_progress(|p| seen.push((p.attempt, p.received, p.total))).await.unwrap();
    assert_eq!(seen, [(1, 0, None), (1, 400, None), (2, 0, None), (2, 1000, None)]);
}

#[tokio::test(start_paused = true)]
async fn a_picture_may_be_missing_for_a_few_seconds_after_its_job_was_completed() {
    let script = Script::new();
    script.post("/generations").always(Answer::data(&fixture::generation_job()).status(202));
    let completed = json!({ "status": "completed", "promptId": 7 });
    script.get("/generations/{job}/status").always(Answer::data(&completed));
    script.get("/prompts/7").always(Answer::data(&fixture::prompt()));
    let client = client(&script);
    client.generations().create("local/plasma", "A harbour").and_wait().await.unwrap();
    for _ in 0..4 {
        script.get(URL).answer(Answer::error(404, "not yet"));
    }
    script.get(URL).answer(whole());
    script.get(URL).always(Answer::error(404, "gone"));
    assert!(client.assets().download(URL).await.unwrap().bytes == bytes());
    let never = client.assets().download(URL).retry(RetryPolicy::never());
    assert_eq!(never.await.unwrap_err().attempts(), 1);

    let start = Instant::now();
    assert!(client.assets().download(URL).await.unwrap_err().is_not_found());
    // The last delay, of at most 3.2 seconds, begins within 5 seconds.
    assert!(start.elapsed() <= Duration::from_millis(8200), "{:?}", start.elapsed());
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(client.assets().download(URL).await.unwrap_err().attempts(), 1);
}
