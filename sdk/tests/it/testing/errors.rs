//! Errors that are made for tests say what real ones say.

use std::time::Duration;

use insta::assert_snapshot;
use promptarium::testing::{Answer, error};
use promptarium::{Error, ErrorKind};

use crate::errors::kinds;

const SECOND: Duration = Duration::from_secs(1);

fn all() -> Vec<Error> {
    vec![
        error::not_found(),
        error::unauthorized(),
        error::invalid(&[("title", "must not be empty"), ("prompt", "must not be empty")]),
        error::rate_limited(30 * SECOND),
        error::unavailable(),
        error::timeout(),
        error::connect(),
        error::transport(),
        error::decode(),
        error::redirect(),
        error::too_large(),
        error::pagination_loop(),
        error::job_failed("no paint left"),
        error::deadline(120 * SECOND),
        error::config(),
        error::input(),
        error::slot_refused(),
        error::one_shot(),
    ]
}

#[test]
fn each_says_what_it_is() {
    let told: Vec<_> = all().iter().map(|error| format!("{}: {error}", kinds(error))).collect();
    assert_snapshot!(told.join("\n"), @r#"
    not_found: GET /prompts/{promptId}: 404 Not Found: there is no such prompt (request id request-1)
    unauthorized: GET /prompts/{promptId}: 401 Unauthorized: the API key is not valid (request id request-1)
    invalid: POST /prompts: 400 Bad Request: the prompt cannot be stored [prompt: must not be empty; title: must not be empty] (request id request-1)
    retryable: GET /prompts/{promptId}: 429 Too Many Requests: too many requests (come back after 30s)
    retryable: GET /prompts/{promptId}: 503 Service Unavailable: the service is not available (request id request-1)
    timeout retryable: GET /prompts/{promptId}: https://prompts.example neither took nor sent anything for 20s
    connect retryable: GET /prompts/{promptId}: cannot connect to https://prompts.example
    retryable: GET /prompts/{promptId}: the exchange with https://prompts.example failed before an answer came
    decode: GET /prompts/{promptId}: 200 OK, but the answer cannot be read at `data.id`, near: {"data":{"id":"seven"}}
    redirect: GET /prompts/{promptId}: 302 Found, which points to https://elsewhere.example/; redirects are not followed, because the key goes to the base URL only
    too_large: GET /prompts/{promptId}: 200 OK, but the answer is larger than the 16 bytes allowed
    pagination_loop: the list would never end: the service named the cursor "from-1" a second time
    job_failed: the generation "job-1" failed: no paint left
    deadline: the generation "job-1" was not finished within 120s; it was in_progress when last asked
    config: the base URL is not set
    input: the image has 0 bytes; 1 to 10485760 are accepted
    slot_refused: PUT {uploadUrl}: 403 Forbidden: the slot has run out
    one_shot: the upload has to be sent again, but the image came from a reader, which can be read only once
    "#);
}

#[test]
fn every_kind_has_one() {
    let source = include_str!("../../../src/client/error.rs");
    let kinds = source.split("pub enum ErrorKind {").nth(1).unwrap().split("\n}").next().unwrap();
    let kinds = kinds.lines().filter_map(|line| line.trim().strip_suffix(','));
    let kinds: Vec<_> = kinds.filter(|name| name.chars().all(char::is_alphanumeric)).collect();
    assert!(kinds.len() >= 13);
    let made: Vec<_> = all().iter().map(|error| format!("{:?}", error.kind())).collect();
    for kind in kinds {
        assert!(made.iter().any(|made| made == kind), "{kind}");
    }
}

#[test]
fn each_has_the_facts_of_a_real_one() {
    let invalid = error::invalid(&[("title", "is empty"), ("title", "is missing")]);
    let fields: Vec<_> = invalid.field_errors().collect();
    assert_eq!(fields, [("title", "is empty".into()), ("title", "is missing".into())]);
    assert_eq!(invalid.path_template(), Some("/prompts"));
    assert_eq!(invalid.request_id(), Some("request-1"));

    let limited = error::rate_limited(Duration::from_millis(1_500));
    assert_eq!(limited.retry_after(), Some(Duration::from_millis(1_500)));
    assert_eq!(error::rate_limited(30 * SECOND).retry_after(), Some(30 * SECOND));

    let late = error::deadline(120 * SECOND);
    assert_eq!(late.last_status().unwrap().status.as_str(), "in_progress");
    assert_eq!(late.job_id().unwrap().as_str(), "job-1");
    assert_eq!(error::job_failed("no paint left").message(), Some("no paint left"));
    assert!(std::error::Error::source(&error::one_shot()).is_some());
    for error in all() {
        assert!(error.attempts() <= 1, "{error}");
    }
}

#[tokio::test]
async fn they_are_made_inside_a_runtime_too() {
    assert!(error::deadline(SECOND).is_deadline());
    assert_eq!(error::of(Answer::raw(200, "", "<html>")).kind(), ErrorKind::Decode);
}

#[test]
#[should_panic(expected = "this is no error")]
fn what_is_no_error_is_not_taken_for_one() {
    let _ = error::of(Answer::data(&promptarium::testing::fixture::prompt()));
}
