//! Bodies that are too large, too slow, or broken.

use std::time::Duration;

use promptarium_server::EmbeddedServer;
use promptarium_server::test_support::{BODY_BYTES_MAX, BODY_SECONDS_MAX};

use crate::support::client::{Connection, call, head, request};

/// A body of exactly this size that is a valid prompt.
fn prompt_of(size: usize) -> String {
    let (before, after) = (r#"{"title":"t","prompt":"p","padding":""#, r#""}"#);
    format!("{before}{}{after}", "x".repeat(size - before.len() - after.len()))
}

#[tokio::test]
async fn a_body_at_the_limit_is_taken() {
    let server = EmbeddedServer::start().await.unwrap();
    let body = prompt_of(BODY_BYTES_MAX);
    assert_eq!(call(&server, "POST", "/prompts", Some(&body)).await.status, 201);
}

#[tokio::test]
async fn a_body_that_announces_too_much_is_refused_unread() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut connection = Connection::to(&server).await;
    let length = format!("content-length: {}\r\n", BODY_BYTES_MAX + 1);
    connection.send(head(server.api_key(), "POST", "/prompts", &length)).await;
    let answer = connection.answer().await.unwrap();
    assert_eq!(answer.status, 413);
    assert_eq!(answer.json()["details"], serde_json::json!({}));
}

#[tokio::test]
async fn the_refusal_reaches_a_client_that_sends_on() {
    let server = EmbeddedServer::start().await.unwrap();
    let body = prompt_of(4 * BODY_BYTES_MAX);
    assert_eq!(call(&server, "POST", "/prompts", Some(&body)).await.status, 413);
}

#[tokio::test]
async fn a_chunked_body_is_counted_as_it_comes() {
    let server = EmbeddedServer::start().await.unwrap();
    for (size, status) in [(BODY_BYTES_MAX, 201), (BODY_BYTES_MAX + 1, 413)] {
        let mut connection = Connection::to(&server).await;
        let chunked = "transfer-encoding: chunked\r\n";
        connection.send(head(server.api_key(), "POST", "/prompts", chunked)).await;
        for chunk in prompt_of(size).as_bytes().chunks(1_000_000) {
            connection.send(format!("{:x}\r\n", chunk.len())).await;
            connection.send(chunk).await;
            connection.send("\r\n").await;
        }
        connection.send("0\r\n\r\n").await;
        assert_eq!(connection.answer().await.unwrap().status, status, "{size}");
    }
}

#[tokio::test]
async fn a_body_that_does_not_come_is_given_up() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut connection = Connection::to(&server).await;
    connection.send(head(server.api_key(), "POST", "/prompts", "content-length: 9\r\n")).await;
    connection.send("{").await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(BODY_SECONDS_MAX + 1)).await;
    tokio::time::resume();
    let answer = connection.answer().await.unwrap();
    assert_eq!(answer.status, 408);
    assert!(answer.json()["error"].as_str().unwrap().contains("30 seconds"));
}

#[tokio::test]
async fn the_order_of_checks_is_kept() {
    let server = EmbeddedServer::builder()
        .seed_key("promptarium_live_w1_s=alice")
        .seed_key("promptarium_live_r1_s=alice:none")
        .start()
        .await
        .unwrap();
    let (write, read) = ("promptarium_live_w1_s", "promptarium_live_r1_s");
    let large = "x".repeat(BODY_BYTES_MAX + 1);
    let no_json = |key, path| head(key, "POST", path, "content-length: 0\r\n").replace("json", "x");
    let cases = [
        (request("nobody", "PUT", "/nothing", None), 404),
        (request("nobody", "PUT", "/prompts", None), 405),
        (request("nobody", "POST", "/prompts", Some("x")), 401),
        (request(read, "POST", "/prompts/x/save", Some(&large)), 401),
        (no_json(read, "/prompts"), 401),
        (no_json(write, "/prompts"), 415),
        (request(write, "POST", "/prompts/x/save", Some(&large)), 413),
        (request(write, "POST", "/prompts/x/save", Some("{}")), 400),
        (request(write, "POST", "/prompts/x/save", Some(r#"{"vaultId":999}"#)), 404),
        (request(write, "POST", "/prompts/1/save", Some(r#"{"vaultId":999}"#)), 404),
        (request(write, "POST", "/vaults/1/prompts", Some(r#"{"promptIds":[7]}"#)), 400),
        (request(write, "POST", "/api-keys", None), 401),
        (request(write, "GET", "/api-keys", None), 405),
    ];
    for (request, status) in cases {
        let mut connection = Connection::to(&server).await;
        connection.send(&request).await;
        let answer = connection.answer().await.unwrap();
        assert_eq!(answer.status, status, "{request:.200}");
        assert!(answer.json()["details"].is_object());
        assert_eq!(answer.header("www-authenticate").is_some(), status == 401);
        assert_eq!(answer.header("allow").is_some(), status == 405);
    }
}
