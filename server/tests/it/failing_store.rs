//! What a client sees when the server itself fails.

use promptarium_server::EmbeddedServer;

use crate::support::client::{Connection, call, request};
use crate::support::failing::FailingStore;

#[tokio::test]
async fn a_panic_is_a_500_and_the_server_lives_on() {
    let store = FailingStore::new(0);
    let server = EmbeddedServer::builder().store(store).start().await.unwrap();
    let mut connection = Connection::to(&server).await;
    for _ in 0..2 {
        connection.send(request(server.api_key(), "GET", "/prompts/1", None)).await;
        let answer = connection.answer().await.unwrap();
        assert_eq!(answer.status, 500);
        assert!(answer.header("x-request-id").is_some());
        assert!(!answer.body.contains("internal secret"), "{}", answer.body);
        let json = answer.json();
        assert!(json["data"].is_null() && json["error"].is_string());
        assert_eq!(json["details"], serde_json::json!({}));
    }
    assert_eq!(call(&server, "GET", "/prompts", None).await.status, 200);
}

#[tokio::test]
async fn a_list_that_fails_at_its_beginning_is_a_500() {
    let store = FailingStore::new(0);
    let server = EmbeddedServer::builder().store(store).start().await.unwrap();
    assert_eq!(call(&server, "GET", "/vaults/1/prompts", None).await.status, 500);
}

#[tokio::test]
async fn a_list_that_breaks_off_does_not_look_whole() {
    let store = FailingStore::new(30);
    let server = EmbeddedServer::builder().store(store).start().await.unwrap();
    let body = format!(r#"{{"title":"t","prompt":"{}","vaultId":1}}"#, "x".repeat(4_000));
    for _ in 0..40 {
        assert_eq!(call(&server, "POST", "/prompts", Some(&body)).await.status, 201);
    }
    let mut connection = Connection::to(&server).await;
    connection.send(request(server.api_key(), "GET", "/vaults/1/prompts", None)).await;
    assert!(connection.answer().await.is_none(), "the connection is cut");
}
