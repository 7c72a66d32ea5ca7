//! The service described by itself: served, and printed.

use promptarium_server::EmbeddedServer;
use serde_json::Value;

use crate::support::client::{Answer, Connection};
use crate::support::program::{output, program};

const PATH: &str = "/api/v1/openapi.json";

/// A request without a key.
async fn ask(connection: &mut Connection, method: &str, more: &str) -> Answer {
    connection.send(format!("{method} {PATH} HTTP/1.1\r\nhost: a\r\n{more}\r\n")).await;
    match method {
        "HEAD" => connection.answer_to_head().await.unwrap(),
        _ => connection.answer().await.unwrap(),
    }
}

/// What the program prints.
async fn printed(arguments: &[&str]) -> Value {
    let output = output(program(&[&["openapi"], arguments].concat(), &[])).await;
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[tokio::test]
async fn it_is_served_without_a_key_and_outside_of_the_envelope() {
    let server = EmbeddedServer::start().await.unwrap();
    let answer = ask(&mut Connection::to(&server).await, "GET", "").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let document = answer.json();
    assert_eq!(document["openapi"], "3.1.1");
    let root = server.base_url().strip_suffix("/api/v1").unwrap();
    assert_eq!(document["servers"][0]["url"], root);
}

#[tokio::test]
async fn who_has_it_gets_no_second_one() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut connection = Connection::to(&server).await;
    let tag = ask(&mut connection, "GET", "").await.header("etag").unwrap().to_owned();
    let again = ask(&mut connection, "GET", &format!("if-none-match: {tag}\r\n")).await;
    assert_eq!((again.status, again.bytes.len()), (304, 0));
    assert_eq!(again.header("etag"), Some(&*tag));
    let other = ask(&mut connection, "GET", "if-none-match: \"other\"\r\n").await;
    assert_eq!(other.status, 200);
}

#[tokio::test]
async fn other_methods_are_refused_in_the_envelope() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut connection = Connection::to(&server).await;
    let refused = ask(&mut connection, "DELETE", "").await;
    assert_eq!((refused.status, refused.header("allow")), (405, Some("GET")));
    assert_eq!(refused.json()["data"], Value::Null);
    assert_eq!(ask(&mut connection, "HEAD", "").await.status, 405);
}

#[tokio::test]
async fn what_is_printed_is_what_is_served() {
    let builder = EmbeddedServer::builder().public_url("https://prompts.example/behind/");
    let server = builder.model_namespace("acme").start().await.unwrap();
    let connection = &mut Connection::open(&server.local_addr().to_string()).await;
    let served = ask(connection, "GET", "").await.json();
    let arguments = ["--public-url", "https://prompts.example/behind", "--model-namespace=acme"];
    assert_eq!(printed(&arguments).await, served);
    assert_ne!(printed(&[]).await, served);
}

#[tokio::test]
async fn it_is_printed_for_people_without_naming_a_server() {
    let output = output(program(&["openapi"], &[])).await;
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("{\n  \"components\""), "{text:.80}");
    assert!(text.ends_with("}\n"));
    assert_eq!(printed(&[]).await["servers"][0]["url"], "/");
}

#[tokio::test]
async fn a_wrong_flag_prints_nothing() {
    for arguments in
        [["openapi", "--nonsense"], ["openapi", "--model-namespace=a/b"], ["openapi", "more"]]
    {
        let output = output(program(&arguments, &[])).await;
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty());
        assert_eq!(String::from_utf8(output.stderr).unwrap().matches('\n').count(), 1);
    }
}
