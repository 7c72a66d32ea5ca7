//! Raw calls, and the options of one call.

use std::error::Error as _;
use std::time::Duration;

use http::Method;
use insta::assert_snapshot;
use promptarium::{Client, PromptId};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use wiremock::ResponseTemplate;

use crate::stub::{
    Scripted, answering, client, envelope, outcome, patient, prompt, response, shown, wire,
};

#[tokio::test]
async fn a_raw_call_sends_its_arguments_with_the_key_of_the_client() {
    let wire = wire(|client| {
        client.post("/prompts/7/notes").query("q", "a&b c").json(&json!({ "text": "é" }))
    });
    assert_snapshot!(wire.await, @r#"
    POST /api/v1/prompts/7/notes?q=a%26b+c
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    content-type: application/json
    content-length: 13
    {"text":"é"}
    "#);
    for method in ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"] {
        let server = answering(ResponseTemplate::new(500)).await;
        let method: Method = method.parse().unwrap();
        let _ = client(server.uri()).request(method.clone(), "/x").await;
        let requests = server.received_requests().await.unwrap();
        assert_eq!(requests[0].method.as_str(), method.as_str());
        assert_eq!(requests[0].url.path(), "/api/v1/x");
    }
}

#[tokio::test]
async fn a_body_that_is_missing_has_the_length_zero() {
    for method in ["POST", "PUT", "PATCH", "GET", "DELETE", "HEAD", "OPTIONS"] {
        let head = wire_head(method, None).await;
        let lengths = head.matches("content-length: 0\r\n").count();
        let expects_body = matches!(method, "POST" | "PUT" | "PATCH");
        assert_eq!(lengths, usize::from(expects_body), "{head}");
        assert!(!head.contains("content-type") && !head.contains("transfer-encoding"), "{head}");
    }
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        let head = wire_head(method, Some(json!({ "a": 1 }))).await;
        assert_eq!(head.matches("content-length: 7\r\n").count(), 1, "{head}");
        assert_eq!(head.matches("content-length").count(), 1, "{head}");
    }
}

/// The head of a request as it is sent, in lower case.
async fn wire_head(method: &str, body: Option<Value>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = client(format!("http://{}", listener.local_addr().unwrap()));
    let mut call = client.request(method.parse().unwrap(), "/x");
    if let Some(body) = body {
        call = call.json(&body);
    }
    let received = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !request.windows(4).any(|end| end == b"\r\n\r\n") {
            stream.read_buf(&mut request).await.unwrap();
        }
        String::from_utf8(request).unwrap().to_lowercase()
    };
    let (head, _) = tokio::join!(received, call.send());
    head
}

