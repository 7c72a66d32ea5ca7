//! Assets as browsers and others ask for them.

use promptarium_server::EmbeddedServer;

use super::{sample, slot_of};
use crate::support::client::Answer;
use crate::support::slot::Slot;

async fn asset(server: &EmbeddedServer, bytes: &[u8]) -> Slot {
    let slot = slot_of(server, bytes.len()).await;
    assert_eq!(slot.put(bytes).await.status, 200);
    slot
}

/// What every answer about an asset says.
fn assert_for_good(answer: &Answer, slot: &Slot) {
    let name = slot.path.rsplit('/').next().unwrap();
    assert_eq!(answer.header("etag"), Some(&*format!("\"{name}\"")));
    assert_eq!(answer.header("cache-control"), Some("public, max-age=31536000, immutable"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
}

#[tokio::test]
async fn it_has_its_type_its_length_and_its_tag_and_may_be_kept() {
    let server = EmbeddedServer::start().await.unwrap();
    let bytes = sample(100_000);
    let slot = asset(&server, &bytes).await;
    for method in ["GET", "HEAD"] {
        let answer = slot.ask(method, "").await;
        assert_eq!(answer.status, 200);
        assert_for_good(&answer, &slot);
        assert_eq!(answer.header("content-type"), Some("image/png"));
        assert_eq!(answer.header("content-length"), Some("100000"));
        assert_eq!(answer.header("accept-ranges"), Some("bytes"));
        assert_eq!(answer.header("transfer-encoding"), None);
        assert!(answer.bytes == if method == "GET" { &bytes[..] } else { &[] });
    }
    let other = slot.ask("POST", "content-length: 0\r\n").await;
    assert_eq!((other.status, other.header("allow")), (405, Some("GET, HEAD")));
}

#[tokio::test]
async fn who_has_it_does_not_get_it_again() {
    let server = EmbeddedServer::start().await.unwrap();
    let slot = asset(&server, b"0123456789").await;
    let tag = slot.get().await.header("etag").unwrap().to_owned();
    for (given, status) in [
        (tag.clone(), 304),
        (format!("W/{tag}"), 304),
        (format!("\"other\", {tag}"), 304),
        ("*".to_owned(), 304),
        ("\"other\"".to_owned(), 200),
    ] {
        for method in ["GET", "HEAD"] {
            let answer = slot.ask(method, &format!("if-none-match: {given}\r\n")).await;
            assert_eq!(answer.status, status, "{method} {given}");
            assert_for_good(&answer, &slot);
            assert_eq!(answer.body.is_empty(), status == 304 || method == "HEAD");
        }
    }
}

#[tokio::test]
async fn a_part_of_it_can_be_had() {
    let server = EmbeddedServer::start().await.unwrap();
    let slot = asset(&server, b"0123456789").await;
    for (range, part, place) in [
        ("bytes=0-0", "0", "bytes 0-0/10"),
        ("bytes=2-4", "234", "bytes 2-4/10"),
        ("bytes=7-", "789", "bytes 7-9/10"),
        ("bytes=-2", "89", "bytes 8-9/10"),
        ("bytes=8-100", "89", "bytes 8-9/10"),
    ] {
        let answer = slot.ask("GET", &format!("range: {range}\r\n")).await;
        assert_eq!((answer.status, &*answer.body), (206, part), "{range}");
        assert_eq!(answer.header("content-range"), Some(place));
        assert_eq!(answer.header("content-length"), Some(&*part.len().to_string()));
        assert_eq!(answer.header("content-type"), Some("image/png"));
        assert_for_good(&answer, &slot);
    }
    for range in ["bytes=10-", "bytes=11-12", "bytes=-0"] {
        let answer = slot.ask("GET", &format!("range: {range}\r\n")).await;
        assert_eq!((answer.status, answer.header("content-range")), (416, Some("bytes */10")));
        assert!(answer.json()["data"].is_null());
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
    for range in ["bytes=0-1,3-4", "lines=1-2", "bytes=4-2", "nonsense"] {
        let answer = slot.ask("GET", &format!("range: {range}\r\n")).await;
        assert_eq!((answer.status, &*answer.body), (200, "0123456789"), "{range}");
    }
}

#[tokio::test]
async fn a_range_may_depend_on_the_tag() {
    let server = EmbeddedServer::start().await.unwrap();
    let slot = asset(&server, b"0123456789").await;
    let tag = slot.get().await.header("etag").unwrap().to_owned();
    for (condition, status) in
        [(&*tag, 206), ("\"other\"", 200), ("Mon, 02 Jan 2006 15:04:05 GMT", 200)]
    {
        let further = format!("range: bytes=1-2\r\nif-range: {condition}\r\n");
        assert_eq!(slot.ask("GET", &further).await.status, status, "{condition}");
    }
    let further = format!("range: bytes=1-2\r\nif-none-match: {tag}\r\n");
    assert_eq!(slot.ask("GET", &further).await.status, 304);
    let head = slot.ask("HEAD", "range: bytes=1-2\r\n").await;
    assert_eq!((head.status, head.header("content-length")), (200, Some("10")));
}

#[tokio::test]
async fn what_is_not_there_is_404_in_the_envelope() {
    let server = EmbeddedServer::start().await.unwrap();
    let slot = slot_of(&server, 1).await;
    let absent = ["/assets/x.png", "/assets/%ff", "/assets/..%2f..%2fetc%2fpasswd"];
    for path in absent.into_iter().chain([&*slot.path]) {
        let asked = Slot { path: path.to_owned(), ..slot.clone() };
        for further in ["", "range: bytes=0-1\r\n", "if-none-match: *\r\n"] {
            let answer = asked.ask("GET", further).await;
            assert_eq!(answer.status, 404, "{path}");
            assert!(answer.json()["error"].as_str().unwrap().contains("nothing yet"));
            assert_eq!(asked.ask("HEAD", further).await.status, 404);
        }
    }
    for path in ["/assets/", "/assets", "/assets/a/b", "/storage/", "/api/v1/assets/x.png"] {
        let asked = Slot { path: path.to_owned(), ..slot.clone() };
        assert_eq!(asked.get().await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn a_client_that_goes_away_in_the_middle_hurts_nobody() {
    let server = EmbeddedServer::start().await.unwrap();
    let bytes = sample(10_485_760);
    let slot = asset(&server, &bytes).await;
    for _ in 0..20 {
        let mut connection = slot.connection().await;
        connection.send(format!("GET {} HTTP/1.1\r\nhost: test\r\n\r\n", slot.path)).await;
        connection.answer_to_head().await.unwrap();
    }
    assert!(slot.get().await.bytes == bytes);
}
