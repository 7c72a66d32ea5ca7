//! What the dashboard refuses, and the pages that say so.

use promptarium_server::EmbeddedServer;
use serde_json::{Value, json};

use super::{Browser, PAGES};
use crate::support::browser::{FORM, OWN, request, send};
use crate::support::client::Connection;

/// Every page that changes something, with fields that are valid, on ids that need not exist.
const CHANGES: [(&str, &str); 5] = [
    ("/keys", "name=n"),
    ("/keys/p1/revoke", ""),
    ("/prompts/1/pictures", "modelId=local%2Fplasma"),
    ("/sessions/1/end", ""),
    ("/sessions/end-others", ""),
];

#[tokio::test]
async fn a_page_needs_a_session_and_a_key_does_not_do() {
    let browser = Browser::open().await;
    let server = &browser.server;
    let key = format!("authorization: Bearer {}\r\n", server.api_key());
    let with_cookie = format!("{key}{}", browser.cookie);
    let gets = PAGES.iter().map(|(path, ..)| ("GET", *path, ""));
    let posts = CHANGES.iter().map(|(path, form)| ("POST", *path, *form));
    for (method, path, form) in gets.chain(posts).chain([("GET", "/keys/p1/revoke", "")]) {
        for headers in ["", "cookie: promptarium_session=x\r\n", &key, &with_cookie] {
            let headers = format!("{FORM}{OWN}{headers}");
            let away = send(server, &request(method, path, &headers, form)).await;
            let location = away.header("location");
            assert_eq!((away.status, location), (303, Some("/sign-in")), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn a_form_of_another_site_is_refused_and_changes_nothing() {
    let browser = Browser::open().await;
    let before = browser.page("/keys").await;
    for (path, form) in CHANGES {
        for site in ["", "sec-fetch-site: cross-site\r\n", "sec-fetch-site: none\r\n"] {
            let headers = format!("{FORM}{site}{}", browser.cookie);
            let refused = send(&browser.server, &request("POST", path, &headers, form)).await;
            assert_eq!(refused.status, 403, "{path} {site}");
            let id = refused.header("x-request-id").unwrap();
            assert!(refused.body.contains(id), "{path}: {}", refused.body);
        }
    }
    assert_eq!(browser.page("/keys").await, before);
}

#[tokio::test]
async fn what_another_account_has_is_not_found() {
    let keys = ["promptarium_live_a1_s=alice", "promptarium_live_b1_s=bob"];
    let builder = EmbeddedServer::builder().seed_key(keys[0]).seed_key(keys[1]);
    let browser = Browser::on(builder.start().await.unwrap()).await;
    let as_bob = async |path: &str, body: Value| {
        let headers =
            "authorization: Bearer promptarium_live_b1_s\r\ncontent-type: application/json\r\n";
        let path = format!("/api/v1{path}");
        let sent = send(&browser.server, &request("POST", &path, headers, &body.to_string())).await;
        assert!(sent.status < 300, "{sent:?}");
        sent.json()["data"].clone()
    };
    let vault = as_bob("/vaults", json!({ "name": "Sky" })).await["id"].clone();
    let prompt = as_bob("/prompts", json!({ "title": "t", "prompt": "p" })).await["id"].clone();
    let job = json!({ "modelId": "local/plasma", "prompt": "p", "clientJobId": "bobs" });
    as_bob("/generations", job).await;
    for path in [
        &format!("/prompts/{prompt}"),
        &format!("/vaults/{vault}"),
        "/keys/b1/revoke",
        "/jobs?before=bobs",
        "/prompts/0",
        "/vaults/x",
    ] {
        let missing = browser.get(path).await;
        assert_eq!(missing.status, 404, "{path}");
        assert!(missing.body.contains("<h1>Not found</h1>"), "{path}: {}", missing.body);
        assert!(missing.body.contains(missing.header("x-request-id").unwrap()), "{path}");
    }
    for (path, form) in [
        (format!("/prompts/{prompt}/pictures"), "modelId=local%2Fplasma"),
        ("/keys/b1/revoke".to_owned(), ""),
        ("/sessions/99999/end".to_owned(), ""),
    ] {
        assert_eq!(browser.post(&path, form).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn a_browser_gets_a_page_where_there_is_none_and_programs_get_json() {
    const CHROMIUM: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    let server = EmbeddedServer::start().await.unwrap();
    for (method, path, accept, status, is_page) in [
        ("GET", "/nothing", CHROMIUM, 404, true),
        ("HEAD", "/nothing", CHROMIUM, 404, true),
        ("GET", "/apis", "application/json, TEXT/HTML;q=0.1", 404, true),
        ("GET", "/sign-out", CHROMIUM, 405, true),
        ("GET", "/sign-out", "*/*", 405, false),
        ("GET", "/nothing", "*/*", 404, false),
        ("GET", "/nothing", "text/*, text/html5", 404, false),
        ("POST", "/nothing", CHROMIUM, 404, false),
        ("GET", "/api/nothing", CHROMIUM, 404, false),
        ("GET", "/api/v1/uploads/images", CHROMIUM, 405, false),
        ("GET", "/api/v1/vaults", CHROMIUM, 401, false),
    ] {
        let sent = request(method, path, &format!("accept: {accept}\r\n"), "");
        let mut connection = Connection::to(&server).await;
        connection.send(sent).await;
        let response = match method {
            "HEAD" => connection.head_response().await.unwrap(),
            _ => connection.response().await.unwrap(),
        };
        let media = if is_page { "text/html; charset=utf-8" } else { "application/json" };
        let got = (response.status, response.header("content-type"));
        assert_eq!(got, (status, Some(media)), "{method} {path} {accept}");
        assert_eq!(response.header("allow").is_some(), status == 405, "{method} {path}");
    }
}

#[tokio::test]
async fn failures_have_the_navigation_or_the_way_to_sign_in() {
    let browser = Browser::open().await;
    let html = "accept: text/html\r\n";
    // With a session, and without one.
    for (method, path, headers, statuses) in [
        ("GET", "/prompts/999", html, [404, 303]),
        ("GET", "/prompts?type=x", html, [400, 303]),
        ("GET", "/nothing", html, [404, 404]),
        ("GET", "/sign-out", html, [405, 405]),
        ("POST", "/keys", "", [403, 303]),
        ("POST", "/sign-out", "", [403, 403]),
        ("POST", "/sign-in", "", [403, 403]),
    ] {
        for (cookie, status) in [&*browser.cookie, "cookie: a=b\r\n"].into_iter().zip(statuses) {
            let sent = request(method, path, &format!("{headers}{cookie}"), "");
            let page = send(&browser.server, &sent).await;
            assert_eq!(page.status, status, "{method} {path}");
            let is_signed_in = cookie == browser.cookie;
            for (part, expected) in [
                ("<nav ", is_signed_in),
                (">Sign out</button>", is_signed_in),
                ("href=\"/sign-in\"", !is_signed_in),
                ("aria-current=", false),
            ] {
                let is_page = status != 303;
                assert_eq!(page.body.contains(part), is_page && expected, "{method} {path} {part}");
            }
        }
    }
}
