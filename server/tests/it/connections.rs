//! Connections that are not as they should be, or not as they mostly are.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use promptarium_server::EmbeddedServer;
use tokio::net::TcpStream;

use crate::support::client::{Connection, call, head, request};

#[tokio::test]
async fn requests_sent_ahead_are_answered_in_their_order() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut connection = Connection::to(&server).await;
    let key = server.api_key();
    let all = [
        request(key, "POST", "/vaults", Some(r#"{"name":"one"}"#)),
        request(key, "GET", "/nothing", None),
        request(key, "DELETE", "/vaults/1", None),
        request(key, "GET", "/vaults", None),
    ];
    connection.send(all.concat()).await;
    for status in [201, 404, 400, 200] {
        assert_eq!(connection.answer().await.unwrap().status, status);
    }
}

#[tokio::test]
async fn a_body_that_nobody_reads_does_not_spoil_the_next_request() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut connection = Connection::to(&server).await;
    connection.send(request("nobody", "POST", "/prompts", Some(&"x".repeat(200_000)))).await;
    assert_eq!(connection.answer().await.unwrap().status, 401);
    connection.send(request(server.api_key(), "GET", "/prompts", Some("{}"))).await;
    assert_eq!(connection.answer().await.unwrap().status, 200);
}

#[tokio::test]
async fn garbage_is_refused_and_hurts_nobody() {
    let server = EmbeddedServer::start().await.unwrap();
    for garbage in [
        "nonsense\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET /api/v1/prompts HTTP/1.1\r\nbad header\r\n\r\n",
        "GET /api/v1/prompts HTTP/1.1\r\nhost: t\r\ncontent-length: x\r\n\r\n",
        "POST /api/v1/prompts HTTP/1.1\r\nhost: t\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        "\0\x01\x02\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense that is no frame",
    ] {
        let mut connection = Connection::to(&server).await;
        connection.send(garbage).await;
        if let Some(answer) = connection.answer().await {
            assert_eq!(answer.status, 400, "{garbage:?}");
        }
    }
    assert_eq!(call(&server, "GET", "/prompts", None).await.status, 200);
}

#[tokio::test]
async fn a_head_that_does_not_come_ends_the_connection() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut connections = Vec::new();
    for beginning in ["", "G", "PRI * HTTP/2", "GET /api/v1/prompts HTTP/1.1\r\nhost: t\r\n"] {
        let mut connection = Connection::to(&server).await;
        connection.send(beginning).await;
        connections.push(connection);
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    // From here on nothing but the server's own timers moves.
    tokio::time::pause();
    for mut connection in connections {
        tokio::time::advance(Duration::from_secs(11)).await;
        tokio::time::resume();
        assert!(connection.ends().await);
        tokio::time::pause();
    }
}

#[tokio::test]
async fn an_idle_connection_is_kept_for_75_seconds() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut connection = Connection::to(&server).await;
    for _ in 0..3 {
        connection.send(request(server.api_key(), "GET", "/prompts", None)).await;
        assert_eq!(connection.answer().await.unwrap().status, 200);
        tokio::time::sleep(Duration::from_millis(50)).await;
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(70)).await;
        tokio::time::resume();
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(76)).await;
    tokio::time::resume();
    assert!(connection.ends().await);
}

#[tokio::test]
async fn http_2_is_spoken_with_prior_knowledge() {
    let server = EmbeddedServer::start().await.unwrap();
    let address = server.base_url().split('/').nth(2).unwrap();
    let stream = TokioIo::new(TcpStream::connect(address).await.unwrap());
    let (sender, connection) =
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
            let answer = sender.send_request(request).await.unwrap();
            assert_eq!(answer.status(), 201);
            assert!(answer.headers().contains_key("x-request-id"));
            answer.into_body().collect().await.unwrap().to_bytes()
        }
    });
    let answers = futures::future::join_all(calls).await;
    assert_eq!(answers.len(), 50);
    assert!(answers.iter().all(|body| body.starts_with(br#"{"data":{"id":"#)));
}

#[tokio::test]
async fn the_answer_to_a_head_has_no_body_in_http_2() {
    let server = EmbeddedServer::start().await.unwrap();
    let address = server.base_url().split('/').nth(2).unwrap();
    let stream = TokioIo::new(TcpStream::connect(address).await.unwrap());
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake::<_, _, Full<Bytes>>(TokioExecutor::new(), stream)
            .await
            .unwrap();
    tokio::spawn(connection);
    let request = http::Request::head(format!("{}/vaults", server.base_url()));
    let answer = sender.send_request(request.body(Full::default()).unwrap()).await.unwrap();
    assert_eq!(answer.status(), 405);
    assert_ne!(answer.headers()["content-length"], "0");
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "");
}

#[tokio::test]
async fn the_request_id_is_taken_over_or_made() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut connection = Connection::to(&server).await;
    for (given, kept) in [("x-request-id: my.id-1\r\n", true), ("x-request-id: a b\r\n", false)] {
        connection.send(head("nobody", "GET", "/nothing", given)).await;
        let answer = connection.answer().await.unwrap();
        let id = answer.header("x-request-id").unwrap();
        assert_eq!(id == "my.id-1", kept, "{id}");
    }
}
