//! Requests of pages of other origins.

use promptarium_server::EmbeddedServer;

use crate::support::browser::{JSON, KEYS, cookie_of, request, send, sign_in_request};
use crate::support::client::{Connection, Response, Slot};
use crate::support::program::Running;

const ORIGIN: &str = "origin: https://app.example\r\n";

/// A browser's request before the one with this method.
fn preflight(path: &str, method: &str) -> String {
    let asks = format!(
        "{ORIGIN}access-control-request-method: {method}\r\n\
         access-control-request-headers: authorization,content-type\r\n"
    );
    request("OPTIONS", path, &asks, "")
}

fn allowed(response: &Response) -> Option<&str> {
    assert_eq!(response.header("access-control-allow-credentials"), None, "{response:?}");
    response.header("access-control-allow-origin")
}

#[tokio::test]
async fn a_page_of_any_origin_may_upload_to_a_slot_and_read_assets() {
    let server = EmbeddedServer::start().await.unwrap();
    let slot = Slot::to(&server, 3).await;
    let path = slot.upload_path.split('?').next().unwrap();
    let asked = send(&server, preflight(path, "PUT")).await;
    assert_eq!((asked.status, allowed(&asked)), (204, Some("*")));
    let header = |name: &str| asked.header(&format!("access-control-{name}")).unwrap();
    assert_eq!((header("allow-methods"), header("max-age")), ("PUT, OPTIONS", "7200"));
    for name in ["authorization", "content-type"] {
        assert!(header("allow-headers").split(", ").any(|allowed| allowed == name), "{name}");
    }

    for (headers, status) in
        [(ORIGIN.to_owned(), 401), (format!("{ORIGIN}authorization: a\r\n"), 401)]
    {
        let refused = send(&server, request("PUT", &slot.upload_path, &headers, "abc")).await;
        assert_eq!((refused.status, allowed(&refused)), (status, Some("*")));
    }
    let mut connection = slot.connection().await;
    connection.send(slot.head(&format!("{ORIGIN}content-length: 3\r\n"))).await;
    let put = connection.ask("abc").await;
    assert_eq!((put.status, allowed(&put)), (200, Some("*")));
    assert!(put.header("access-control-expose-headers").unwrap().contains("x-request-id"));

    let asset = slot.get().await;
    assert_eq!((asset.status, allowed(&asset)), (200, Some("*")));
    let asked = send(&server, preflight(&slot.path, "GET")).await;
    assert_eq!(asked.header("access-control-allow-methods"), Some("GET, HEAD, OPTIONS"));
    let missing = send(&server, request("GET", "/assets/x", ORIGIN, "")).await;
    assert_eq!((missing.status, allowed(&missing)), (404, Some("*")));
}

#[tokio::test]
async fn without_the_setting_no_page_of_another_origin_may_use_the_api() {
    let server = EmbeddedServer::start().await.unwrap();
    let key = format!("{ORIGIN}authorization: Bearer {}\r\n", server.api_key());
    for sent in [
        preflight("/api/v1/prompts", "POST"),
        request("GET", "/api/v1/prompts", &key, ""),
        request("GET", "/healthz", ORIGIN, ""),
        request("GET", "/sign-in", ORIGIN, ""),
    ] {
        let response = send(&server, &sent).await;
        assert_eq!((response.status < 300, allowed(&response)), (true, None), "{sent}");
        assert_eq!(response.header("vary"), None, "{sent}");
    }
}

#[tokio::test]
async fn the_setting_allows_pages_of_some_origins_or_of_all_to_use_the_api() {
    let app = "https://app.example";
    let some = format!("--cors-origin {app} --cors-origin=http://localhost:3000");
    let (some, all) = (Running::start(&some).await, Running::start("--cors-origin=*").await);
    for (server, origin, expected) in [
        (&some, app, Some(app)),
        (&some, "http://localhost:3000", Some("http://localhost:3000")),
        (&some, "https://evil.example", None),
        (&some, "null", None),
        (&all, "https://evil.example", Some("*")),
    ] {
        let mut connection = Connection::to(server).await;
        let key = format!("{ORIGIN}authorization: Bearer {}\r\n", server.api_key());
        for sent in [
            preflight("/api/v1/prompts", "POST"),
            request("GET", "/api/v1/prompts", &key, ""),
            request("GET", "/api/v1/prompts", ORIGIN, ""),
            request("GET", "/api/nothing", ORIGIN, ""),
        ] {
            let sent = sent.replace(app, origin);
            let response = connection.ask(&sent).await;
            assert_eq!(allowed(&response), expected, "{origin} {sent}");
            assert_eq!(response.header("vary"), Some("origin"), "{origin} {sent}");
            let methods = response.header("access-control-allow-methods");
            let is_preflight = sent.starts_with("OPTIONS") && expected.is_some();
            assert_eq!(methods, is_preflight.then_some("GET, HEAD, POST, OPTIONS"), "{sent}");
        }
        let page = connection.ask(request("GET", "/sign-in", ORIGIN, "")).await;
        assert_eq!(allowed(&page), None, "pages");
    }

    // A session changes nothing for a page of an allowed origin.
    let mut connection = Connection::to(&some).await;
    let cookie = cookie_of(&connection.ask(sign_in_request(some.code(), "")).await);
    for site in ["", "sec-fetch-site: cross-site\r\n", "sec-fetch-site: same-site\r\n"] {
        let headers = format!("{JSON}{ORIGIN}{site}{cookie}");
        let body = r#"{"name":"n","scopes":[]}"#;
        let refused = connection.ask(request("POST", KEYS, &headers, body)).await;
        assert_eq!((refused.status, allowed(&refused)), (403, Some(app)), "{site}");
    }
}
