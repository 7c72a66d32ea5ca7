//! Downloads of assets, from any host and without the key.

mod ranges;
mod retries;
mod save;
mod stream;

use insta::assert_snapshot;
use promptarium::{Asset, Error};
use wiremock::{MockServer, ResponseTemplate};

use crate::errors::kinds;
use crate::stub::{Then, answering, client, raw};

async fn fetch(answer: ResponseTemplate) -> (Result<Asset, Error>, MockServer) {
    let server = answering(answer).await;
    let client = client("http://127.0.0.1:1");
    (client.assets().download(format!("{}/assets/a.png", server.uri())).await, server)
}

fn picture() -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_raw(vec![7; 1000], "image/png")
}

#[tokio::test]
async fn an_asset_is_fetched_without_the_key() {
    let (asset, server) = fetch(picture()).await;
    let asset = asset.unwrap();
    assert_eq!((asset.bytes.len(), asset.extension()), (1000, Some("png")));
    assert_eq!(asset.content_type.as_deref(), Some("image/png"));
    let requests = server.received_requests().await.unwrap();
    assert!(!requests[0].headers.contains_key("authorization"));

    // Not even from the host of the service.
    let client = client(server.uri());
    client.assets().download(format!("{}/api/v1/x", server.uri())).await.unwrap();
    let requests = server.received_requests().await.unwrap();
    assert!(!requests[1].headers.contains_key("authorization"));
}

#[tokio::test]
async fn an_asset_may_be_somewhere_else() {
    let storage = answering(picture()).await;
    let there = format!("{}/a.png?signature=s3cret", storage.uri());
    for status in [301, 302, 303, 307, 308] {
        let moved = ResponseTemplate::new(status).insert_header("location", there.as_str());
        assert_eq!(fetch(moved).await.0.unwrap().bytes.len(), 1000);
    }
}

#[tokio::test]
async fn redirects_that_cannot_be_followed_are_errors() {
    let text = async |answer: ResponseTemplate| {
        let error = fetch(answer).await.0.unwrap_err();
        assert_eq!(kinds(&error), "redirect");
        error.to_string()
    };
    assert_snapshot!(text(ResponseTemplate::new(302)).await, @"GET {url}: 302 Found has no valid Location");
    let file = ResponseTemplate::new(302).insert_header("location", "file:///etc/passwd");
    assert_snapshot!(text(file).await, @"GET {url}: 302 Found redirects to file:///etc/passwd; not followed: it is not an http or https URL");
    let endless = ResponseTemplate::new(302).insert_header("location", "?again");
    let (error, server) = fetch(endless).await;
    let error = error.unwrap_err().to_string().replace(&server.uri(), "HOST");
    assert_snapshot!(error, @"GET {url}: 302 Found redirects to HOST/assets/a.png; not followed: there were 5 redirects before");
    assert_eq!(server.received_requests().await.unwrap().len(), 6);
}

#[tokio::test]
async fn an_asset_may_not_be_larger_than_allowed() {
    let server = answering(picture()).await;
    let client = client("http://127.0.0.1:1");
    let get = |max| client.assets().download(server.uri()).max_size(max).into_future();
    assert!(get(1000).await.is_ok());
    let error = get(999).await.unwrap_err();
    assert_snapshot!(error, @"GET {url}: response larger than 999 bytes (max_size; 200 OK)");
    assert_eq!(kinds(&error), "too_large");

    let untold = "HTTP/1.1 200 OK\r\n\r\n0123456789";
    let address = raw(untold, Then::Disconnect).await;
    let asset = client.assets().download(format!("http://{address}/")).max_size(10).await.unwrap();
    assert_eq!((&asset.bytes[..], asset.content_type), (&b"0123456789"[..], None));
    let address = raw(untold, Then::StayOpen).await;
    let error =
        client.assets().download(format!("http://{address}/")).max_size(9).await.unwrap_err();
    assert_eq!(kinds(&error), "too_large");
}

#[tokio::test]
async fn a_missing_asset_is_an_error() {
    let error = fetch(ResponseTemplate::new(404)).await.0.unwrap_err();
    // A storage has no envelope.
    assert_snapshot!(error, @"GET {url}: 404 Not Found, with an empty body");
    assert_eq!(kinds(&error), "not_found");
    // The API key was not sent, so it is not at fault.
    assert_eq!(kinds(&fetch(ResponseTemplate::new(401)).await.0.unwrap_err()), "status");
    // The host has it later, or never.
    for status in [201, 202, 204, 205] {
        let early = ResponseTemplate::new(status).set_body_string("in progress");
        let error = fetch(early).await.0.unwrap_err();
        assert_eq!((kinds(&error).as_str(), error.status().unwrap().as_u16()), ("status", status));
    }
    for odd in ["", "/assets/a.png", "file:///etc/passwd", "data:image/png;base64,AA"] {
        let error = client("http://127.0.0.1:1").assets().download(odd).await.unwrap_err();
        assert_eq!(error.to_string(), "the URL of the asset is not an absolute http or https URL");
        assert_eq!(kinds(&error), "input");
    }
    let cut = raw("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx", Then::Disconnect).await;
    let error = client("http://127.0.0.1:1").assets().download(format!("http://{cut}/")).await;
    let error = error.unwrap_err();
    assert_snapshot!(error, @"GET {url}: connection closed before the whole response was received (200 OK)");
    assert_eq!(kinds(&error), "transport retryable");
}

#[tokio::test]
async fn an_asset_that_is_not_decompressed_is_an_error_that_names_the_encoding() {
    let error = fetch(picture().insert_header("content-encoding", "zstd")).await.0.unwrap_err();
    assert_snapshot!(error, @"GET {url}: cannot decode response: its Content-Encoding zstd is not supported (200 OK)");
    assert_eq!(kinds(&error), "decode");
    assert!(fetch(picture().insert_header("content-encoding", "identity")).await.0.is_ok());
}
