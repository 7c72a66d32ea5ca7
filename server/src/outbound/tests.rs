//! Against scripted answers on real sockets.

use std::time::Instant;

use http::StatusCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

const LIMITS: Limits = Limits { time: Duration::from_secs(5), bytes: 1000 };

/// Answers each connection with these bytes and then holds it open.
async fn answering(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(answer).await;
                let _ = stream.read(&mut request).await;
            });
        }
    });
    format!("http://{address}/")
}

fn anywhere() -> Outbound {
    Outbound::new(Reach::Anywhere).unwrap()
}

async fn get(
    client: &Outbound,
    uri: &str,
    limits: Limits,
) -> Result<Response<Bytes>, OutboundError> {
    client.fetch(Request::get(uri).body(Bytes::new()).unwrap(), limits).await
}

#[tokio::test]
async fn a_whole_answer_comes_back() {
    let at = answering(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello").await;
    let answer = get(&anywhere(), &at, LIMITS).await.unwrap();
    assert_eq!((answer.status(), &answer.body()[..]), (StatusCode::OK, &b"hello"[..]));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let at = answering(
        b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
    )
    .await;
    let answer = get(&anywhere(), &at, LIMITS).await.unwrap();
    assert_eq!(answer.status(), StatusCode::FOUND);
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_dropped_by_its_declared_length() {
    let at = answering(b"HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n").await;
    let error = get(&anywhere(), &at, LIMITS).await.unwrap_err();
    assert!(matches!(error, OutboundError::TooLarge(1000)), "{error:?}");
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_dropped_by_what_arrives() {
    let at = answering(
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\na\r\n0123456789\r\na\r\n0123456789\r\n",
    )
    .await;
    let limits = Limits { bytes: 15, ..LIMITS };
    let error = get(&anywhere(), &at, limits).await.unwrap_err();
    assert!(matches!(error, OutboundError::TooLarge(15)), "{error:?}");
}

#[tokio::test]
async fn a_body_that_stalls_ends_with_the_time_limit() {
    let at = answering(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n01234").await;
    let limits = Limits { time: Duration::from_millis(100), ..LIMITS };
    let begun = Instant::now();
    let error = get(&anywhere(), &at, limits).await.unwrap_err();
    assert!(matches!(error, OutboundError::TimedOut(_)), "{error:?}");
    assert!(!error.nothing_was_sent());
    assert!(begun.elapsed() < Duration::from_secs(4));
}

#[tokio::test]
async fn a_connection_that_breaks_may_have_carried_the_request() {
    let at = answering(b"nonsense\r\n\r\n").await;
    let error = get(&anywhere(), &at, LIMITS).await.unwrap_err();
    assert!(matches!(error, OutboundError::Broken(_)), "{error:?}");
    assert!(!error.nothing_was_sent());
}

#[tokio::test]
async fn a_refused_connection_carried_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let error = get(&anywhere(), &at, LIMITS).await.unwrap_err();
    assert!(matches!(error, OutboundError::Connect(_)), "{error:?}");
    assert!(error.nothing_was_sent());
}

#[tokio::test]
async fn a_failed_tls_handshake_carried_nothing() {
    let at = answering(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let error = get(&anywhere(), &at.replace("http:", "https:"), LIMITS).await.unwrap_err();
    assert!(matches!(error, OutboundError::Connect(_)), "{error:?}");
    assert!(error.nothing_was_sent());
}

#[tokio::test]
async fn private_addresses_are_out_of_public_reach_by_number_and_by_name() {
    let at = answering(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let port = at.trim_end_matches('/').rsplit(':').next().unwrap().to_owned();
    // A connection that another client keeps open must not be a way in either.
    let anywhere = anywhere();
    get(&anywhere, &at, LIMITS).await.unwrap();
    let public = anywhere.with_reach(Reach::Public);
    for host in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433"] {
        let error = get(&public, &format!("http://{host}:{port}/"), LIMITS).await.unwrap_err();
        assert!(matches!(error, OutboundError::NotPublic(_)), "{host}: {error:?}");
        assert!(error.nothing_was_sent());
    }
}

#[tokio::test]
async fn only_web_addresses_are_called() {
    for uri in ["ftp://example.org/", "/path", "file:///etc/passwd"] {
        let request = Request::get(uri).body(Bytes::new());
        let Ok(request) = request else { continue };
        let error = anywhere().fetch(request, LIMITS).await.unwrap_err();
        assert!(matches!(error, OutboundError::Address), "{uri}: {error:?}");
    }
}

#[tokio::test]
async fn a_client_with_new_connections_keeps_none() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = format!("http://{}/", listener.local_addr().unwrap());
    let client = anywhere().with_new_connections();
    for _ in 0..2 {
        let (answer, ()) = tokio::join!(get(&client, &at, LIMITS), async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await;
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
            // Not closed by this side.
            std::mem::forget(stream);
        });
        answer.unwrap();
    }
}
