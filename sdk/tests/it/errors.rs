//! What goes wrong, what can be asked about it, and the texts a person reads.

use std::error::Error as _;
use std::time::Duration;

use insta::assert_snapshot;
use promptarium::{Client, Error, RetryPolicy};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use wiremock::ResponseTemplate;

use crate::stub::{
    KEY, Then, answering, client, envelope, failure, get, outcome, prompt, raw, raw_failure,
};

fn problem(status: u16, message: &str, details: Value) -> ResponseTemplate {
    let mut body = json!({ "data": null, "error": message });
    body["details"] = details;
    ResponseTemplate::new(status).insert_header("x-request-id", "r-1").set_body_json(body)
}

/// Which predicates hold, so that each error answers to exactly its own.
pub(crate) fn kinds(error: &Error) -> String {
    let all = [
        ("not_found", error.is_not_found()),
        ("unauthorized", error.is_unauthorized()),
        ("invalid", error.is_invalid()),
        ("timeout", error.is_timeout()),
        ("connect", error.is_connect()),
        ("decode", error.is_decode()),
        ("config", error.is_config()),
        ("redirect", error.is_redirect()),
        ("pagination_loop", error.is_pagination_loop()),
        ("input", error.is_input()),
        ("slot_refused", error.is_slot_refused()),
        ("one_shot", error.is_not_replayable()),
        ("too_large", error.is_too_large()),
        ("job_failed", error.is_job_failed()),
        ("deadline", error.is_wait_timeout()),
        ("retryable", error.is_retryable()),
    ];
    all.into_iter().filter_map(|(name, holds)| holds.then_some(name)).collect::<Vec<_>>().join(" ")
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
    assert_eq!(kinds(&error), "invalid");
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
async fn statuses_answer_to_their_predicates() {
    for (status, kind) in [
        (400, "invalid"),
        (401, "unauthorized"),
        (403, ""),
        (404, "not_found"),
        (405, ""),
        (408, "retryable"),
        (413, ""),
        (429, "retryable"),
        (500, ""),
        (502, "retryable"),
        (503, "retryable"),
        (504, "retryable"),
    ] {
        let error = failure(problem(status, "no", json!({}))).await;
        assert_eq!(kinds(&error), kind, "{status}");
        assert_eq!(error.status().unwrap(), status);
        assert_eq!(error.field_errors().count(), 0);
    }
    let error = failure(problem(404, "Prompt not found", json!({}))).await;
    assert_snapshot!(error, @"GET /prompts/{promptId}: 404 Not Found: Prompt not found (request id r-1)");
    let error = failure(problem(401, "API key is not valid", json!({}))).await;
    assert_snapshot!(error, @"GET /prompts/{promptId}: 401 Unauthorized: API key is not valid (request id r-1)");
}

#[tokio::test]
async fn a_wish_to_be_left_alone_is_kept() {
    let wish = async |text: &str| {
        failure(problem(429, "no", json!({})).insert_header("retry-after", text))
            .await
            .retry_after()
    };
    assert_eq!(wish("7").await, Some(Duration::from_secs(7)));
    assert_eq!(wish(" 0 ").await, Some(Duration::ZERO));
    assert_eq!(wish("Sun, 06 Nov 1994 08:49:37 GMT").await, Some(Duration::ZERO));
    let far = wish("Fri, 31 Dec 9998 23:59:59 GMT").await.unwrap();
    assert!(far > Duration::from_secs(3600 * 24 * 365), "{far:?}");
    for odd in ["soon", "-1", "1.5", ""] {
        assert_eq!(wish(odd).await, None, "{odd}");
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
    assert_eq!(kinds(&error), "retryable");
    assert_eq!(error.message(), None);

    let error = failure(ResponseTemplate::new(404)).await;
    assert_snapshot!(error, @"GET /prompts/{promptId}: 404 Not Found, with an empty body");
    assert_eq!(kinds(&error), "not_found");

    let cut = ResponseTemplate::new(400).set_body_string(r#"{"data":null,"error":"title is"#);
    assert_snapshot!(failure(cut).await, @r#"GET /prompts/{promptId}: 400 Bad Request, with a body that is not the API's: {"data":null,"error":"title is"#);

    let nested = json!({ "error": { "message": "no" } });
    let error = failure(ResponseTemplate::new(400).set_body_json(nested)).await;
    assert_snapshot!(error, @r#"GET /prompts/{promptId}: 400 Bad Request, with a body that is not the API's: {"error":{"message":"no"}}"#);

    let latin = ResponseTemplate::new(500).set_body_bytes(b"caf\xe9".as_slice());
    assert_snapshot!(failure(latin).await, @"GET /prompts/{promptId}: 500 Internal Server Error, with a body that is not the API's: caf\u{fffd}");
}

#[tokio::test]
async fn an_error_body_that_breaks_off_keeps_the_status() {
    let error =
        raw_failure("HTTP/1.1 404 Not Found\r\ncontent-length: 900\r\n\r\n{\"error\":").await;
    assert_snapshot!(error, @r#"GET /prompts/{promptId}: 404 Not Found, with a body that is not the API's: {"error":"#);
    assert_eq!(kinds(&error), "not_found");
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_told() {
    let answer = "HTTP/1.1 200 OK\r\nx-request-id: r-1\r\ncontent-length: 900\r\n\r\n{\"data\":";
    let error = raw_failure(answer).await;
    assert_snapshot!(error, @"GET /prompts/{promptId}: 200 OK, but the answer broke off (request id r-1)");
    assert_eq!(kinds(&error), "retryable");
    assert!(error.source().is_some());

    let error = raw_failure("").await;
    let text = error.to_string();
    let text = text.replace(|c: char| c.is_ascii_digit(), "0").replace("00000", "0");
    assert!(
        text.starts_with("GET /prompts/{promptId}: the exchange with http://000.0.0.0:"),
        "{text}"
    );
    assert!(text.ends_with(" failed before an answer came"), "{text}");
    assert_eq!(kinds(&error), "retryable");
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_names_the_place() {
    let mut wrong = prompt(7);
    wrong["images"][0]["width"] = json!("wide");
    let body = envelope(&wrong);
    let answer = ResponseTemplate::new(200).insert_header("x-request-id", "r-1");
    let error = failure(answer.set_body_json(&body)).await;
    assert_snapshot!(error, @r#"GET /prompts/{promptId}: 200 OK, but the answer cannot be read at `data.images[0].width`, near: …eatedAt":"2026-03-01T11:00:00.000000Z","id":7,"images":[{"createdAt":"2026-03-01T12:00:00.000000Z","height":576,"url":"https://cdn.example/a.png","width":"wide"}],"platform":null,"prompt":"A harbour a… (request id r-1)"#);
    assert_eq!(kinds(&error), "decode");
    assert_snapshot!(error.source().unwrap(), @r#"invalid type: string "wide", expected u32 at line 1 column 172"#);

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
    assert_snapshot!(text(ResponseTemplate::new(204)).await, @"GET /prompts/{promptId}: 204 No Content, but the answer cannot be read: it is empty");
    let html = ResponseTemplate::new(200).set_body_string("<html>Sign in</html>");
    assert_snapshot!(text(html).await, @"GET /prompts/{promptId}: 200 OK, but the answer cannot be read, near: <html>Sign in</html>");
    let null = ResponseTemplate::new(200).set_body_string(r#"{"data":null,"error":null}"#);
    assert_snapshot!(text(null).await, @r#"GET /prompts/{promptId}: 200 OK, but the answer cannot be read at `data`, near: {"data":null,"error":null}"#);
    let trailing =
        ResponseTemplate::new(200).set_body_string(format!("{} x", envelope(&prompt(7))));
    assert!(text(trailing).await.ends_with(" x"));
}

#[tokio::test]
async fn the_place_is_found_in_a_long_answer_of_many_lines() {
    let mut prompts: Vec<_> = (1..=60).map(prompt).collect();
    prompts[40]["title"] = json!("☾".repeat(300));
    prompts[41]["createdAt"] = json!("gestern");
    let body = serde_json::to_string_pretty(&envelope(&json!(prompts))).unwrap();
    let answer = ResponseTemplate::new(200).set_body_string(body);
    let error = outcome(answer, |client| client.prompts().list()).await.unwrap_err();
    assert_snapshot!(error, @r#"GET /prompts: 200 OK, but the answer cannot be read at `data[41].createdAt`, near: …☾☾☾☾☾☾☾☾☾", "updatedAt": "2026-03-01T11:30:00.000000Z", "vaultIds": [ 3 ] }, { "createdAt": "gestern", "id": 42, "images": […"#);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = answering(ResponseTemplate::new(200)).await;
    let target = format!("{}/prompts/7?token=s3cret", elsewhere.uri());
    let answer = |status| ResponseTemplate::new(status).insert_header("location", target.as_str());
    for status in [301, 302, 303, 307, 308] {
        let error = failure(answer(status)).await;
        assert_eq!(kinds(&error), "redirect");
        assert_eq!(error.status().unwrap(), status);
        assert!(!format!("{error} {error:?}").contains("s3cret"));
    }
    assert!(elsewhere.received_requests().await.unwrap().is_empty());

    let named = ResponseTemplate::new(301).insert_header("location", "https://a:b@new.example/x?y");
    assert_snapshot!(failure(named).await, @"GET /prompts/{promptId}: 301 Moved Permanently, which points to https://new.example/x; redirects are not followed, because the key goes to the base URL only");
    let relative = ResponseTemplate::new(302).insert_header("location", "/login?next=x");
    assert_snapshot!(failure(relative).await, @"GET /prompts/{promptId}: 302 Found, which points to /login; redirects are not followed, because the key goes to the base URL only");
    assert_snapshot!(failure(ResponseTemplate::new(304)).await, @"GET /prompts/{promptId}: 304 Not Modified, which points to no address; redirects are not followed, because the key goes to the base URL only");
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
    assert_snapshot!(text, @"GET /prompts/{promptId}: 200 OK, but from http://localhost:PORT/x: the HTTP client the program brought followed a redirect; it has to be built without");
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
    assert_snapshot!(text, @"GET /prompts/{promptId}: http://127.0.0.1:PORT did not answer within 200ms");
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
    assert_snapshot!(error, @"GET /prompts/{promptId}: 200 OK, but the answer did not come as a whole within 500ms");
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
