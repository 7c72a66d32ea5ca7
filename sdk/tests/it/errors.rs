//! Errors of calls: their kinds and texts.

mod agree;
mod bodies;
mod connections;
mod decode;
mod outcome;
mod redirects;
mod slow;

use std::error::Error as _;
use std::time::Duration;

use insta::assert_snapshot;
use promptarium::{Client, Error, ErrorKind};
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use crate::stub::{KEY, client, failure, get, outcome, raw_failure};

fn problem(status: u16, message: &str, details: Value) -> ResponseTemplate {
    let mut body = json!({ "data": null, "error": message });
    body["details"] = details;
    ResponseTemplate::new(status).insert_header("x-request-id", "r-1").set_body_json(body)
}

pub(crate) type Predicate = fn(&Error) -> bool;

/// Each kind with its predicate.
pub(crate) const KINDS: [(ErrorKind, Predicate); 23] = [
    (ErrorKind::Config, Error::is_config),
    (ErrorKind::Input, Error::is_input),
    (ErrorKind::Connect, Error::is_connect),
    (ErrorKind::Timeout, Error::is_timeout),
    (ErrorKind::Transport, Error::is_transport),
    (ErrorKind::Redirect, Error::is_redirect),
    (ErrorKind::BadRequest, Error::is_invalid),
    (ErrorKind::Unauthorized, Error::is_unauthorized),
    (ErrorKind::Forbidden, Error::is_forbidden),
    (ErrorKind::NotFound, Error::is_not_found),
    (ErrorKind::Conflict, Error::is_conflict),
    (ErrorKind::RateLimited, Error::is_rate_limited),
    (ErrorKind::Server, Error::is_server_error),
    (ErrorKind::Status, Error::is_other_status),
    (ErrorKind::SlotRefused, Error::is_slot_refused),
    (ErrorKind::Decode, Error::is_decode),
    (ErrorKind::TooLarge, Error::is_too_large),
    (ErrorKind::PaginationLoop, Error::is_pagination_loop),
    (ErrorKind::JobFailed, Error::is_job_failed),
    (ErrorKind::OutputNotFound, Error::is_output_not_found),
    (ErrorKind::WaitTimeout, Error::is_wait_timeout),
    (ErrorKind::NotReplayable, Error::is_not_replayable),
    (ErrorKind::Ambiguous, Error::is_ambiguous),
];

/// The kinds whose predicates hold, and whether the error is retryable.
pub(crate) fn kinds(error: &Error) -> String {
    let holding = KINDS.iter().filter(|(_, holds)| holds(error)).map(|(kind, _)| kind.as_str());
    holding.chain(error.is_retryable().then_some("retryable")).collect::<Vec<_>>().join(" ")
}

#[test]
fn an_error_is_small_and_can_go_to_another_thread() {
    fn movable<T: Send + Sync + 'static>() {}
    movable::<Error>();
    assert!(size_of::<Error>() <= 128);
}

#[tokio::test]
async fn an_error_response_names_the_invalid_fields() {
    let details = json!({ "modelId": "required for images", "title": "longer than 120" });
    let error = outcome(problem(400, "modelId and title", details), |client| {
        client.prompts().create("t", "p")
    });
    let error = error.await.unwrap_err();
    assert_snapshot!(error, @"POST /prompts: 400 Bad Request: modelId and title [modelId: required for images; title: longer than 120] (request id r-1)");
    assert_eq!(kinds(&error), "bad_request");
    assert_eq!(error.status().unwrap(), 400);
    assert_eq!(error.message(), Some("modelId and title"));
    assert_eq!(error.field_error("title").as_deref(), Some("longer than 120"));
    assert_eq!(error.field_error("prompt"), None);
    assert_eq!(error.field_errors().count(), 2);
    assert_eq!(error.request_id(), Some("r-1"));
    assert_eq!(error.method().unwrap(), "POST");
    assert_eq!(error.path_template(), Some("/prompts"));
    assert!(error.source().is_none());
}

