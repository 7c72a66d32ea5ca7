//! The server inside another program.

use std::sync::atomic::Ordering;
use std::time::Duration;

use promptarium_server::{Clock, ManualClock};
use promptarium_server::{EmbedError, EmbeddedServer};
use tokio::net::TcpStream;

use crate::generations::SlowProvider;
use crate::support::client::{Connection, call, request};

#[tokio::test]
async fn two_servers_share_nothing() {
    let one = EmbeddedServer::start().await.unwrap();
    let two = EmbeddedServer::start().await.unwrap();
    assert_ne!(one.base_url(), two.base_url());
    call(&one, "POST", "/prompts", Some(r#"{"title":"t","prompt":"p"}"#)).await;
    assert_eq!(call(&two, "GET", "/prompts", None).await.json()["data"], serde_json::json!([]));
    let mut connection = Connection::to(&two).await;
    assert_eq!(connection.api(one.api_key(), "GET", "/prompts", None).await.status, 401);
}

#[tokio::test]
async fn api_key_is_the_first_key_that_can_write() {
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
async fn an_error_about_a_setting_does_not_contain_the_key() {
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
async fn its_clock_can_be_set() {
    let clock = ManualClock::new("2026-01-02T03:04:05.6Z".parse().unwrap());
    let server =
        EmbeddedServer::builder().clock(Clock::Manual(clock.clone())).start().await.unwrap();
    clock.advance(Duration::from_micros(1));
    let created = call(&server, "POST", "/vaults", Some(r#"{"name":"v"}"#)).await;
    assert_eq!(created.json()["data"]["createdAt"], "2026-01-02T03:04:05.600001Z");
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
    let provider = SlowProvider::new(Ok(()), 1000);
    let server = EmbeddedServer::builder().provider(provider.clone()).start().await.unwrap();
    let mut connection = Connection::to(&server).await;
    let body = r#"{"modelId":"m","prompt":"p"}"#;
    connection.send(request(server.api_key(), "POST", "/generations", Some(body))).await;
    while provider.submits.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let shutdown = tokio::spawn(server.shutdown());
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!shutdown.is_finished());
    assert_eq!(connection.response().await.unwrap().status, 202);
    shutdown.await.unwrap();
}
