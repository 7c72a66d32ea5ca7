//! Requests of pages of other origins.

use promptarium_server::EmbeddedServer;

use crate::support::browser::{JSON, cookie_of, request, send, sign_in_request};
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
    let slot = Slot::of(server.base_url(), server.api_key(), "image/png", 3).await;
    let path = slot.upload_path.split('?').next().unwrap();
    let asked = send(&server, &preflight(path, "PUT")).await;
    assert_eq!((asked.status, allowed(&asked)), (204, Some("*")));
    let header = |name: &str| asked.header(&format!("access-control-{name}")).unwrap();
    assert_eq!((header("allow-methods"), header("max-age")), ("PUT, OPTIONS", "7200"));
    for name in ["authorization", "content-type"] {
        assert!(header("allow-headers").split(", ").any(|allowed| allowed == name), "{name}");
    }

    for (headers, status) in
        [(ORIGIN.to_owned(), 401), (format!("{ORIGIN}authorization: a\r\n"), 401)]
    {
        let refused = send(&server, &request("PUT", &slot.upload_path, &headers, "abc")).await;
        assert_eq!((refused.status, allowed(&refused)), (status, Some("*")));
    }
    let mut connection = slot.connection().await;
    connection.send(slot.head(&format!("{ORIGIN}content-length: 3\r\n"))).await;
    let put = connection.ask("abc").await;
    assert_eq!((put.status, allowed(&put)), (200, Some("*")));
    assert!(put.header("access-control-expose-headers").unwrap().contains("x-request-id"));

    let asset = slot.get().await;
    assert_eq!((asset.status, allowed(&asset)), (200, Some("*")));
    let asked = send(&server, &preflight(&slot.path, "GET")).await;
    assert_eq!(asked.header("access-control-allow-methods"), Some("GET, HEAD, OPTIONS"));
    let missing = send(&server, &request("GET", "/assets/x", ORIGIN, "")).await;
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
    const SOME: &str = "https://app.example http://localhost:3000";
    for (setting, origin, expected) in [
        (SOME, "https://app.example", Some("https://app.example")),
        (SOME, "http://localhost:3000", Some("http://localhost:3000")),
        (SOME, "https://evil.example", None),
        (SOME, "null", None),
        ("*", "https://evil.example", Some("*")),
    ] {
        let server = Running::start(&[], &[("PROMPTARIUM_CORS_ORIGIN", setting)]).await;
        let mut connection = Connection::open(server.base_url()).await;
        let key = server.api_key();
        for sent in [
            preflight("/api/v1/prompts", "POST"),
            request(
                "GET",
                "/api/v1/prompts",
                &format!("{ORIGIN}authorization: Bearer {key}\r\n"),
                "",
            ),
            request("GET", "/api/v1/prompts", ORIGIN, ""),
            request("GET", "/api/nothing", ORIGIN, ""),
        ] {
            let sent = sent.replace("https://app.example", origin);
            let response = connection.ask(&sent).await;
            assert_eq!(allowed(&response), expected, "{setting} {sent}");
            assert_eq!(response.header("vary"), Some("origin"), "{setting} {sent}");
            let methods = response.header("access-control-allow-methods");
            let is_preflight = sent.starts_with("OPTIONS") && expected.is_some();
            assert_eq!(methods, is_preflight.then_some("GET, HEAD, POST, OPTIONS"), "{sent}");
        }
        assert_eq!(
            allowed(&connection.ask(request("GET", "/sign-in", ORIGIN, "")).await),
            None,
            "pages"
        );
    }
}

#[tokio::test]
async fn a_session_changes_nothing_for_a_page_of_an_allowed_origin() {
    let server = Running::start(&["--cors-origin", "https://app.example"], &[]).await;
    let link = server.ready["sign_in_url"].as_str().unwrap();
    let code = link.split_once('#').unwrap().1;
    let mut connection = Connection::open(server.base_url()).await;
    let signed_in = connection.ask(sign_in_request(code, "")).await;
    let cookie = format!("cookie: {}\r\n", cookie_of(&signed_in));
    for site in ["", "sec-fetch-site: cross-site\r\n", "sec-fetch-site: same-site\r\n"] {
        let headers = format!("{JSON}{ORIGIN}{site}{cookie}");
        let body = r#"{"name":"n","scopes":[]}"#;
        let refused = connection.ask(request("POST", "/api/v1/api-keys", &headers, body)).await;
        assert_eq!(refused.status, 403, "{site}");
        assert_eq!(allowed(&refused), Some("https://app.example"));
    }
}