#[tokio::test]
async fn statuses_have_kinds() {
    for (status, expected) in [
        (400, "bad_request"),
        (401, "unauthorized"),
        (402, "status"),
        (403, "forbidden"),
        (404, "not_found"),
        (405, "status"),
        (408, "status retryable"),
        (409, "conflict"),
        (413, "status"),
        (422, "bad_request"),
        (425, "status retryable"),
        (429, "rate_limited retryable"),
        (500, "server retryable"),
        (501, "server"),
        (502, "server retryable"),
        (503, "server retryable"),
        (504, "server retryable"),
        (505, "server"),
        (511, "server"),
        (520, "server retryable"),
        (599, "server retryable"),
    ] {
        let error = failure(problem(status, "no", json!({}))).await;
        assert_eq!(kinds(&error), expected, "{status}");
        assert_eq!(error.status().unwrap(), status);
        assert_eq!(error.field_errors().count(), 0);
    }
    let error = failure(problem(404, "Prompt not found", json!({}))).await;
    assert_snapshot!(error, @"GET /prompts/{promptId}: 404 Not Found: Prompt not found (request id r-1)");
    let error = failure(problem(401, "API key is not valid", json!({}))).await;
    assert_snapshot!(error, @"GET /prompts/{promptId}: 401 Unauthorized: API key is not valid (request id r-1)");
}

#[tokio::test]
async fn retry_after_is_in_the_error() {
    let retry_after = async |text: &str| {
        failure(problem(429, "no", json!({})).insert_header("retry-after", text))
            .await
            .retry_after()
    };
    assert_eq!(retry_after("7").await, Some(Duration::from_secs(7)));
    assert_eq!(retry_after(" 0 ").await, Some(Duration::ZERO));
    assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT").await, Some(Duration::ZERO));
    assert_eq!(retry_after("1.5").await, Some(Duration::from_millis(1500)));
    assert_eq!(retry_after("-1").await, Some(Duration::ZERO));
    let year = Duration::from_secs(3600 * 24 * 365);
    for far in ["Fri, 31 Dec 9999 23:59:59 GMT", "99999999999999999999999999"] {
        assert!(retry_after(far).await.unwrap() > year, "{far}");
    }
    for odd in ["soon", "1e3", "inf", "NaN", ""] {
        assert_eq!(retry_after(odd).await, None, "{odd}");
    }
    assert_eq!(failure(problem(429, "no", json!({}))).await.retry_after(), None);
}

#[tokio::test]
async fn a_text_is_one_bounded_line_whatever_the_service_says() {
    let error = failure(problem(400, "line\r\n  line\u{0}\tline", json!({ "a\nb": "c\nd" }))).await;
    assert_snapshot!(error, @"GET /prompts/{promptId}: 400 Bad Request: line line line [a b: c d] (request id r-1)");
    let error = failure(problem(400, &"é".repeat(5000), json!({}))).await;
    assert!(error.to_string().len() < 400);
    assert_eq!(error.message().unwrap().chars().count(), 5000);
}

#[tokio::test]
async fn the_key_shows_in_no_error() {
    let echo = problem(401, "no", json!({}));
    let mut errors = vec![
        failure(echo).await,
        failure(ResponseTemplate::new(500)).await,
        failure(ResponseTemplate::new(200)).await,
        raw_failure("").await,
        raw_failure("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n").await,
        Client::new("nowhere", KEY).unwrap_err(),
        Client::new(KEY, "https://prompts.example").unwrap_err(),
    ];
    errors.push(get(&client("http://127.0.0.1:1")).await.unwrap_err());
    for error in &errors {
        let mut text = format!("{error} {error:?} {error:#?}");
        let mut source = error.source();
        while let Some(inner) = source {
            text += &format!(" {inner} {inner:?}");
            source = inner.source();
        }
        assert!(!text.contains("s3cret") && !text.contains("Bearer"), "{text}");
    }
}
