//! The server inside another program.

use std::time::Duration;

use promptarium_server::{Clock, ManualClock};
use promptarium_server::{EmbedError, EmbeddedServer};
use tokio::net::TcpStream;

use crate::support::client::{Connection, call, request};
use crate::support::failing::FailingStore;

#[tokio::test]
async fn two_servers_share_nothing() {
    let one = EmbeddedServer::start().await.unwrap();
    let two = EmbeddedServer::start().await.unwrap();
    assert_ne!(one.base_url(), two.base_url());
    call(&one, "POST", "/prompts", Some(r#"{"title":"t","prompt":"p"}"#)).await;
    assert_eq!(call(&two, "GET", "/prompts", None).await.json()["data"], serde_json::json!([]));
    let mut connection = Connection::to(&two).await;
    connection.send(request(one.api_key(), "GET", "/prompts", None)).await;
    assert_eq!(connection.answer().await.unwrap().status, 401);
}

#[tokio::test]
async fn the_first_key_that_can_write_is_handed_out() {
    let builder = EmbeddedServer::builder()
        .seed_key("acme_live_a_1=alice:revoked")
        .seed_key("acme_live_b_2=alice:none")
        .seed_key("acme_live_c_3=bob:prompts:write")
        .vendor("acme");
    let server = builder.start().await.unwrap();
    assert_eq!(server.api_key(), "acme_live_c_3");

    let only_reading = EmbeddedServer::builder().seed_key("promptarium_live_b_2=alice:none");
    assert_eq!(only_reading.start().await.unwrap().api_key(), "promptarium_live_b_2");
}

#[tokio::test]
async fn a_wrong_setting_is_told_without_the_key() {
    let builders = [
        EmbeddedServer::builder().seed_key("promptarium_live_a1_s3cret"),
        EmbeddedServer::builder().vendor("A"),
        EmbeddedServer::builder().model_namespace(""),
        EmbeddedServer::builder()
            .seed_key("promptarium_live_a1_s3cret=alice")
            .seed_key("promptarium_live_a1_s3cret=bob"),
    ];
    for builder in builders {
        let error = builder.start().await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{error}");
        assert!(!matches!(error, EmbedError::Listen(_)));
    }
}

#[tokio::test]
async fn its_clock_can_be_held() {
    let clock = ManualClock::new("2026-01-02T03:04:05.6Z".parse().unwrap());
    let server =
        EmbeddedServer::builder().clock(Clock::Manual(clock.clone())).start().await.unwrap();
    clock.advance(Duration::from_micros(1));
    let made = call(&server, "POST", "/vaults", Some(r#"{"name":"v"}"#)).await;
    assert_eq!(made.json()["data"]["createdAt"], "2026-01-02T03:04:05.600001Z");
}

#[tokio::test]
async fn its_model_namespace_can_be_set() {
    let server = EmbeddedServer::builder().model_namespace("acme").start().await.unwrap();
    for (model, status) in [("acme/x", 201), ("local/x", 400)] {
        let body =
            format!(r#"{{"title":"t","prompt":"p","promptType":"image","modelId":"{model}"}}"#);
        assert_eq!(call(&server, "POST", "/prompts", Some(&body)).await.status, status);
    }
}

#[tokio::test]
async fn dropping_it_stops_it() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut connection = Connection::to(&server).await;
    let address = server.base_url().split('/').nth(2).unwrap().to_owned();
    drop(server);
    assert!(connection.ends().await);
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn shutdown_waits_for_a_request_in_flight() {
    let store = FailingStore::new(0);
    let server = EmbeddedServer::builder().store(store.clone()).start().await.unwrap();
    let mut connection = Connection::to(&server).await;
    connection.send(request(server.api_key(), "GET", "/vaults", None)).await;
    store.waiting.notified().await;
    let shutdown = tokio::spawn(server.shutdown());
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!shutdown.is_finished());
    store.go.notify_one();
    assert_eq!(connection.answer().await.unwrap().status, 200);
    shutdown.await.unwrap();
}
