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
