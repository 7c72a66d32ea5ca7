//! Connections that fail, and timeouts.

use std::error::Error as _;
use std::time::Duration;

use insta::assert_snapshot;
use promptarium::{Client, RetryPolicy};
use tokio::net::TcpListener;

use super::kinds;
use crate::stub::{KEY, Then, client, get, raw, raw_failure};

#[tokio::test]
async fn an_incomplete_response_is_a_transport_error() {
    let answer = "HTTP/1.1 200 OK\r\nx-request-id: r-1\r\ncontent-length: 900\r\n\r\n{\"data\":";
    let error = raw_failure(answer).await;
    assert_snapshot!(error, @"GET /prompts/{promptId}: connection closed before the whole response was received (200 OK) (request id r-1)");
    assert_eq!(kinds(&error), "transport retryable");
    assert!(error.source().is_some());

    let address = raw("", Then::Disconnect).await;
    let error = get(&client(format!("http://{address}"))).await.unwrap_err();
    let text = error.to_string().replace(&address.port().to_string(), "PORT");
    assert_snapshot!(text, @"GET /prompts/{promptId}: connection to http://127.0.0.1:PORT closed before a response was received");
    assert_eq!(kinds(&error), "transport retryable");
}

#[tokio::test]
async fn a_refused_connection_is_a_connect_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = get(&client(format!("http://{address}"))).await.unwrap_err();
    let text = error.to_string().replace(&address.port().to_string(), "PORT");
    assert_snapshot!(text, @"GET /prompts/{promptId}: cannot connect to http://127.0.0.1:PORT: Connection refused (os error 111)");
    assert_eq!(kinds(&error), "connect retryable");
    assert_eq!(error.status(), None);
    assert!(error.source().is_some());
}

#[tokio::test]
async fn a_service_that_does_not_answer_is_a_timeout() {
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
async fn a_response_that_does_not_end_is_a_timeout() {
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

/// What a server writes in answer to a `POST`, and the status, or kind and outcome of the error.
#[tokio::test]
async fn what_is_no_whole_response_says_whether_the_request_may_have_been_carried_out() {
    use Then::{Disconnect, StayOpen};
    for (answer, then, expected) in [
        ("", Disconnect, "transport Unknown"),
        ("", StayOpen, "timeout Unknown"),
        ("HTTP/1.1 2", Disconnect, "transport Unknown"),
        ("HTTP/1.1 201 Created\r\nx-a: b", Disconnect, "transport Unknown"),
        ("SSH-2.0-OpenSSH_9.9\r\n", Disconnect, "transport Unknown"),
        ("HTTP/1.1 99 Low\r\ncontent-length: 0\r\n\r\n", Disconnect, "transport Unknown"),
        ("HTTP/1.1 201 Created\r\nx: \0\r\n\r\n", Disconnect, "transport Unknown"),
        (
            "HTTP/1.1 201 Created\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
            Disconnect,
            "transport Unknown",
        ),
        ("HTTP/1.1 100 Continue\r\n\r\n", Disconnect, "transport Unknown"),
        (
            "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
            StayOpen,
            "status Unknown",
        ),
        ("HTTP/1.1 304 Not Modified\r\n\r\n", StayOpen, "status Unknown"),
        ("HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n", StayOpen, "status Unknown"),
        ("HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n", Disconnect, "status Unknown"),
        ("HTTP/1.1 409 Conflict\r\ncontent-length: 900\r\n\r\n{", Disconnect, "conflict NotDone"),
        ("HTTP/1.1 201 Created\r\ncontent-length: 900\r\n\r\n{", Disconnect, "transport Done"),
        ("HTTP/1.1 201 Created\r\ncontent-length: 900\r\n\r\n{", StayOpen, "timeout Done"),
        (
            "HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n",
            Disconnect,
            "transport Done",
        ),
        (
            "HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n",
            StayOpen,
            "timeout Done",
        ),
        (
            "HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
            Disconnect,
            "transport Done",
        ),
        (
            "HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx-t: 1\r\n\r\n",
            StayOpen,
            "201",
        ),
        (
            "HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\n{}HTTP/1.1 500 Odd\r\n\r\n",
            StayOpen,
            "201",
        ),
        (
            "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n",
            StayOpen,
            "201",
        ),
        ("HTTP/1.0 201 Created\r\n\r\n{}", Disconnect, "201"),
        ("HTTP/1.1 201\r\ncontent-length: 0\r\n\r\n", StayOpen, "201"),
        ("HTTP/1.1 201 Created\ncontent-length: 0\n\n", StayOpen, "201"),
    ] {
        let origin = format!("http://{}", raw(answer, then).await);
        let client = Client::builder().base_url(origin).api_key(KEY).retry(RetryPolicy::never());
        let client = client.request_timeout(Duration::from_secs(2)).build().unwrap();
        let shown = match client.post("/x").await {
            Ok(response) => response.status().as_str().to_owned(),
            Err(error) => format!("{} {:?}", error.kind().as_str(), error.outcome()),
        };
        assert_eq!(shown, expected, "{answer:?}");
    }
}
