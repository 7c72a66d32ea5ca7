//! Compressed responses.

use std::io::Read;

use flate2::read::GzDecoder;
use promptarium_server::EmbeddedServer;

use crate::support::browser::{FORM, JSON, KEYS, OWN, request, send, sign_in};
use crate::support::client::{Connection, Response, Slot, call};

const GZIP: &str = "accept-encoding: gzip, br\r\n";

fn is_packed(response: &Response) -> bool {
    assert_eq!(
        response.header("vary") == Some("accept-encoding"),
        response.header("content-encoding").is_some()
            || response.header("cache-control") == Some("no-cache"),
        "{response:?}"
    );
    response.header("content-encoding") == Some("gzip")
}

fn unpacked(response: &Response) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(&*response.bytes).read_to_end(&mut bytes).unwrap();
    bytes
}

#[tokio::test]
async fn json_and_pages_are_compressed_for_who_accepts_it() {
    let server = EmbeddedServer::start().await.unwrap();
    for number in 0..70 {
        let text = "A harbour before sunrise. ".repeat(40);
        let body = format!(r#"{{"title":"t{number}","prompt":"{text}","vaultId":1}}"#);
        assert_eq!(call(&server, "POST", "/prompts", Some(&body)).await.status, 201);
    }
    let key = format!("authorization: Bearer {}\r\n", server.api_key());
    let cookie = sign_in(&server).await;
    let mut connection = Connection::to(&server).await;
    for (path, headers) in [
        ("/api/v1/prompts?limit=5", &*key),
        // In pieces, from memory.
        ("/api/v1/prompts?limit=70", &key),
        // Streamed.
        ("/api/v1/vaults/1/prompts", &key),
        ("/api/v1/openapi.json", ""),
        ("/prompts", &cookie),
    ] {
        let plain = connection.ask(request("GET", path, headers, "")).await;
        assert!(!is_packed(&plain), "{path}");
        let headers = format!("{headers}{GZIP}");
        let packed = connection.ask(request("GET", path, &headers, "")).await;
        assert!(is_packed(&packed), "{path}: {packed:?}");
        assert!(packed.bytes.len() * 2 < plain.bytes.len(), "{path}: {}", packed.bytes.len());
        assert_eq!(unpacked(&packed), plain.bytes, "{path}");
        let head = connection.ask(request("HEAD", path, &headers, "")).await;
        for name in ["content-encoding", "content-length", "content-type", "vary", "etag"] {
            assert_eq!(head.header(name), packed.header(name), "{path} {name}");
        }
    }
}

#[tokio::test]
async fn small_responses_assets_and_new_keys_are_not_compressed() {
    let server = EmbeddedServer::start().await.unwrap();
    let cookie = sign_in(&server).await;
    let slot = Slot::to(&server, 5_000).await;
    assert_eq!(slot.put(&[0; 5_000]).await.status, 200);
    let new_key = format!("{FORM}{OWN}{cookie}{GZIP}");
    let json = format!("{JSON}{OWN}{cookie}{GZIP}");
    let name = "n".repeat(100);
    for sent in [
        request("GET", "/healthz", GZIP, ""),
        request("GET", &slot.path, GZIP, ""),
        request("GET", &slot.path, &format!("{GZIP}range: bytes=0-4000\r\n"), ""),
        request("POST", "/keys", &new_key, &format!("name={name}")),
        request("POST", KEYS, &json, &format!(r#"{{"name":"{name}","scopes":[]}}"#)),
    ] {
        let response = send(&server, &sent).await;
        assert!(response.status < 300, "{response:?}");
        assert_eq!(response.header("content-encoding"), None, "{sent}");
    }
    let page = send(&server, request("POST", "/keys", &new_key, "name=n")).await;
    assert!(page.bytes.len() > 1_400 && page.body.contains("PROMPTARIUM_API_KEY="));
}

#[tokio::test]
async fn the_tag_of_a_compressed_document_is_weak_and_still_matches() {
    const PATH: &str = "/api/v1/openapi.json";
    let server = EmbeddedServer::start().await.unwrap();
    let plain = send(&server, request("GET", PATH, "", "")).await;
    let packed = send(&server, request("GET", PATH, GZIP, "")).await;
    let tag = packed.header("etag").unwrap();
    assert_eq!(tag, format!("W/{}", plain.header("etag").unwrap()));
    let same = format!("{GZIP}if-none-match: {tag}\r\n");
    let same = send(&server, request("GET", PATH, &same, "")).await;
    assert_eq!((same.status, same.bytes.len()), (304, 0));
    assert_eq!(same.header("vary"), Some("accept-encoding"));
}
