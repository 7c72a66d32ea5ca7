//! `HEAD` and `OPTIONS`.

use promptarium_server::EmbeddedServer;

use crate::support::browser::{request, send, sign_in};
use crate::support::client::{self, Connection, Response, Slot, call};

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
    let vault = call(&server, "POST", "/vaults", Some(r#"{"name":"v"}"#)).await.json();
    let vault = &vault["data"]["id"];
    for number in 0..70 {
        let body = format!(r#"{{"title":"t{number}","prompt":"p","vaultId":{vault}}}"#);
        assert_eq!(call(&server, "POST", "/prompts", Some(&body)).await.status, 201);
    }
    let slot = Slot::of(server.base_url(), server.api_key(), "image/png", 3).await;
    assert_eq!(slot.put(b"abc").await.status, 200);
    // All on one connection, which a body after `HEAD` would put out of step.
    let mut connection = Connection::to(&server).await;
    for (path, headers, status) in [
        ("/api/v1/prompts", &*key, 200),
        (&format!("/api/v1/vaults/{vault}"), &key, 200),
        // Streamed.
        (&format!("/api/v1/vaults/{vault}/prompts"), &key, 200),
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
        connection.send(request("HEAD", path, headers, "")).await;
        let head = connection.head_response().await.unwrap();
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
        ("/api/v1/prompts", "GET, HEAD, POST, OPTIONS"),
        ("/api/v1/prompts/1", "GET, HEAD, PATCH, DELETE, OPTIONS"),
        ("/api/v1/api-keys/x", "DELETE, OPTIONS"),
        ("/assets/x", "GET, HEAD, OPTIONS"),
        ("/storage/x", "PUT, OPTIONS"),
    ] {
        let response = send(&server, &request("OPTIONS", path, "", "")).await;
        assert_eq!((response.status, response.header("allow")), (204, Some(allow)), "{path}");
        assert_eq!(response.header("content-length"), None, "{path}");
    }
    for path in ["/nowhere", "/api/v1", "/api/v1/prompts/"] {
        assert_eq!(send(&server, &request("OPTIONS", path, "", "")).await.status, 404, "{path}");
    }
    let no_host = "OPTIONS / HTTP/1.1\r\n\r\n";
    assert_eq!(send(&server, no_host).await.status, 400);
    // As haproxy's `option httpchk` sends it.
    let probe = send(&server, "OPTIONS / HTTP/1.0\r\n\r\n").await;
    assert_eq!((probe.status, probe.header("content-length")), (204, None));
}

#[tokio::test]
async fn a_refused_method_is_told_the_same_methods() {
    let server = EmbeddedServer::start().await.unwrap();
    let wrong = call(&server, "PUT", "/prompts", Some("{}")).await;
    assert_eq!((wrong.status, wrong.header("allow")), (405, Some("GET, HEAD, POST, OPTIONS")));
    let mut connection = Connection::to(&server).await;
    connection.send(client::request(server.api_key(), "HEAD", "/uploads/images", None)).await;
    let head = connection.head_response().await.unwrap();
    assert_eq!((head.status, head.header("allow")), (405, Some("POST, OPTIONS")));
}
