//! Uploads without permission.

use promptarium_server::EmbeddedServer;

use super::slot_of;
use crate::support::client::Answer;
use crate::support::slot::Slot;

/// Sends a request to the slot's upload address, with these headers.
async fn send(slot: &Slot, method: &str, headers: &str) -> Answer {
    let mut connection = slot.connection().await;
    let path = &slot.upload_path;
    let head = format!("{method} {path} HTTP/1.1\r\nhost: test\r\ncontent-length: 1\r\n{headers}");
    connection.send(head + "\r\nx").await;
    let answer = match method {
        "HEAD" => connection.answer_to_head().await,
        _ => connection.answer().await,
    };
    answer.unwrap()
}

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

#[tokio::test]
async fn without_the_token_every_method_is_401() {
    let server = EmbeddedServer::start().await.unwrap();
    let (slot, other) = (slot_of(&server, 1).await, slot_of(&server, 1).await);
    let typed = "content-type: image/png\r\n";
    for headers in [
        String::new(),
        format!("authorization: {}\r\n", slot.token),
        format!("authorization: bearer {}\r\n", slot.token),
        format!("authorization: Basic {}\r\n", slot.token),
        format!("authorization: Bearer {}\r\n", server.api_key()),
        format!("authorization: Bearer {}\r\n", other.token),
        format!("authorization: Bearer {}x\r\n", slot.token),
        format!("authorization: Bearer {0}\r\nauthorization: Bearer {0}\r\n", slot.token),
    ] {
        for method in METHODS {
            let answer = send(&slot, method, &format!("{typed}{headers}")).await;
            assert_eq!(answer.status, 401, "{method} {headers}");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
            assert_eq!(answer.header("allow"), None);
            assert!(!answer.body.contains(&slot.token), "{}", answer.body);
            if method != "HEAD" {
                assert!(answer.json()["data"].is_null());
            }
        }
    }
    assert_eq!(slot.get().await.status, 404);
    assert_eq!(slot.put(b"x").await.status, 200);
}

#[tokio::test]
async fn with_the_token_only_put_is_accepted() {
    let server = EmbeddedServer::start().await.unwrap();
    let slot = slot_of(&server, 1).await;
    for method in METHODS.into_iter().filter(|method| *method != "PUT") {
        let answer =
            send(&slot, method, &format!("authorization: Bearer {}\r\n", slot.token)).await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("PUT")), "{method}");
    }
}

#[tokio::test]
async fn the_content_type_must_be_the_declared_one() {
    let server = EmbeddedServer::start().await.unwrap();
    let slot = slot_of(&server, 1).await;
    let token = format!("authorization: Bearer {}\r\n", slot.token);
    for types in [
        "",
        "content-type: \r\n",
        "content-type: image/jpeg\r\n",
        "content-type: image/png; a=b\r\n",
        "content-type: application/octet-stream\r\n",
        "content-type: image/png\r\ncontent-type: image/png\r\n",
    ] {
        let answer = send(&slot, "PUT", &format!("{token}{types}")).await;
        assert_eq!(answer.status, 415, "{types}");
        assert!(answer.json()["error"].as_str().unwrap().contains("image/png"));
    }
    let answer = send(&slot, "PUT", &format!("{token}content-type: Image/PNG\r\n")).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn parts_of_different_slots_are_401() {
    let builder = EmbeddedServer::builder()
        .seed_key("promptarium_live_a1_s=alice")
        .seed_key("promptarium_live_b1_s=bob");
    let server = builder.start().await.unwrap();
    let of = |key: &'static str, size| Slot::of(server.base_url(), key, "image/png", size);
    let alice = of("promptarium_live_a1_s", 4).await;
    let bob = of("promptarium_live_b1_s", 4).await;
    let larger = of("promptarium_live_a1_s", 5).await;
    let name = |slot: &Slot| slot.path.rsplit('/').next().unwrap().to_owned();
    let query = |slot: &Slot| slot.upload_path.split_once('?').unwrap().1.to_owned();
    let with_path = |upload_path: String| Slot { upload_path, ..alice.clone() };
    for attack in [
        Slot { token: bob.token.clone(), ..alice.clone() },
        Slot { token: larger.token.clone(), ..alice.clone() },
        with_path(bob.upload_path.clone()),
        with_path(format!("/storage/{}?{}", name(&bob), query(&alice))),
        with_path(format!("/storage/{}?{}", name(&alice), query(&larger))),
        with_path(format!("/storage/{}?{}", name(&alice).replace("png", "gif"), query(&alice))),
        with_path(format!("/storage/{}", name(&alice))),
        with_path(format!("/storage/{}?slot=", name(&alice))),
        with_path(format!("/storage/{}?{1}&{1}", name(&alice), query(&alice))),
        with_path(format!("/storage/x?{}", query(&alice))),
        with_path(format!("/storage/..%2f{}?{}", name(&alice), query(&alice))),
        with_path(format!("/storage/%ff?{}", query(&alice))),
    ] {
        assert_eq!(attack.put(b"1234").await.status, 401, "{}", attack.upload_path);
        for slot in [&alice, &bob, &larger] {
            assert_eq!(slot.get().await.status, 404);
        }
    }
    assert_eq!(larger.put(b"1234").await.status, 400);
    assert_eq!(alice.put(b"1234").await.status, 200);
    assert_eq!(bob.put(b"5678").await.status, 200);
}

#[tokio::test]
async fn a_slot_of_another_server_is_401() {
    let one = EmbeddedServer::start().await.unwrap();
    let two = EmbeddedServer::start().await.unwrap();
    let slot = slot_of(&one, 1).await;
    let there = Slot { base_url: two.base_url().to_owned(), ..slot.clone() };
    assert_eq!(there.put(b"x").await.status, 401);
    assert_eq!(slot.put(b"x").await.status, 200);
}
