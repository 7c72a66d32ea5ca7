//! Bodies of another size, another form, another speed.

use std::time::Duration;

use promptarium_server::EmbeddedServer;

use super::{sample, slot_of};
use crate::support::client::Connection;
use crate::support::slot::Slot;

async fn chunks(connection: &mut Connection, bytes: &[u8]) {
    for chunk in bytes.chunks(7) {
        connection.send(format!("{:x}\r\n", chunk.len())).await;
        connection.send(chunk).await;
        connection.send("\r\n").await;
    }
}

async fn put_chunked(slot: &Slot, bytes: &[u8]) -> u16 {
    let mut connection = slot.connection().await;
    connection.send(slot.head("transfer-encoding: chunked\r\n")).await;
    chunks(&mut connection, bytes).await;
    connection.send("0\r\n\r\n").await;
    connection.answer().await.unwrap().status
}

#[tokio::test]
async fn another_declared_size_is_refused_before_reading() {
    let server = EmbeddedServer::start().await.unwrap();
    let slot = slot_of(&server, 10).await;
    for (length, status) in [(0, 400), (9, 400), (11, 413), (10_485_761, 413)] {
        let mut connection = slot.connection().await;
        connection.send(slot.head(&format!("content-length: {length}\r\n"))).await;
        let answer = connection.answer().await.unwrap();
        assert_eq!(answer.status, status, "{length}");
        assert!(answer.json()["error"].as_str().unwrap().contains("the 10 bytes"));
        assert_eq!(answer.json()["details"], serde_json::json!({}));
    }
    let mut connection = slot.connection().await;
    connection.send(slot.head("")).await;
    assert_eq!(connection.answer().await.unwrap().status, 400);
    assert_eq!(slot.get().await.status, 404);
    assert_eq!(slot.put(&sample(10)).await.status, 200, "a refusal does not use it up");
}

#[tokio::test]
async fn a_chunked_body_must_have_exactly_the_size() {
    let server = EmbeddedServer::start().await.unwrap();
    for (size, status) in [(0, 400), (99, 400), (101, 413), (5_000, 413), (100, 200)] {
        let slot = slot_of(&server, 100).await;
        assert_eq!(put_chunked(&slot, &sample(size)).await, status, "{size}");
        assert_eq!(slot.get().await.status, if status == 200 { 200 } else { 404 });
    }
}

#[tokio::test]
async fn an_upload_that_breaks_off_leaves_nothing() {
    let server = EmbeddedServer::start().await.unwrap();
    let slot = slot_of(&server, 1_000).await;
    let mut connection = slot.connection().await;
    connection.send(slot.head("content-length: 1000\r\n")).await;
    connection.send(sample(999)).await;
    drop(connection);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(slot.get().await.status, 404);
    assert_eq!(slot.put(&sample(1_000)).await.status, 200);
}

#[tokio::test]
async fn a_stalled_upload_is_408() {
    let server = EmbeddedServer::start().await.unwrap();
    let slot = slot_of(&server, 10_485_760).await;
    let mut connection = slot.connection().await;
    connection.send(slot.head("content-length: 10485760\r\n")).await;
    connection.send("x").await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(349)).await;
    tokio::time::resume();
    tokio::time::sleep(Duration::from_millis(50)).await;
    connection.send("x").await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(2)).await;
    tokio::time::resume();
    let answer = connection.answer().await.unwrap();
    assert_eq!(answer.status, 408);
    assert!(answer.json()["error"].as_str().unwrap().contains("350 seconds"), "{}", answer.body);
    assert_eq!(slot.get().await.status, 404);
}

#[tokio::test]
async fn expect_100_continue_is_answered_before_the_body() {
    let server = EmbeddedServer::start().await.unwrap();
    let slot = slot_of(&server, 4).await;
    let expecting =
        |length: usize| slot.head(&format!("content-length: {length}\r\nexpect: 100-continue\r\n"));
    let mut connection = slot.connection().await;
    connection.send(expecting(5)).await;
    assert_eq!(connection.answer().await.unwrap().status, 413);
    let mut connection = slot.connection().await;
    connection.send(expecting(4)).await;
    assert_eq!(connection.answer_to_head().await.unwrap().status, 100);
    connection.send("1234").await;
    assert_eq!(connection.answer().await.unwrap().status, 200);
}
