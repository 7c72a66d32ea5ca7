//! Large answers.

use promptarium_server::EmbeddedServer;

use crate::support::client::{Connection, call, request};

#[tokio::test]
async fn a_large_vault_is_streamed_and_whole() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut connection = Connection::to(&server).await;
    let text = "é\\n\\\"".repeat(1_000);
    for number in 0..300 {
        let body = format!(r#"{{"title":"{number}","prompt":"{text}","vaultId":1}}"#);
        connection.send(request(server.api_key(), "POST", "/prompts", Some(&body))).await;
        assert_eq!(connection.answer().await.unwrap().status, 201);
    }
    connection.send(request(server.api_key(), "GET", "/vaults/1/prompts", None)).await;
    let answer = connection.answer().await.unwrap();
    assert_eq!(answer.header("transfer-encoding"), Some("chunked"));
    let json = answer.json();
    let titles: Vec<_> =
        json["data"].as_array().unwrap().iter().map(|prompt| &prompt["title"]).collect();
    let expected: Vec<_> = (0..300).rev().map(|number| number.to_string()).collect();
    assert_eq!(titles, expected.iter().collect::<Vec<_>>());
    assert!(json["error"].is_null());
}

#[tokio::test]
async fn a_small_vault_goes_out_whole() {
    let server = EmbeddedServer::start().await.unwrap();
    let empty = call(&server, "GET", "/vaults/1/prompts", None).await;
    assert_eq!(empty.body, r#"{"data":[],"error":null}"#);
    assert_eq!(empty.header("content-length"), Some("24"));
}

#[tokio::test]
async fn pages_follow_each_other_by_their_cursors() {
    let server = EmbeddedServer::start().await.unwrap();
    for number in 1..=7 {
        let body = format!(r#"{{"title":"{number}","prompt":"p"}}"#);
        call(&server, "POST", "/prompts", Some(&body)).await;
    }
    let (mut seen, mut path) = (Vec::new(), "/prompts?limit=3".to_owned());
    loop {
        let page = call(&server, "GET", &path, None).await.json();
        let ids = page["data"].as_array().unwrap().iter().map(|prompt| prompt["id"].as_i64());
        seen.push(ids.map(Option::unwrap).collect::<Vec<_>>());
        let Some(cursor) = page["pagination"]["nextCursor"].as_str() else { break };
        path = format!("/prompts?limit=3&cursor={cursor}");
    }
    assert_eq!(seen, [vec![7, 6, 5], vec![4, 3, 2], vec![1]]);

    let refused = call(&server, "GET", &format!("{path}&type=text"), None).await;
    assert_eq!(refused.status, 400);
    assert!(refused.json()["details"]["cursor"].is_string());
}