#[tokio::test]
async fn the_response_of_a_raw_call_is_unchanged() {
    let answer = ResponseTemplate::new(201)
        .insert_header("x-request-id", "r-9")
        .set_body_json(json!({ "data": { "prompts": 3 }, "error": null }));
    let answer = outcome(answer, |client| client.get("/usage")).await.unwrap();
    assert_eq!((answer.status().as_u16(), answer.request_id().as_deref()), (201, Some("r-9")));
    assert_eq!(&answer.body()[..], br#"{"data":{"prompts":3},"error":null}"#);
    let data: Value = answer.data().unwrap();
    assert_eq!(data, json!({ "prompts": 3 }));
}

#[tokio::test]
async fn the_errors_of_a_raw_call_are_those_of_every_call() {
    let refusal = json!({ "data": null, "error": "no", "details": { "month": "odd" } });
    let refused = ResponseTemplate::new(400).set_body_json(refusal);
    let error = outcome(refused, |client| client.get("/usage")).await.unwrap_err();
    assert_snapshot!(error, @"GET /usage: 400 Bad Request: no [month: odd]");

    let odd = || ResponseTemplate::new(200).set_body_json(json!({ "data": "three" }));
    let answer = outcome(odd(), |client| client.get("/usage")).await.unwrap();
    let error = answer.data::<u64>().unwrap_err();
    assert_snapshot!(error, @r#"GET /usage: cannot decode response at `data`: invalid type: string "three", expected u64 (200 OK), near {"data":"three"}"#);
    let answer = outcome(odd(), |client| client.get("/usage")).await.unwrap();
    assert!(answer.json::<Vec<u8>>().unwrap_err().is_decode());
}

#[tokio::test]
async fn a_raw_path_cannot_lead_out_of_the_base_url() {
    let server = answering(ResponseTemplate::new(200)).await;
    let client = client(server.uri());
    for (path, problem) in [
        ("usage", "has to begin with a slash"),
        ("", "has to begin with a slash"),
        ("https://elsewhere.example/", "has to begin with a slash"),
        ("/usage?month=1", "holds a query or a fragment; a query goes into `query`"),
        ("/usage#x", "holds a query or a fragment; a query goes into `query`"),
        ("/../../admin", "holds a segment of dots, which leads elsewhere"),
        ("/%2E%2e/admin", "holds a segment of dots, which leads elsewhere"),
        ("/./a", "holds a segment of dots, which leads elsewhere"),
        ("/\\elsewhere.example", "holds a character no path has"),
        ("/a\nb", "holds a character no path has"),
    ] {
        let error = client.get(path).await.unwrap_err();
        assert!(error.is_input(), "{path}");
        assert_eq!(error.to_string(), format!("the path of the call {problem}"), "{path}");
    }
    assert!(server.received_requests().await.unwrap().is_empty());
    // Two slashes are a path of this host, not another host.
    client.get("//elsewhere.example/x").await.unwrap();
    let requests = server.received_requests().await.unwrap();
    assert_eq!(requests[0].url.path(), "/api/v1//elsewhere.example/x");
}

#[tokio::test]
async fn a_url_that_no_http_client_accepts_is_an_input_error() {
    let path = format!("/{}", "a".repeat(70_000));
    let transport = Scripted::new(|_| Ok(response(200, "{}")));
    let custom = patient("http://127.0.0.1:1").transport(transport).build().unwrap();
    for client in [client("http://127.0.0.1:1"), custom] {
        let error = client.get(&path).await.unwrap_err();
        assert!(error.is_input() && !error.is_retryable());
        assert!(error.to_string().ends_with(": the URL is invalid"), "{error:.99}");
        assert!(error.source().is_some());
    }
}

#[tokio::test]
async fn what_cannot_be_serialized_is_an_error_before_anything_is_sent() {
    let odd = std::collections::HashMap::from([((1, 2), 3)]);
    let error = client("http://127.0.0.1:1").post("/x").json(&odd).await.unwrap_err();
    assert!(error.is_input() && error.attempts() == 0);
    assert_snapshot!(error, @"the body of the request cannot be serialized: key must be a string");
}

#[tokio::test]
async fn a_call_may_have_headers_of_its_own() {
    let server = answering(ResponseTemplate::new(500)).await;
    let get = |client: &Client| client.prompts().get(PromptId::new(7));
    let call = get(&client(server.uri())).header("X-Trace", "t-1").header("accept", "text/plain");
    assert!(!format!("{call:?}").contains("t-1"));
    let _ = call.await;
    let request = &server.received_requests().await.unwrap()[0];
    assert_eq!(request.headers["x-trace"], "t-1");
    assert!(shown(request).contains("accept: text/plain"));
}

#[tokio::test]
async fn headers_that_are_not_the_callers_are_refused_and_not_repeated() {
    let refused = async |name: &str, value: &str| {
        let call = client("http://127.0.0.1:1").vaults().list().header(name, value);
        let error = call.await.unwrap_err();
        assert!(error.is_input() && error.attempts() == 0);
        error.to_string()
    };
    for name in ["Authorization", "content-length", "Content-Type", "host", "connection"] {
        let expected = format!("the header {} is set by the client", name.to_lowercase());
        assert_eq!(refused(name, "s3cret").await, expected);
    }
    assert_snapshot!(refused("x trace", "s3cret").await, @r#""x trace" is not a valid header name"#);
    assert_snapshot!(refused("x-trace", "s3cret\n").await, @"the value of the header x-trace contains a character that is not allowed");
}

#[tokio::test]
async fn a_value_is_returned_with_its_response_by_send_with_meta() {
    let mut body = envelope(&prompt(7));
    body["data"]["mood"] = json!("calm");
    let answer = ResponseTemplate::new(200)
        .insert_header("x-request-id", "r-1")
        .insert_header("x-ratelimit-remaining", "17")
        .set_body_json(body);
    let server = answering(answer).await;
    let read = client(server.uri()).prompts().get(PromptId::new(7)).send_with_meta().await.unwrap();
    assert_eq!((read.value.id, &*read.value.title), (PromptId::new(7), "Prompt 7"));
    assert_eq!((read.meta.status().as_u16(), read.meta.attempts()), (200, 1));
    assert_eq!(read.meta.request_id().as_deref(), Some("r-1"));
    assert_eq!(read.meta.headers()["x-ratelimit-remaining"], "17");
    let whole: Value = serde_json::from_slice(read.meta.body()).unwrap();
    assert_eq!(whole["data"]["mood"], "calm");
}

#[tokio::test]
async fn an_answer_larger_than_allowed_is_not_read() {
    let large = ResponseTemplate::new(200).set_body_string("x".repeat(2000));
    let server = answering(large).await;
    let builder = crate::stub::patient(server.uri()).max_response_size(1999);
    let error = builder.build().unwrap().vaults().list().await.unwrap_err();
    assert!(error.is_too_large() && error.attempts() == 1);
    assert_snapshot!(error, @"GET /vaults: response larger than 1999 bytes (max_response_size; 200 OK)");

    // Without `Content-Length`.
    let endless =
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\naaaaa\r\n5\r\naaaaa\r\n";
    let address = crate::stub::raw(endless, crate::stub::Then::StayOpen).await;
    let builder = crate::stub::patient(format!("http://{address}")).max_response_size(9);
    let builder = builder.idle_timeout(Duration::from_secs(60));
    let error = builder.build().unwrap().vaults().list().await.unwrap_err();
    assert!(error.is_too_large(), "{error}");
}

#[tokio::test]
async fn the_body_of_an_error_response_can_be_read() {
    let refused = ResponseTemplate::new(418).set_body_string("<h1>teapot</h1>");
    let error = outcome(refused, |client| client.get("/x")).await.unwrap_err();
    assert_eq!(error.body(), Some(&b"<h1>teapot</h1>"[..]));
    assert_eq!(error.kind(), promptarium::ErrorKind::Status);
    let large = ResponseTemplate::new(418).set_body_string("x".repeat(1 << 20));
    let error = outcome(large, |client| client.get("/x")).await.unwrap_err();
    assert_eq!(error.body().unwrap().len(), 256 * 1024);
    let unread = outcome(ResponseTemplate::new(200), |client| client.vaults().list()).await;
    assert_eq!(unread.unwrap_err().body(), None);
}
