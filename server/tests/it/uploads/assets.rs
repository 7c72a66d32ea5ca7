//! Reading assets.

use promptarium_server::EmbeddedServer;

use super::{sample, slot_of};
use crate::support::client::Answer;
use crate::support::slot::Slot;

async fn asset(server: &EmbeddedServer, bytes: &[u8]) -> Slot {
    let slot = slot_of(server, bytes.len()).await;
    assert_eq!(slot.put(bytes).await.status, 200);
    slot
}

/// Headers of every response about an asset.
fn assert_cacheable(answer: &Answer, slot: &Slot) {
    let name = slot.path.rsplit('/').next().unwrap();
    assert_eq!(answer.header("etag"), Some(&*format!("\"{name}\"")));
    assert_eq!(answer.header("cache-control"), Some("public, max-age=31536000, immutable"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
}

#[tokio::test]
async fn an_asset_has_type_length_etag_and_may_be_cached() {
    let server = EmbeddedServer::start().await.unwrap();
    let bytes = sample(100_000);
    let slot = asset(&server, &bytes).await;
    for method in ["GET", "HEAD"] {
        let answer = slot.ask(method, "").await;
        assert_eq!(answer.status, 200);
        assert_cacheable(&answer, &slot);
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
async fn a_matching_etag_is_304() {
    let server = EmbeddedServer::start().await.unwrap();
    let slot = asset(&server, b"0123456789").await;
    let etag = slot.get().await.header("etag").unwrap().to_owned();
    for (given, range, status) in
        [(&*etag, "", 304), (&etag, "range: bytes=1-2\r\n", 304), ("\"other\"", "", 200)]
    {
        for method in ["GET", "HEAD"] {
            let headers = format!("{range}if-none-match: {given}\r\n");
            let answer = slot.ask(method, &headers).await;
            assert_eq!(answer.status, status, "{method} {given}");
            assert_cacheable(&answer, &slot);
            assert_eq!(answer.body.is_empty(), status == 304 || method == "HEAD");
        }
    }
}

#[tokio::test]
async fn a_range_is_206_and_one_outside_the_file_416() {
    let server = EmbeddedServer::start().await.unwrap();
    let slot = asset(&server, b"0123456789").await;
    for (range, part, content_range) in
        [("bytes=2-4", "234", "bytes 2-4/10"), ("bytes=-2", "89", "bytes 8-9/10")]
    {
        let answer = slot.ask("GET", &format!("range: {range}\r\n")).await;
        assert_eq!((answer.status, &*answer.body), (206, part), "{range}");
        assert_eq!(answer.header("content-range"), Some(content_range));
        assert_eq!(answer.header("content-length"), Some(&*part.len().to_string()));
        assert_eq!(answer.header("content-type"), Some("image/png"));
        assert_cacheable(&answer, &slot);
    }
    let answer = slot.ask("GET", "range: bytes=10-\r\n").await;
    assert_eq!((answer.status, answer.header("content-range")), (416, Some("bytes */10")));
    assert!(answer.json()["data"].is_null());
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let ignored = slot.ask("GET", "range: bytes=0-1,3-4\r\n").await;
    assert_eq!((ignored.status, &*ignored.body), (200, "0123456789"));
    let head = slot.ask("HEAD", "range: bytes=1-2\r\n").await;
    assert_eq!((head.status, head.header("content-length")), (200, Some("10")));
}

#[tokio::test]
async fn an_absent_asset_is_404_in_the_envelope() {
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
async fn a_client_that_disconnects_does_not_affect_others() {
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
