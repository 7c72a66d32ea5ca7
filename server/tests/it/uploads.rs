//! Uploads and assets, over real sockets.

mod assets;
mod failures;
mod load;
mod sizes;
mod tokens;

use std::time::Duration;

use promptarium_server::EmbeddedServer;
use promptarium_server::{Clock, ManualClock};

use crate::support::client::{Connection, call, request};
use crate::support::slot::Slot;

/// Bytes that are not text.
fn sample(size: usize) -> Vec<u8> {
    (0..size).map(|at| (at % 251) as u8).collect()
}

async fn slot_of(server: &EmbeddedServer, size: usize) -> Slot {
    Slot::of(server.base_url(), server.api_key(), "image/png", size).await
}

#[tokio::test]
async fn a_slot_has_urls_token_and_lifetime() {
    let server = EmbeddedServer::start().await.unwrap();
    for (content_type, ending) in
        [("image/png", "png"), ("image/jpeg", "jpg"), ("image/webp", "webp"), ("image/gif", "gif")]
    {
        let body = format!(r#"{{"contentType":"{content_type}","size":10485760}}"#);
        let answer = call(&server, "POST", "/uploads/images", Some(&body)).await;
        assert_eq!(answer.status, 201);
        let json = answer.json();
        assert!(json["error"].is_null());
        let data = &json["data"];
        assert_eq!(data["contentType"], content_type);
        assert_eq!(data["size"], 10_485_760);
        assert_eq!(data["expiresIn"], 7200);
        let root = server.base_url().strip_suffix("/api/v1").unwrap();
        let path = data["path"].as_str().unwrap();
        let name = path.strip_prefix("images/").unwrap();
        assert!(name.ends_with(&format!(".{ending}")) && name.len() == 27 + ending.len(), "{name}");
        assert_eq!(data["url"], format!("{root}/assets/{name}"));
        let upload_url = data["uploadUrl"].as_str().unwrap();
        assert!(upload_url.starts_with(&format!("{root}/storage/{name}?slot=")), "{upload_url}");
        assert_eq!(data["token"].as_str().unwrap().len(), 43);
        assert_eq!(data.as_object().unwrap().len(), 7);
    }
}

#[tokio::test]
async fn every_invalid_field_of_a_slot_request_is_named() {
    let server = EmbeddedServer::start().await.unwrap();
    for (body, fields) in [
        (r"{}", &["contentType", "size"][..]),
        (r#"{"contentType":"image/png"}"#, &["size"]),
        (r#"{"size":1}"#, &["contentType"]),
        (r#"{"contentType":"image/svg+xml","size":0}"#, &["contentType", "size"]),
        (r#"{"contentType":"IMAGE/PNG","size":1}"#, &["contentType"]),
        (r#"{"contentType":"video/mp4","size":1}"#, &["contentType"]),
        (r#"{"contentType":null,"size":null}"#, &["contentType", "size"]),
        (r#"{"contentType":"image/png","size":10485761}"#, &["size"]),
        (r#"{"contentType":"image/png","size":-1}"#, &["size"]),
        (r#"{"contentType":"image/png","size":1.0}"#, &["size"]),
        (r#"{"contentType":"image/png","size":99999999999999999999}"#, &["size"]),
    ] {
        let answer = call(&server, "POST", "/uploads/images", Some(body)).await;
        assert_eq!(answer.status, 400, "{body}");
        let json = answer.json();
        let named: Vec<_> = json["details"].as_object().unwrap().keys().collect();
        assert_eq!(named, fields, "{body}");
    }
    let answer = call(&server, "GET", "/uploads/images", None).await;
    assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")));
}

#[tokio::test]
async fn an_upload_is_live_at_once_and_unchanged() {
    let server = EmbeddedServer::start().await.unwrap();
    for size in [1, 1_000, 3_000_000, 10_485_760] {
        let (slot, bytes) = (slot_of(&server, size).await, sample(size));
        let before = slot.get().await;
        assert_eq!(before.status, 404);
        assert!(before.json()["data"].is_null());
        assert_eq!(before.header("cache-control"), Some("no-store"));

        let put = slot.put(&bytes).await;
        assert_eq!((put.status, &*put.body), (200, ""), "{size}");
        assert_eq!(put.header("content-length"), Some("0"));
        assert_eq!(put.header("content-type"), None);
        assert!(put.header("x-request-id").is_some());
        let got = slot.get().await;
        assert_eq!(got.status, 200);
        assert!(got.bytes == bytes, "{size}");
    }
}

#[tokio::test]
async fn of_concurrent_uploads_one_succeeds() {
    let server = EmbeddedServer::start().await.unwrap();
    for _ in 0..5 {
        let slot = slot_of(&server, 300_000).await;
        let puts = (b'a'..b'i').map(|letter| {
            let slot = slot.clone();
            async move { (letter, slot.put(&vec![letter; 300_000]).await.status) }
        });
        let outcomes = futures::future::join_all(puts).await;
        let winners: Vec<_> = outcomes.iter().filter(|(_, status)| *status == 200).collect();
        assert_eq!(winners.len(), 1, "{outcomes:?}");
        assert!(outcomes.iter().all(|(_, status)| matches!(status, 200 | 400)), "{outcomes:?}");
        assert!(slot.get().await.bytes == vec![winners[0].0; 300_000]);
        let again = slot.put(&vec![b'z'; 300_000]).await;
        assert!(again.json()["error"].as_str().unwrap().contains("has been used"));
    }
}

#[tokio::test]
async fn a_slot_expires_after_7200_seconds() {
    let clock = ManualClock::new("2026-01-02T03:04:05Z".parse().unwrap());
    let builder = EmbeddedServer::builder().clock(Clock::Manual(clock.clone()));
    let server = builder.start().await.unwrap();
    let (early, late) = (slot_of(&server, 1).await, slot_of(&server, 1).await);
    clock.advance(Duration::from_secs(7200));
    assert_eq!(early.put(b"x").await.status, 200);
    clock.advance(Duration::from_micros(1));
    let refused = late.put(b"x").await;
    assert_eq!(refused.status, 401);
    assert!(refused.json()["error"].as_str().unwrap().contains("has run out"));
    assert_eq!(late.get().await.status, 404);
    clock.advance(Duration::from_secs(1_000_000));
    assert_eq!(early.get().await.body, "x");
}

#[tokio::test]
async fn an_upload_url_is_refused_as_the_url_of_an_image() {
    let server = EmbeddedServer::start().await.unwrap();
    let slot = slot_of(&server, 1).await;
    let prompt =
        |field: &str, value: &str| format!(r#"{{"title":"t","prompt":"p","{field}":{value}}}"#);
    let elsewhere = slot.upload_url.replace("127.0.0.1", "localhost");
    for url in [&slot.upload_url, &elsewhere] {
        let bodies = [
            ("imageUrl", prompt("imageUrl", &format!("\"{url}\""))),
            ("referenceMediaUrls", prompt("referenceMediaUrls", &format!("[\"{url}\"]"))),
        ];
        for (field, body) in bodies {
            for (method, path) in [("POST", "/prompts"), ("PATCH", "/prompts/1")] {
                let answer = call(&server, method, path, Some(&body)).await;
                assert_eq!(answer.status, 400, "{method} {field}");
                let json = answer.json();
                let said = json["details"][field].as_str().unwrap();
                assert!(said.contains("use the slot's url"), "{said}");
                assert!(!answer.body.contains("slot="), "{}", answer.body);
            }
        }
    }
    for (field, value) in [
        ("imageUrl", format!("\"{}\"", slot.url)),
        ("referenceMediaUrls", format!("[\"{}\"]", slot.url)),
    ] {
        let answer = call(&server, "POST", "/prompts", Some(&prompt(field, &value))).await;
        assert_eq!(answer.status, 201);
    }
}

#[tokio::test]
async fn a_connection_is_usable_after_a_refused_upload() {
    let server = EmbeddedServer::start().await.unwrap();
    let (one, two) = (slot_of(&server, 4).await, slot_of(&server, 4).await);
    let mut connection = Connection::to(&server).await;
    for (slot, body, status) in [(&one, "1234", 200), (&two, "123", 400), (&two, "1234", 200)] {
        connection.send(slot.head(&format!("content-length: {}\r\n", body.len()))).await;
        connection.send(body).await;
        assert_eq!(connection.answer().await.unwrap().status, status);
    }
    connection.send(request(server.api_key(), "GET", "/vaults", None)).await;
    assert_eq!(connection.answer().await.unwrap().status, 200);
}
