//! Connections and bodies: time limits, size limits, HTTP/2, streamed responses.

use std::net::Ipv4Addr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use promptarium_server::EmbeddedServer;
use promptarium_server::test_support::{BODY_BYTES_MAX, BODY_SECONDS_MAX, ScratchDatabase};
use tokio::net::TcpStream;

use crate::support::advance;
use crate::support::client::{Connection, call, head, request};
use crate::support::program::Running;

#[tokio::test]
async fn a_body_that_nobody_reads_does_not_spoil_the_next_request() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut connection = Connection::to(&server).await;
    let large = "x".repeat(200_000);
    assert_eq!(connection.api("nobody", "POST", "/prompts", Some(&large)).await.status, 401);
    assert_eq!(connection.api(server.api_key(), "GET", "/prompts", Some("{}")).await.status, 200);
}

#[tokio::test]
async fn a_head_that_does_not_come_ends_the_connection_after_10_s_and_idleness_after_75_s() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut connections = Vec::new();
    for beginning in ["", "G", "PRI * HTTP/2", "GET /api/v1/prompts HTTP/1.1\r\nhost: t\r\n"] {
        let mut connection = Connection::to(&server).await;
        connection.send(beginning).await;
        connections.push(connection);
    }
    let mut idle = Connection::to(&server).await;
    for seconds in [11, 70, 70, 76] {
        assert_eq!(idle.api(server.api_key(), "GET", "/prompts", None).await.status, 200);
        tokio::time::sleep(Duration::from_millis(50)).await;
        advance(Duration::from_secs(seconds)).await;
        for mut connection in connections.drain(..) {
            assert!(connection.ends().await);
        }
    }
    assert!(idle.ends().await);
}

#[tokio::test]
async fn http_2_works_with_prior_knowledge() {
    let server = EmbeddedServer::start().await.unwrap();
    let address = server.local_addr();
    let stream = TokioIo::new(TcpStream::connect(address).await.unwrap());
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake::<_, _, Full<Bytes>>(TokioExecutor::new(), stream)
            .await
            .unwrap();
    tokio::spawn(connection);
    let calls = (0..50).map(|number| {
        let mut sender = sender.clone();
        let body = format!(r#"{{"title":"{number}","prompt":"p"}}"#);
        let request = http::Request::post(format!("{}/prompts", server.base_url()))
            .header("authorization", format!("Bearer {}", server.api_key()))
            .header("content-type", "application/json")
            .body(Full::from(body))
            .unwrap();
        async move {
            let response = sender.send_request(request).await.unwrap();
            assert_eq!(response.status(), 201);
            response.into_body().collect().await.unwrap().to_bytes()
        }
    });
    let responses = futures::future::join_all(calls).await;
    assert!(responses.iter().all(|body| body.starts_with(br#"{"data":{"id":"#)));

    let head = http::Request::head(format!("{}/vaults", server.base_url()));
    let response = sender.send_request(head.body(Full::default()).unwrap()).await.unwrap();
    assert_eq!(response.status(), 401);
    assert_ne!(response.headers()["content-length"], "0");
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "");
}

#[tokio::test]
async fn a_broken_preface_of_http_2_harms_no_other_connection() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut connection = Connection::to(&server).await;
    connection.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense that is no frame").await;
    assert!(connection.response().await.is_none());
    assert_eq!(call(&server, "GET", "/prompts", None).await.status, 200);
}

/// A body of exactly this size that is a valid prompt.
fn prompt_of(size: usize) -> String {
    let (before, after) = (r#"{"title":"t","prompt":"p","padding":""#, r#""}"#);
    format!("{before}{}{after}", "x".repeat(size - before.len() - after.len()))
}

#[tokio::test]
async fn a_body_that_announces_too_much_is_refused_unread() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut connection = Connection::to(&server).await;
    let length = format!("content-length: {}\r\n", BODY_BYTES_MAX + 1);
    let response = connection.ask(head(server.api_key(), "POST", "/prompts", &length)).await;
    assert_eq!(response.status, 413);
    assert_eq!(response.json()["details"], serde_json::json!({}));
}

#[tokio::test]
async fn the_refusal_reaches_a_client_that_sends_on_slowly() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut connection = Connection::to(&server).await;
    let length = format!("content-length: {}\r\n", BODY_BYTES_MAX + 1);
    connection.send(head(server.api_key(), "POST", "/prompts", &length)).await;
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        advance(Duration::from_millis(500)).await;
        connection.send("x".repeat(BODY_BYTES_MAX / 10)).await;
    }
    assert_eq!(connection.ask("xxxxx").await.status, 413);
}

#[tokio::test]
async fn the_refusal_of_a_head_reaches_a_client_that_sends_on() {
    let server = EmbeddedServer::start().await.unwrap();
    let half = "x".repeat(512 * 1024);
    for number in 0..20 {
        let mut connection = Connection::to(&server).await;
        connection.send(format!("GET / HTTP/1.1\r\nhost: test\r\nx: {half}")).await;
        connection.is_answered().await;
        connection.send(format!("{half}\r\n\r\n")).await;
        let response = connection.response().await;
        assert_eq!(response.map(|response| response.status), Some(431), "connection {number}");
    }
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
        assert_eq!(connection.ask("0\r\n\r\n").await.status, status, "{size}");
    }
}

#[tokio::test]
async fn a_body_that_does_not_come_is_given_up() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut connection = Connection::to(&server).await;
    connection.send(head(server.api_key(), "POST", "/prompts", "content-length: 9\r\n")).await;
    connection.send("{").await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    advance(Duration::from_secs(BODY_SECONDS_MAX + 1)).await;
    let response = connection.response().await.unwrap();
    assert_eq!(response.status, 408);
    assert!(response.json()["error"].as_str().unwrap().contains("30 seconds"));
}

#[tokio::test]
async fn one_address_may_have_half_of_the_connections() {
    let server = Running::start(&["--max-connections=4"]).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut connection = Connection::to(&server).await;
        assert_eq!(connection.api(server.api_key(), "GET", "/vaults", None).await.status, 200);
        held.push(connection);
    }
    assert!(Connection::to(&server).await.ends().await);
    // Another address has the other half.
    let mut other = Connection::from(Ipv4Addr::new(127, 0, 0, 2), &server).await;
    assert_eq!(other.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn a_server_opens_as_many_connections_to_its_database_as_it_is_told() {
    let database = ScratchDatabase::create().await.unwrap();
    let url = database.url();
    let flags = ["--database-url", &url, "--database-pool=3", "--blob-store=memory:"];
    let server = Running::start(&flags).await;
    let mut connections = Vec::new();
    for number in 0..40 {
        let mut connection = Connection::to(&server).await;
        let body = format!(r#"{{"name":"{number}"}}"#);
        connection.send(request(server.api_key(), "POST", "/vaults", Some(&body))).await;
        connections.push(connection);
    }
    for connection in &mut connections {
        assert_eq!(connection.response().await.unwrap().status, 201);
    }
    let (sql, driver) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(driver);
    let count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                 AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
    let count: i64 = sql.query_one(count, &[]).await.unwrap().get(0);
    println!("{count} connections");
    assert_eq!(count, 3);
}
