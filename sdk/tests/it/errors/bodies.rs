//! Bodies of error responses, of this API and of others.

use insta::assert_snapshot;
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use super::{kinds, problem};
use crate::stub::{answering, client, envelope, failure, get, outcome, prompt, raw_failure};

#[tokio::test]
async fn details_of_any_form_are_accepted() {
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
async fn an_incomplete_error_body_keeps_the_status() {
    let error =
        raw_failure("HTTP/1.1 404 Not Found\r\ncontent-length: 900\r\n\r\n{\"error\":").await;
    assert_snapshot!(error, @r#"GET /prompts/{promptId}: 404 Not Found, with an incomplete body: {"error":"#);
    // The page of another server would begin otherwise.
    assert_eq!(kinds(&error), "not_found");
    let page = raw_failure("HTTP/1.1 404 Not Found\r\ncontent-length: 900\r\n\r\n<html>").await;
    assert_eq!(kinds(&page), "status");
}

#[tokio::test]
async fn a_404_that_is_not_the_apis_is_not_not_found() {
    for body in
        ["", "<h1>Not Found</h1>", r#"{"status":404,"error":"Not Found","path":"/prompts/7"}"#]
    {
        let error = failure(ResponseTemplate::new(404).set_body_string(body)).await;
        assert_eq!(kinds(&error), "status", "{body}");
        assert_eq!(error.status().unwrap(), 404);
        assert!(error.to_string().ends_with("; does the base URL end in `/api/v1`?"), "{error}");
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
