//! Downloads that fail on the way: which are retried, and from which byte.

use std::time::Duration;

use insta::assert_snapshot;
use promptarium::testing::{Answer, Script, builder, client};
use promptarium::{Asset, Error, RetryBudget, RetryPolicy};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
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
async fn succeeds(answers: Vec<Answer>, requests: &[&str]) {
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
async fn a_body_that_is_cut_or_stalls_is_continued_at_its_next_byte() {
    let continued = ["- -", "bytes=400- \"v1\""];
    succeeds(vec![whole().cut_at(400), rest(400)], &continued).await;
    succeeds(vec![whole().stall_at(400), rest(400)], &continued).await;
    let twice = vec![whole().cut_at(400), rest(400).cut_at(200), rest(600)];
    succeeds(twice, &["- -", "bytes=400- \"v1\"", "bytes=600- \"v1\""]).await;
}

#[tokio::test]
async fn a_server_that_closes_the_connection_is_asked_for_the_rest() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/1.png", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let mut requests = Vec::new();
        for answer in [
            "HTTP/1.1 200 OK\r\netag: \"v1\"\r\ncontent-length: 10\r\n\r\n0123",
            "HTTP/1.1 206 Partial Content\r\netag: \"v1\"\r\ncontent-range: bytes 4-9/10\r\n\
             content-length: 6\r\n\r\n456789",
        ] {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let size = stream.read(&mut request).await.unwrap();
            requests.push(String::from_utf8_lossy(&request[..size]).into_owned());
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
        requests
    });
    let client = crate::stub::patient("http://127.0.0.1:1").build().unwrap();
    assert_eq!(&client.assets().download(url).await.unwrap().bytes[..], b"0123456789");
    let requests = server.await.unwrap();
    assert!(requests[1].contains("\r\nrange: bytes=4-\r\nif-range: \"v1\"\r\n"), "{requests:?}");
}
