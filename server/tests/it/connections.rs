//! Connections and bodies: time limits, size limits, HTTP/2, and connections to the database.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use promptarium_server::EmbeddedServer;
use promptarium_server::test_support::{BODY_BYTES_MAX, BODY_SECONDS_MAX, ScratchDatabase};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::client::{Connection, head, request};
use crate::support::program::Running;
use crate::support::{TIMEOUT, advance, sql};

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
    let stream = TokioIo::new(TcpStream::connect(server.local_addr()).await.unwrap());
    let client = http2::handshake::<_, _, Full<Bytes>>(TokioExecutor::new(), stream).await;
    let (sender, connection) = client.unwrap();
    tokio::spawn(connection);
    let key = format!("Bearer {}", server.api_key());
    let call = async |method: &str, path: &str, body: String| {
        let request = http::Request::builder().method(method);
        let request = request.uri(format!("{}{path}", server.base_url()));
        let request = request.header("authorization", &key);
        let request = request.header("content-type", "application/json").body(Full::from(body));
        let response = sender.clone().send_request(request.unwrap()).await.unwrap();
        let (head, body) = response.into_parts();
        (head.status, head.headers["content-length"].clone(), body.collect().await.unwrap())
    };
    let prompt = |number| format!(r#"{{"title":"{number}","prompt":"p"}}"#);
    let calls = (0..50).map(|number| call("POST", "/prompts", prompt(number)));
    for (status, _, body) in futures::future::join_all(calls).await {
        assert_eq!(status, 201);
        assert!(body.to_bytes().starts_with(br#"{"data":{"id":"#));
    }
    // A broken preface harms no other connection.
    let mut broken = Connection::to(&server).await;
    broken.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense that is no frame").await;
    assert!(broken.response().await.is_none());
    let (status, length, body) = call("HEAD", "/vaults", String::new()).await;
    assert!(status == 200 && length != "0" && body.to_bytes().is_empty());
}

#[tokio::test]
async fn a_body_that_announces_too_much_is_refused_unread_and_the_refusal_reaches_who_sends_on() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut connection = Connection::to(&server).await;
    let length = format!("content-length: {}\r\n", BODY_BYTES_MAX + 1);
    connection.send(head(server.api_key(), "POST", "/prompts", &length)).await;
    connection.is_answered().await;
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        advance(Duration::from_millis(500)).await;
        connection.send("x".repeat(BODY_BYTES_MAX / 10)).await;
    }
    let response = connection.ask("xxxxx").await;
    assert_eq!((response.status, &response.json()["details"]), (413, &serde_json::json!({})));
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
async fn a_client_that_ends_its_sending_with_its_request_is_answered() {
    let server = EmbeddedServer::start().await.unwrap();
    let path = server.base_url().trim_start_matches("http://").to_owned();
    let (address, _) = path.split_once('/').unwrap();
    for asked in ["/prompts", "/vaults"] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let asking = head(server.api_key(), "GET", asked, "");
        stream.write_all(asking.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{asked}: {answer}");
    }
}

#[tokio::test]
async fn a_coding_below_chunks_is_refused_by_its_name() {
    let server = EmbeddedServer::start().await.unwrap();
    for coding in ["gzip, chunked", "chunked, chunked"] {
        let mut connection = Connection::to(&server).await;
        let line = format!("transfer-encoding: {coding}\r\n");
        connection.send(head(server.api_key(), "POST", "/prompts", &line)).await;
        let response = connection.ask("0\r\n\r\n").await;
        assert_eq!(response.status, 415, "{response:?}");
        assert!(response.body.contains(&format!("`Transfer-Encoding: {coding}`")), "{response:?}");
    }
}

#[tokio::test]
async fn a_chunked_body_is_counted_as_it_comes() {
    let server = EmbeddedServer::start().await.unwrap();
    let (before, after) = (r#"{"title":"t","prompt":"p","padding":""#, r#""}"#);
    for (size, status) in [(BODY_BYTES_MAX, 201), (BODY_BYTES_MAX + 1, 413)] {
        let body = format!("{before}{}{after}", "x".repeat(size - before.len() - after.len()));
        let mut connection = Connection::to(&server).await;
        let chunked = "transfer-encoding: chunked\r\n";
        connection.send(head(server.api_key(), "POST", "/prompts", chunked)).await;
        for chunk in body.as_bytes().chunks(1_000_000) {
            let size = format!("{:x}\r\n", chunk.len());
            connection.send([size.as_bytes(), chunk, b"\r\n"].concat()).await;
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
async fn a_server_opens_as_many_connections_to_its_database_as_it_is_told() {
    let database = ScratchDatabase::create().await.unwrap();
    let keys = ["promptarium_live_a1_s3cret", "promptarium_live_b1_s3cret"];
    let seeds = format!("--seed-key {}=alice --seed-key {}=bob", keys[0], keys[1]);
    let server = Running::on(&database.url(), &format!("--database-pool=3 {seeds}")).await;
    let mut connections = Vec::new();
    for number in 0..40 {
        let mut connection = Connection::to(&server).await;
        let body = format!(r#"{{"name":"{number}"}}"#);
        connection.send(request(keys[number % 2], "POST", "/vaults", Some(&body))).await;
        connections.push(connection);
    }
    for connection in &mut connections {
        assert_eq!(connection.response().await.unwrap().status, 201);
    }
    let count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                 AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
    let sql = sql(&database.url()).await;
    // Of two accounts, since one has at most half of the connections for changes.
    let all = async {
        while sql.query_one(count, &[]).await.unwrap().get::<_, i64>(0) < 3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, all).await.expect("three connections in time");
    assert_eq!(sql.query_one(count, &[]).await.unwrap().get::<_, i64>(0), 3);
}
