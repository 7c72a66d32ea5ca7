//! What any client of HTTP may expect of any server: methods, other origins, encodings.

mod cors;
mod gzip;

use promptarium_server::EmbeddedServer;

use crate::support::browser::{request, send, sign_in};
use crate::support::client::{Connection, Response, Slot};

/// The headers that the responses to `GET` and `HEAD` share.
fn common(response: Response) -> Vec<(String, String)> {
    let mut headers = response.headers;
    // The length of no body may be left out.
    headers.retain(|(name, value)| {
        !matches!((&**name, &**value), ("x-request-id" | "date", _) | ("content-length", "0"))
    });
    headers.sort();
    headers
}

/// Scenarios of the conformance suite have those of the API.
#[tokio::test]
async fn head_has_the_status_and_headers_of_get_and_no_body() {
    let server = EmbeddedServer::start().await.unwrap();
    let cookie = sign_in(&server).await;
    let key = format!("authorization: Bearer {}\r\n", server.api_key());
    let slot = Slot::to(&server, 3).await;
    assert_eq!(slot.put(b"abc").await.status, 200);
    // All on one connection, which a body after `HEAD` would put out of step.
    let mut connection = Connection::to(&server).await;
    for (path, headers, status) in [
        ("/api/v1/prompts", &*key, 200),
        ("/api/v1/vaults/1/prompts", &key, 200),
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
        assert_eq!(common(head), common(get), "{path}");
    }
}

#[tokio::test]
async fn options_names_the_methods_of_a_path_without_a_key() {
    let server = EmbeddedServer::start().await.unwrap();
    for (path, status, allow) in [
        ("*", 204, Some("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")),
        ("/", 204, Some("GET, HEAD, OPTIONS")),
        ("/healthz", 204, Some("GET, HEAD, OPTIONS")),
        ("/sign-in", 204, Some("GET, HEAD, POST, OPTIONS")),
        ("/assets/x", 204, Some("GET, HEAD, OPTIONS")),
        ("/storage/x", 204, Some("PUT, OPTIONS")),
        ("/nowhere", 404, None),
        ("/api/v1", 404, None),
    ] {
        let response = send(&server, request("OPTIONS", path, "", "")).await;
        assert_eq!((response.status, response.header("allow")), (status, allow), "{path}");
        assert_eq!(response.header("content-length").is_none(), status == 204, "{path}");
    }
    // As haproxy's `option httpchk` sends it.
    let probe = send(&server, "OPTIONS / HTTP/1.0\r\n\r\n").await;
    assert_eq!((probe.status, probe.header("content-length")), (204, None));
}
