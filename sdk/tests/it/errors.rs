//! Errors of calls: their kinds and texts.

mod agree;

use std::error::Error as _;
use std::time::Duration;

use insta::assert_snapshot;
use promptarium::{Client, Error, ErrorKind, RetryPolicy};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::stub::{
    KEY, Then, answering, client, envelope, failure, get, outcome, prompt, raw, raw_failure,
};

fn problem(status: u16, message: &str, details: Value) -> ResponseTemplate {
    let mut body = json!({ "data": null, "error": message });
    body["details"] = details;
    ResponseTemplate::new(status).insert_header("x-request-id", "r-1").set_body_json(body)
}

type Predicate = fn(&Error) -> bool;

/// Each kind with its predicate.
const KINDS: [(ErrorKind, Predicate); 22] = [
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
async fn a_refusal_tells_what_is_wrong_with_which_field() {
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
        (429, "rate_limited retryable"),
        (500, "server retryable"),
        (501, "server"),
        (502, "server retryable"),
        (503, "server retryable"),
        (504, "server retryable"),
        (599, "server"),
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
    let far = retry_after("Fri, 31 Dec 9998 23:59:59 GMT").await.unwrap();
    assert!(far > Duration::from_secs(3600 * 24 * 365), "{far:?}");
    for odd in ["soon", "-1", "1.5", ""] {
        assert_eq!(retry_after(odd).await, None, "{odd}");
    }
    assert_eq!(failure(problem(429, "no", json!({}))).await.retry_after(), None);
}

#[tokio::test]
async fn odd_details_are_no_trouble() {
    for details in [Value::Null, json!([{ "path": "title" }]), json!("title"), json!(7)] {
        let error = failure(problem(400, "wrong", details)).await;
        assert_eq!(error.message(), Some("wrong"));
        assert_eq!(error.field_errors().count(), 0);
    }
    let bare = ResponseTemplate::new(400).set_body_json(json!({ "error": "wrong" }));
    assert_snapshot!(failure(bare).await, @"GET /prompts/{promptId}: 400 Bad Request: wrong");
    let details = json!({
        "a": ["short", "blank"], "b": { "message": "bad", "code": 3 }, "c": { "x": 1 }, "d": null,
    });
    assert_snapshot!(failure(problem(400, "wrong", details)).await, @r#"GET /prompts/{promptId}: 400 Bad Request: wrong [a: short; a: blank; b: bad; c: {"x":1}; d: null] (request id r-1)"#);
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
async fn bodies_that_are_not_the_apis_keep_the_status() {
    let html = "<html>\n<head><title>502 Bad Gateway</title></head>\n</html>\n";
    let error = failure(ResponseTemplate::new(502).set_body_raw(html, "text/html")).await;
    assert_snapshot!(error, @"GET /prompts/{promptId}: 502 Bad Gateway, with a body that is not the API's: <html> <head><title>502 Bad Gateway</title></head> </html>");
    assert_eq!(kinds(&error), "server retryable");
    assert_eq!(error.message(), None);

    let cut = ResponseTemplate::new(400).set_body_string(r#"{"data":null,"error":"title is"#);
    assert_snapshot!(failure(cut).await, @r#"GET /prompts/{promptId}: 400 Bad Request, with a body that is not the API's: {"data":null,"error":"title is"#);

    let latin = ResponseTemplate::new(500).set_body_bytes(b"caf\xe9".as_slice());
    assert_snapshot!(failure(latin).await, @"GET /prompts/{promptId}: 500 Internal Server Error, with a body that is not the API's: caf\u{fffd}");
}

#[tokio::test]
async fn an_error_body_that_breaks_off_keeps_the_status() {
    let error =
        raw_failure("HTTP/1.1 404 Not Found\r\ncontent-length: 900\r\n\r\n{\"error\":").await;
    assert_snapshot!(error, @r#"GET /prompts/{promptId}: 404 Not Found, with a body that is not the API's: {"error":"#);
    assert_eq!(kinds(&error), "status");
}

#[tokio::test]
async fn a_404_that_is_not_the_apis_is_not_not_found() {
    for body in
        ["", "<h1>Not Found</h1>", r#"{"status":404,"error":"Not Found","path":"/prompts/7"}"#]
    {
        let error = failure(ResponseTemplate::new(404).set_body_string(body)).await;
        assert_eq!(kinds(&error), "status", "{body}");
        assert_eq!(error.status().unwrap(), 404);
        assert!(!error.to_string().contains("/api/v1"), "{error}");
    }
    let found = outcome(ResponseTemplate::new(404), |client| {
        client.prompts().get_opt(promptarium::PromptId::new(7))
    });
    assert!(found.await.unwrap_err().is_other_status());
    let head = outcome(ResponseTemplate::new(404), |client| {
        client.request(http::Method::HEAD, "/prompts/7")
    });
    assert!(head.await.unwrap_err().is_not_found(), "a response to HEAD has no body");
}

#[tokio::test]
async fn a_404_says_that_the_base_url_may_lack_the_root_of_the_api() {
    let page = ResponseTemplate::new(404).set_body_string("<h1>Not Found</h1>");
    let server = answering(page).await;
    let error = get(&Client::new(server.uri(), KEY).unwrap()).await.unwrap_err();
    assert_snapshot!(error, @"GET /prompts/{promptId}: 404 Not Found, with a body that is not the API's: <h1>Not Found</h1>; the base URL may lack `/api/v1`");
    assert_eq!(kinds(&error), "status");
}

#[tokio::test]
async fn the_message_of_an_error_object_is_read_with_the_details_beside_it() {
    let body =
        json!({ "error": { "message": "title", "code": 7 }, "details": { "title": "long" } });
    let error = failure(ResponseTemplate::new(400).set_body_json(body)).await;
    assert_snapshot!(error, @"GET /prompts/{promptId}: 400 Bad Request: title [title: long]");
    assert_eq!(error.message(), Some("title"));
    assert_eq!(error.field_error("title").as_deref(), Some("long"));
    let body = json!({ "error": { "code": 7 } });
    let error = failure(ResponseTemplate::new(400).set_body_json(body)).await;
    assert_snapshot!(error, @r#"GET /prompts/{promptId}: 400 Bad Request, with a body that is not the API's: {"error":{"code":7}}"#);
}

#[tokio::test]
async fn a_success_with_an_error_response_is_an_error_with_its_message() {
    let answer = || problem(200, "maintenance", json!({}));
    let error = failure(answer()).await;
    assert_snapshot!(error, @"GET /prompts/{promptId}: 200 OK: maintenance (request id r-1)");
    assert_eq!((kinds(&error).as_str(), error.message()), ("status", Some("maintenance")));
    // `null` is a value of this type.
    let raw = outcome(answer(), |client| client.get("/usage")).await.unwrap();
    assert_eq!(raw.data::<Value>().unwrap_err().message(), Some("maintenance"));
}

#[tokio::test]
async fn a_response_that_is_not_decompressed_names_its_encoding() {
    let encoded = |status| {
        ResponseTemplate::new(status)
            .insert_header("content-encoding", "br")
            .set_body_bytes(b"\x0b\x02\x80".as_slice())
    };
    let error = failure(encoded(200)).await;
    assert_snapshot!(error, @"GET /prompts/{promptId}: cannot decode response: its Content-Encoding br is not supported (200 OK)");
    assert_eq!(kinds(&error), "decode");
    assert_snapshot!(failure(encoded(500)).await, @"GET /prompts/{promptId}: 500 Internal Server Error, with a body encoded as br");
    let plain = encoded(200).set_body_json(envelope(&prompt(7)));
    assert!(outcome(plain, get).await.is_ok(), "a transport may decode and leave the header");
}

/// `{"data":[],"error":null}`.
const GZIP: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\x4a\x49\x2c\x49\x54\xb2\x8a\x8e\xd5\x51\x4a\x2d\x2a\xca\x2f\x52\xb2\xca\x2b\xcd\xc9\xa9\x05\x00\xc7\xae\x55\x91\x18\x00\x00\x00";

#[cfg(feature = "gzip")]
#[tokio::test]
async fn gzip_is_asked_for_and_decompressed() {
    let answer = ResponseTemplate::new(200).insert_header("content-encoding", "gzip");
    let server = answering(answer.set_body_bytes(GZIP)).await;
    assert!(client(server.uri()).vaults().list().await.unwrap().is_empty());
    let request = &server.received_requests().await.unwrap()[0];
    assert_eq!(request.headers["accept-encoding"], "gzip");
}

#[cfg(not(feature = "gzip"))]
#[tokio::test]
async fn gzip_is_neither_asked_for_nor_decompressed() {
    let answer = ResponseTemplate::new(200).insert_header("content-encoding", "gzip");
    let server = answering(answer.set_body_bytes(GZIP)).await;
    let error = client(server.uri()).vaults().list().await.unwrap_err();
    assert_snapshot!(error, @"GET /vaults: cannot decode response: its Content-Encoding gzip is not supported (200 OK)");
    let request = &server.received_requests().await.unwrap()[0];
    assert!(!request.headers.contains_key("accept-encoding"));
}

#[tokio::test]
async fn a_response_that_breaks_off_is_an_error_of_the_transport() {
    let answer = "HTTP/1.1 200 OK\r\nx-request-id: r-1\r\ncontent-length: 900\r\n\r\n{\"data\":";
    let error = raw_failure(answer).await;
    assert_snapshot!(error, @"GET /prompts/{promptId}: connection closed before the whole response was received (200 OK) (request id r-1)");
    assert_eq!(kinds(&error), "transport retryable");
    assert!(error.source().is_some());

    let address = raw("", Then::HangUp).await;
    let error = get(&client(format!("http://{address}"))).await.unwrap_err();
    let text = error.to_string().replace(&address.port().to_string(), "PORT");
    assert_snapshot!(text, @"GET /prompts/{promptId}: connection to http://127.0.0.1:PORT closed before a response was received");
    assert_eq!(kinds(&error), "transport retryable");
}

#[tokio::test]
async fn a_decode_error_names_the_position_and_the_reason() {
    let mut wrong = prompt(7);
    wrong["images"][0]["width"] = json!("wide");
    let body = envelope(&wrong);
    let answer = ResponseTemplate::new(200).insert_header("x-request-id", "r-1");
    let error = failure(answer.set_body_json(&body)).await;
    assert_snapshot!(error, @r#"GET /prompts/{promptId}: cannot decode response at `data.images[0].width`: invalid type: string "wide", expected u32 (200 OK), near …eatedAt":"2026-03-01T11:00:00.000000Z","id":7,"images":[{"createdAt":"2026-03-01T12:00:00.000000Z","height":576,"url":"https://cdn.example/a.png","width":"wide"}],"platform":null,"prompt":"A harbour a… (request id r-1)"#);
    assert_eq!(kinds(&error), "decode");
    assert_snapshot!(error.source().unwrap(), @r#"invalid type: string "wide", expected u32 at line 1 column 172"#);

    let mut lacking = prompt(7);
    lacking.as_object_mut().unwrap().remove("createdAt");
    let error = failure(ResponseTemplate::new(200).set_body_json(envelope(&lacking))).await;
    let text = error.to_string();
    let start = "GET /prompts/{promptId}: cannot decode response at `data`: missing field `createdAt` (200 OK), near ";
    assert!(text.starts_with(start), "{text}");

    let mut member = prompt(7);
    member["vaultPromptId"] = json!(true);
    let answer = ResponseTemplate::new(200).set_body_json(envelope(&json!([member])));
    let error = outcome(answer, |client| client.vault(3.into()).prompts().list());
    let error = error.await.unwrap_err();
    assert!(error.to_string().contains("at `data[0].vaultPromptId`"), "{error}");
}

#[tokio::test]
async fn successes_without_a_readable_body_are_decode_errors() {
    let text = async |answer: ResponseTemplate| {
        let error = failure(answer).await;
        assert_eq!(kinds(&error), "decode");
        error.to_string()
    };
    assert_snapshot!(text(ResponseTemplate::new(204)).await, @"GET /prompts/{promptId}: cannot decode response: the body is empty (204 No Content)");
    let html = ResponseTemplate::new(200).set_body_string("<html>Sign in</html>");
    assert_snapshot!(text(html).await, @"GET /prompts/{promptId}: cannot decode response: expected value (200 OK), near <html>Sign in</html>");
    let null = ResponseTemplate::new(200).set_body_string(r#"{"data":null,"error":null}"#);
    assert_snapshot!(text(null).await, @r#"GET /prompts/{promptId}: cannot decode response at `data`: invalid type: null, expected struct Prompt (200 OK), near {"data":null,"error":null}"#);
    let trailing =
        ResponseTemplate::new(200).set_body_string(format!("{} x", envelope(&prompt(7))));
    assert!(text(trailing).await.ends_with(" x"));
}

#[tokio::test]
async fn the_position_is_found_in_a_long_response_of_many_lines() {
    let mut prompts: Vec<_> = (1..=60).map(prompt).collect();
    prompts[40]["title"] = json!("☾".repeat(300));
    prompts[41]["createdAt"] = json!("gestern");
    let body = serde_json::to_string_pretty(&envelope(&json!(prompts))).unwrap();
    let answer = ResponseTemplate::new(200).set_body_string(body);
    let error = outcome(answer, |client| client.prompts().list()).await.unwrap_err();
    assert_snapshot!(error, @r#"GET /prompts: cannot decode response at `data[41].createdAt`: not an ISO 8601 timestamp: failed to parse four digit integer as year: invalid digit, expected 0-9 but got g (200 OK), near …☾☾☾☾☾☾☾☾☾", "updatedAt": "2026-03-01T11:30:00.000000Z", "vaultIds": [ 3 ] }, { "createdAt": "gestern", "id": 42, "images": […"#);
}

#[tokio::test]
async fn redirects_to_another_origin_are_not_followed() {
    let elsewhere = answering(ResponseTemplate::new(200)).await;
    let target = format!("{}/api/v1/prompts/7?token=s3cret", elsewhere.uri());
    let answer = |status| ResponseTemplate::new(status).insert_header("location", target.as_str());
    for status in [301, 302, 303, 307, 308] {
        let error = failure(answer(status)).await;
        assert_eq!(kinds(&error), "redirect");
        assert_eq!(error.status().unwrap(), status);
        assert!(!format!("{error} {error:?}").contains("s3cret"));
    }
    assert!(elsewhere.received_requests().await.unwrap().is_empty());

    let named = ResponseTemplate::new(301).insert_header("location", "https://a:b@new.example/x?y");
    assert_snapshot!(failure(named).await, @"GET /prompts/{promptId}: 301 Moved Permanently redirects to https://new.example/x; not followed: the API key is not sent to another origin");
    let none = ResponseTemplate::new(302);
    assert_snapshot!(failure(none).await, @"GET /prompts/{promptId}: 302 Found has no valid Location");
}

/// The error of a redirect to this path, with the number of requests.
async fn redirected<C, T: std::fmt::Debug>(
    location: &str,
    make: impl FnOnce(&Client) -> C,
) -> (String, usize)
where
    C: IntoFuture<Output = Result<T, Error>>,
{
    let moved = ResponseTemplate::new(307).insert_header("location", location);
    let server = answering(moved).await;
    let error = make(&client(server.uri())).await.unwrap_err();
    assert_eq!(kinds(&error), "redirect");
    let requests = server.received_requests().await.unwrap().len();
    (error.to_string().replace(&server.uri(), "HOST"), requests)
}

#[tokio::test]
async fn a_get_follows_redirects_below_the_base_url_with_the_key() {
    let server = MockServer::start().await;
    for status in [301, 302, 303, 307, 308] {
        let port = server.address().port();
        let with_user = format!("http://a:b@127.0.0.1:{port}/api/v1/x");
        for location in ["/api/v1/prompts/7/", "7/", "?x", &with_user] {
            server.reset().await;
            let moved = ResponseTemplate::new(status).insert_header("location", location);
            let ok = ResponseTemplate::new(200).set_body_json(envelope(&prompt(7)));
            Mock::given(any()).respond_with(moved).up_to_n_times(1).mount(&server).await;
            Mock::given(any()).respond_with(ok).mount(&server).await;
            let answer = get(&client(server.uri())).send_with_meta().await.unwrap();
            assert_eq!(answer.meta.attempts(), 1, "a redirect is not a retry");
            let requests = server.received_requests().await.unwrap();
            assert_eq!(requests.len(), 2);
            assert_ne!(requests[0].url, requests[1].url);
            assert_eq!(requests[1].headers["authorization"], format!("Bearer {KEY}"));
        }
    }
}

#[tokio::test]
async fn other_redirects_of_the_same_origin_are_refused_with_the_reason() {
    for outside in ["/login?next=x", "/api/v10/prompts", "/api/v1/../v2/x", "/api/v1/%2e%2e/x"] {
        let (text, requests) = redirected(outside, get).await;
        assert!(
            text.ends_with(
                "; not followed: the API key is not sent to URLs outside of the base URL"
            ),
            "{text}"
        );
        assert_eq!(requests, 1);
    }
    let (text, requests) =
        redirected("/api/v1/x", |client| client.prompts().create("t", "p")).await;
    assert_snapshot!(text, @"POST /prompts: 307 Temporary Redirect redirects to HOST/api/v1/x; not followed: only GET requests are redirected");
    assert_eq!(requests, 1);
    let (text, requests) = redirected("/api/v1/x", get).await;
    assert_snapshot!(text, @"GET /prompts/{promptId}: 307 Temporary Redirect redirects to HOST/api/v1/x; not followed: there were 5 redirects before");
    assert_eq!(requests, 6);
}

#[tokio::test]
async fn an_answer_from_elsewhere_is_refused_and_the_key_did_not_go_there() {
    let ok = ResponseTemplate::new(200).set_body_json(envelope(&prompt(7)));
    let elsewhere = answering(ok).await;
    let target = format!("http://localhost:{}/x?y", elsewhere.address().port());
    let answer = ResponseTemplate::new(302).insert_header("location", target.as_str());
    let server = answering(answer).await;
    let client = Client::builder().base_url(server.uri()).api_key(KEY);
    let client = client.http_client(reqwest::Client::new()).build().unwrap();
    let error = get(&client).await.unwrap_err();
    let text = error.to_string().replace(&elsewhere.address().port().to_string(), "PORT");
    assert_snapshot!(text, @"GET /prompts/{promptId}: 200 OK from http://localhost:PORT/x: the HTTP client followed a redirect; build it with `redirect::Policy::none()`");
    let requests = elsewhere.received_requests().await.unwrap();
    assert_eq!(requests.len(), 1);
    assert!(!requests[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_connection_that_is_refused_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = get(&client(format!("http://{address}"))).await.unwrap_err();
    let text = error.to_string().replace(&address.port().to_string(), "PORT");
    assert_snapshot!(text, @"GET /prompts/{promptId}: cannot connect to http://127.0.0.1:PORT");
    assert_eq!(kinds(&error), "connect retryable");
    assert_eq!(error.status(), None);
    assert!(error.source().is_some());
}

#[tokio::test]
async fn a_service_that_does_not_answer_is_given_up() {
    // Connections wait in the listener's queue and are never answered.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    let client = Client::builder().base_url(format!("http://{address}")).api_key(KEY);
    let client = client
        .retry(RetryPolicy::never())
        .request_timeout(Duration::from_millis(200))
        .build()
        .unwrap();
    let error = get(&client).await.unwrap_err();
    let text = error.to_string().replace(&address.port().to_string(), "PORT");
    assert_snapshot!(text, @"GET /prompts/{promptId}: timed out after 200ms (request_timeout) while waiting for http://127.0.0.1:PORT");
    assert_eq!(kinds(&error), "timeout retryable");
}

#[tokio::test]
async fn an_answer_that_does_not_end_is_given_up() {
    let address = raw("HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{", Then::StayOpen).await;
    let client = Client::builder().base_url(format!("http://{address}")).api_key(KEY);
    let client = client
        .retry(RetryPolicy::never())
        .request_timeout(Duration::from_millis(500))
        .build()
        .unwrap();
    let error = get(&client).await.unwrap_err();
    assert_snapshot!(error, @"GET /prompts/{promptId}: timed out after 500ms (request_timeout) before the whole response was received (200 OK)");
    assert_eq!(kinds(&error), "timeout retryable");
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
