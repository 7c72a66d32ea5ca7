//! The server inside another program.

use std::time::Duration;

use promptarium_server::{EmbedError, EmbeddedServer};
use serde_json::json;
use tokio::net::TcpStream;

use crate::generations::SlowProvider;
use crate::support::PROMPT;
use crate::support::browser::with_clock;
use crate::support::client::{Connection, call, request};

#[tokio::test]
async fn two_servers_share_nothing_and_dropping_one_stops_it() {
    let one = EmbeddedServer::start().await.unwrap();
    let two = EmbeddedServer::start().await.unwrap();
    assert_ne!(one.base_url(), two.base_url());
    call(&one, "POST", "/prompts", Some(PROMPT)).await;
    assert_eq!(call(&two, "GET", "/prompts", None).await.data(), json!([]));
    let mut connection = Connection::to(&two).await;
    assert_eq!(connection.api(one.api_key(), "GET", "/prompts", None).await.status, 401);
    let address = two.local_addr();
    drop(two);
    assert!(connection.ends().await);
    assert!(TcpStream::connect(address).await.is_err());
    assert_eq!(call(&one, "GET", "/prompts", None).await.status, 200);
}

#[tokio::test]
async fn api_key_is_the_first_key_that_can_write() {
    let (revoked, reads) = ("acme_live_a_1=alice:revoked", "acme_live_b_2=alice:none");
    for (seeds, expected) in [
        (&[revoked, reads, "acme_live_c_3=bob:prompts:write"][..], "acme_live_c_3"),
        (&[reads], "acme_live_b_2"),
    ] {
        let builder = EmbeddedServer::builder().vendor("acme");
        let builder = seeds.iter().fold(builder, |builder, seed| builder.seed_key(*seed));
        assert_eq!(builder.start().await.unwrap().api_key(), expected);
    }
}

#[tokio::test]
async fn an_error_about_a_setting_does_not_contain_the_key() {
    const SEED: &str = "promptarium_live_a1_s3cret=alice";
    let builder = EmbeddedServer::builder;
    for builder in [
        builder().seed_key("promptarium_live_a1_s3cret"),
        builder().vendor("A"),
        builder().model_namespace(""),
        builder().seed_key(SEED).seed_key("promptarium_live_a1_s3cret=bob"),
    ] {
        let error = builder.start().await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{error}");
        assert!(!matches!(error, EmbedError::Listen(_)));
    }
}

#[tokio::test]
async fn its_clock_can_be_set() {
    let (browser, clock) = with_clock().await;
    clock.advance(Duration::from_micros(1));
    let created = browser.create("/vaults", json!({ "name": "v" })).await;
    assert_eq!(created["createdAt"], "2026-01-02T03:04:05.000001Z");
}

#[tokio::test]
#[cfg(feature = "postgres")]
async fn a_database_that_cannot_be_opened_is_an_error_of_the_database_that_is_said_once() {
    let builder = EmbeddedServer::builder().database_url("postgres://u:s3cret@127.0.0.1:1/d");
    let error = builder.start().await.unwrap_err();
    assert!(matches!(error, EmbedError::Database(_)), "{error:?}");
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.starts_with("database_url: ") && !source.contains("s3cret"), "{source}");
    assert!(!error.to_string().contains(&source), "{error}");
}

#[tokio::test]
async fn shutdown_waits_for_a_request_in_flight() {
    let provider = SlowProvider::new(Ok(()), 500);
    let server = EmbeddedServer::builder().provider(provider.clone()).start().await.unwrap();
    let mut connection = Connection::to(&server).await;
    let body = r#"{"modelId":"m","prompt":"p"}"#;
    connection.send(request(server.api_key(), "POST", "/generations", Some(body))).await;
    provider.submitted().await;
    let shutdown = tokio::spawn(server.shutdown());
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!shutdown.is_finished());
    assert_eq!(connection.response().await.unwrap().status, 202);
    shutdown.await.unwrap();
}
