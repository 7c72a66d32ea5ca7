//! `HEAD` and `OPTIONS`. A scenario of the conformance suite has those of the API.

use promptarium_server::EmbeddedServer;

use crate::support::browser::{request, send, sign_in};
use crate::support::client::{Connection, Response, Slot, call};

/// The headers that the responses to `GET` and `HEAD` share.
fn common(response: &Response) -> Vec<(String, String)> {
    // The length of no body may be left out.
    let is_own = |(name, value): &(String, String)| {
        matches!((&**name, &**value), ("x-request-id" | "date", _) | ("content-length", "0"))
    };
    let headers = response.headers.iter().filter(|header| !is_own(header));
    let mut headers: Vec<_> = headers.cloned().collect();
    headers.sort();
    headers
}

#[tokio::test]
async fn head_has_the_status_and_headers_of_get_and_no_body() {
    let server = EmbeddedServer::start().await.unwrap();
    let cookie = sign_in(&server).await;
    let key = format!("authorization: Bearer {}\r\n", server.api_key());
    for _ in 0..70 {
        let body = r#"{"title":"t","prompt":"p","vaultId":1}"#;
        assert_eq!(call(&server, "POST", "/prompts", Some(body)).await.status, 201);
    }
    let slot = Slot::of(server.base_url(), server.api_key(), "image/png", 3).await;
    assert_eq!(slot.put(b"abc").await.status, 200);
    // All on one connection, which a body after `HEAD` would put out of step.
    let mut connection = Connection::to(&server).await;
    for (path, headers, status) in [
        ("/api/v1/prompts", &*key, 200),
        ("/api/v1/vaults/1", &key, 200),
        // Streamed.
        ("/api/v1/vaults/1/prompts", &key, 200),
        ("/api/v1/vaults", "", 401),
        ("/api/v1/prompts/999", &key, 404),
        ("/api/v1/openapi.json", "", 200),
        ("/api/v1/api-keys", &cookie, 200),
        ("/healthz", "", 200),
        ("/readyz", "", 200),
        ("/sign-in", "", 200),
        ("/", &cookie, 200),
        ("/", "", 303),
        ("/keys", &cookie, 200),
        (&slot.path, "", 200),
        (&slot.upload_path, "", 401),
        ("/nowhere", "", 404),
        ("/sign-out", "", 405),
    ] {
        let get = connection.ask(request("GET", path, headers, "")).await;
        let head = connection.ask(request("HEAD", path, headers, "")).await;
        assert_eq!((get.status, head.status), (status, status), "{path}");
        assert_eq!(common(&head), common(&get), "{path}");
    }
}

#[tokio::test]
async fn options_names_the_methods_of_a_path_without_a_key() {
    let server = EmbeddedServer::start().await.unwrap();
    for (path, allow) in [
        ("*", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"),
        ("/", "GET, HEAD, OPTIONS"),
        ("/healthz", "GET, HEAD, OPTIONS"),
        ("/sign-in", "GET, HEAD, POST, OPTIONS"),
        ("/api/v1/prompts/1", "GET, HEAD, PATCH, DELETE, OPTIONS"),
        ("/assets/x", "GET, HEAD, OPTIONS"),
        ("/storage/x", "PUT, OPTIONS"),
    ] {
        let response = send(&server, request("OPTIONS", path, "", "")).await;
        assert_eq!((response.status, response.header("allow")), (204, Some(allow)), "{path}");
        assert_eq!(response.header("content-length"), None, "{path}");
    }
    for (sent, status) in [
        (request("OPTIONS", "/nowhere", "", ""), 404),
        (request("OPTIONS", "/api/v1", "", ""), 404),
        ("OPTIONS / HTTP/1.1\r\n\r\n".to_owned(), 400),
    ] {
        assert_eq!(send(&server, &sent).await.status, status, "{sent}");
    }
    // As haproxy's `option httpchk` sends it.
    let probe = send(&server, "OPTIONS / HTTP/1.0\r\n\r\n").await;
    assert_eq!((probe.status, probe.header("content-length")), (204, None));
}
