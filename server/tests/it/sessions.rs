//! Signing in, sessions, and the keys that only a session manages.

mod addresses;
mod attacks;

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::future::join_all;
use promptarium_server::{Clock, EmbeddedServer, ManualClock};
use serde_json::json;

use crate::support::browser::{
    FORM, JSON, OWN, code, cookie_of, create_key, keys, request, send, sign_in, sign_in_request,
};
use crate::support::client::{self, Connection};
use crate::support::program::Running;

/// A server whose clock can be advanced.
async fn with_clock() -> (EmbeddedServer, ManualClock) {
    let clock = ManualClock::new("2026-01-02T03:04:05Z".parse().unwrap());
    let builder = EmbeddedServer::builder().clock(Clock::Manual(clock.clone()));
    (builder.start().await.unwrap(), clock)
}

/// Status of a request with an API key.
async fn status_with(server: &EmbeddedServer, key: &str, method: &str, path: &str) -> u16 {
    let mut connection = Connection::to(server).await;
    let body = r#"{"name":"v"}"#;
    connection.send(client::request(key, method, path, Some(body))).await;
    connection.response().await.unwrap().status
}

#[tokio::test]
async fn a_code_signs_in_and_the_first_page_shows_the_account() {
    let server = EmbeddedServer::builder().seed_key("promptarium_live_a1_s=<b>al&ice</b>");
    let server = server.start().await.unwrap();
    let away = send(&server, &request("GET", "/", "", "")).await;
    assert_eq!((away.status, away.header("location")), (303, Some("/sign-in")));

    let response = send(&server, &sign_in_request(&code(&server).await, "")).await;
    assert_eq!((response.status, response.header("location")), (303, Some("/")));
    assert_eq!(response.header("cache-control"), Some("no-store"));
    let set = response.header("set-cookie").unwrap();
    let (pair, attributes) = set.split_once("; ").unwrap();
    assert_eq!(attributes, "Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000");
    let value = pair.strip_prefix("promptarium_session=").unwrap();
    assert_eq!(value.len(), 43, "{value}");

    let home = send(&server, &request("GET", "/", &format!("cookie: {pair}\r\n"), "")).await;
    assert_eq!(home.status, 200);
    assert!(home.body.contains("&lt;b&gt;al&amp;ice&lt;/b&gt;"), "{}", home.body);
    assert!(!home.body.contains("<b>al"), "{}", home.body);
}

#[tokio::test]
async fn pages_run_no_foreign_script_and_cannot_be_framed_or_kept() {
    let server = EmbeddedServer::start().await.unwrap();
    let cookie = sign_in(&server).await;
    let wrong = sign_in_request("wrong", "");
    for (page, status) in [
        (request("GET", "/sign-in", "", ""), 200),
        (request("GET", "/", &cookie, ""), 200),
        (wrong, 401),
        (request("POST", "/sign-in", FORM, "code=x"), 403),
        (request("POST", "/sign-out", "", ""), 403),
    ] {
        let response = send(&server, &page).await;
        assert_eq!(response.status, status, "{page}");
        assert_eq!(response.header("content-type"), Some("text/html; charset=utf-8"), "{page}");
        assert_eq!(response.header("cache-control"), Some("no-store"), "{page}");
        assert_eq!(response.header("referrer-policy"), Some("same-origin"), "{page}");
        let policy = response.header("content-security-policy").unwrap();
        for part in ["default-src 'none'", "frame-ancestors 'none'", "form-action 'self'"] {
            assert!(policy.contains(part), "{page}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
    }
}

#[tokio::test]
async fn over_https_the_cookie_is_secure_and_bound_to_the_host() {
    let builder = EmbeddedServer::builder().public_url("https://prompts.example/behind");
    let server = builder.start().await.unwrap();
    let link = server.sign_in_url().await.unwrap();
    let code = link.strip_prefix("https://prompts.example/behind/sign-in#").unwrap();
    let headers = format!("{FORM}origin: https://prompts.example\r\n");
    let body = format!("code={code}");
    let response = send(&server, &request("POST", "/sign-in", &headers, &body)).await;
    assert_eq!((response.status, response.header("location")), (303, Some("/behind/")));
    let set = response.header("set-cookie").unwrap();
    assert!(set.starts_with("__Host-promptarium_session="), "{set}");
    assert!(set.ends_with("; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=2592000"), "{set}");

    let cookie = format!("cookie: {}\r\n", cookie_of(&response));
    assert_eq!(keys(&server, &cookie).await.as_array().unwrap().len(), 1);
    let other = cookie.replace("__Host-", "");
    assert_eq!(send(&server, &request("GET", "/api/v1/api-keys", &other, "")).await.status, 401);
}

#[tokio::test]
async fn a_code_works_once_even_if_requests_race() {
    let server = EmbeddedServer::start().await.unwrap();
    let once = sign_in_request(&code(&server).await, "");
    let racing = join_all([(); 4].map(|()| send(&server, &once))).await;
    let mut statuses: Vec<_> = racing.iter().map(|response| response.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 401, 401, 401]);
    let replay = send(&server, &once).await;
    assert_eq!((replay.status, replay.header("set-cookie")), (401, None));
}

#[tokio::test]
async fn a_code_expires_after_fifteen_minutes() {
    let (server, clock) = with_clock().await;
    let (early, late) = (code(&server).await, code(&server).await);
    clock.advance(Duration::from_secs(15 * 60 - 1));
    assert_eq!(send(&server, &sign_in_request(&early, "")).await.status, 303);
    clock.advance(Duration::from_secs(1));
    assert_eq!(send(&server, &sign_in_request(&late, "")).await.status, 401);
}

#[tokio::test]
async fn a_session_ends_after_a_week_without_a_request() {
    let (server, clock) = with_clock().await;
    let cookie = sign_in(&server).await;
    for (days, status) in [(6, 200), (6, 200), (7, 401)] {
        clock.advance(Duration::from_secs(days * 24 * 3600));
        let response = send(&server, &request("GET", "/api/v1/api-keys", &cookie, "")).await;
        assert_eq!(response.status, status);
    }
}

#[tokio::test]
async fn signing_out_ends_the_session_and_removes_the_cookie() {
    let server = EmbeddedServer::start().await.unwrap();
    let (cookie, other) = (sign_in(&server).await, sign_in(&server).await);
    let out = send(&server, &request("POST", "/sign-out", &format!("{OWN}{cookie}"), "")).await;
    assert_eq!((out.status, out.header("location")), (303, Some("/")));
    let set = out.header("set-cookie").unwrap();
    assert_eq!(set, "promptarium_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
    for (path, status) in [("/", 303), ("/api/v1/api-keys", 401)] {
        assert_eq!(send(&server, &request("GET", path, &cookie, "")).await.status, status);
        assert_eq!(send(&server, &request("GET", path, &other, "")).await.status, 200);
    }
    let again = send(&server, &request("POST", "/sign-out", &format!("{OWN}{cookie}"), "")).await;
    assert_eq!(again.status, 303, "signed out already");
}

#[tokio::test]
async fn a_cookie_from_before_the_sign_in_is_not_adopted() {
    let server = EmbeddedServer::start().await.unwrap();
    let victim = sign_in(&server).await;
    let planted = format!("cookie: promptarium_session={}\r\n", "A".repeat(43));
    for before in [planted, victim] {
        let response = send(&server, &sign_in_request(&code(&server).await, &before)).await;
        assert_eq!(response.status, 303);
        let cookie = format!("cookie: {}\r\n", cookie_of(&response));
        assert_ne!(cookie, before);
        assert_eq!(send(&server, &request("GET", "/", &cookie, "")).await.status, 200);
    }
}

#[tokio::test]
async fn a_key_works_as_soon_as_it_is_created_and_not_after_it_is_revoked() {
    let server = EmbeddedServer::start().await.unwrap();
    let cookie = sign_in(&server).await;
    let created = create_key(&server, &cookie, "Laptop").await;
    let (key, id) = (created["key"].as_str().unwrap(), created["publicId"].as_str().unwrap());
    assert_eq!(status_with(&server, key, "POST", "/vaults").await, 201);

    let path = format!("/api/v1/api-keys/{id}");
    let delete = request("DELETE", &path, &format!("{OWN}{cookie}"), "");
    let revoked = send(&server, &delete).await;
    assert_eq!(revoked.status, 200);
    assert!(revoked.json()["data"]["revokedAt"].is_string() && !revoked.body.contains(key));
    assert_eq!(status_with(&server, key, "GET", "/vaults").await, 401);
    let again = send(&server, &delete).await;
    assert_eq!(again.json()["data"]["revokedAt"], revoked.json()["data"]["revokedAt"]);
}

#[tokio::test]
async fn the_list_of_keys_has_every_key_newest_first_and_no_secret() {
    let (server, clock) = with_clock().await;
    let cookie = sign_in(&server).await;
    let name = "\"<script>alert(1)</script>\u{2028}é\\";
    clock.advance(Duration::from_secs(1));
    let created = create_key(&server, &cookie, name).await;
    let response = send(&server, &request("GET", "/api/v1/api-keys", &cookie, "")).await;
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
    assert!(!response.body.contains(created["key"].as_str().unwrap().rsplit('_').next().unwrap()));

    let listed = response.json()["data"].clone();
    let expected = json!({
        "publicId": created["publicId"],
        "name": name,
        "scopes": ["prompts:write"],
        "createdAt": "2026-01-02T03:04:06.000000Z",
        "lastUsedAt": null,
        "revokedAt": null,
    });
    assert_eq!(listed[0], expected);
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert_eq!(listed[1]["name"], json!(null));
}

#[tokio::test]
async fn a_key_without_scopes_only_reads() {
    let server = EmbeddedServer::start().await.unwrap();
    let headers = format!("{JSON}{OWN}{}", sign_in(&server).await);
    let body = r#"{"name":"Reader","scopes":[]}"#;
    let response = send(&server, &request("POST", "/api/v1/api-keys", &headers, body)).await;
    let key = response.json()["data"]["key"].as_str().unwrap().to_owned();
    assert_eq!(status_with(&server, &key, "GET", "/vaults").await, 200);
    assert_eq!(status_with(&server, &key, "POST", "/vaults").await, 401);
}

#[tokio::test]
async fn fields_of_a_new_key_are_validated() {
    let server = EmbeddedServer::start().await.unwrap();
    let headers = format!("{JSON}{OWN}{}", sign_in(&server).await);
    let long = format!(r#"{{"name":"{}","scopes":[]}}"#, "é".repeat(101));
    for (body, fields) in [
        ("{}", &["name", "scopes"][..]),
        (r#"{"name":"n"}"#, &["scopes"]),
        (r#"{"scopes":[]}"#, &["name"]),
        (r#"{"name":"","scopes":[]}"#, &["name"]),
        (r#"{"name":" \t\u00a0","scopes":[]}"#, &["name"]),
        (&long, &["name"]),
        (r#"{"name":"a\u0000","scopes":[]}"#, &["name"]),
        (r#"{"name":7,"scopes":null}"#, &["name", "scopes"]),
        (r#"{"name":"n","scopes":["prompts:read"]}"#, &["scopes"]),
        (r#"{"name":"n","scopes":["prompts:write","prompts:write"]}"#, &["scopes"]),
        (r#"{"name":"n","scopes":"prompts:write"}"#, &["scopes"]),
        ("[]", &["body"]),
    ] {
        let response = send(&server, &request("POST", "/api/v1/api-keys", &headers, body)).await;
        assert_eq!(response.status, 400, "{body}");
        let json = response.json();
        assert!(json["details"].as_object().unwrap().keys().eq(fields), "{body}: {json}");
    }
}

#[tokio::test]
async fn an_account_has_at_most_a_hundred_keys_that_are_not_revoked() {
    let server = EmbeddedServer::start().await.unwrap();
    let cookie = sign_in(&server).await;
    let mut last = json!(null);
    for number in 1..100 {
        last = create_key(&server, &cookie, &format!("key {number}")).await;
    }
    let headers = format!("{JSON}{OWN}{cookie}");
    let body = r#"{"name":"one more","scopes":[]}"#;
    let create = request("POST", "/api/v1/api-keys", &headers, body);
    let refused = send(&server, &create).await;
    assert_eq!((refused.status, &refused.json()["details"]), (400, &json!({})));
    let path = format!("/api/v1/api-keys/{}", last["publicId"].as_str().unwrap());
    send(&server, &request("DELETE", &path, &headers, "")).await;
    assert_eq!(send(&server, &create).await.status, 201);
}

#[tokio::test]
async fn wrong_codes_are_limited_for_each_address_for_a_minute_and_lock_no_right_one_out() {
    let (server, clock) = with_clock().await;
    let wrong = sign_in_request(&"A".repeat(43), "");
    for _ in 0..10 {
        assert_eq!(send(&server, &wrong).await.status, 401);
    }
    let refused = send(&server, &wrong).await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("60")));
    let right = sign_in_request(&code(&server).await, "");
    assert_eq!(send(&server, &right).await.status, 303);
    clock.advance(Duration::from_secs(60));
    assert_eq!(send(&server, &wrong).await.status, 401);
}

/// Only on Linux is the whole network 127.0.0.0/8 this machine.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn wrong_codes_of_others_lock_nobody_out() {
    let (server, _) = with_clock().await;
    let attempt = async |number, request: &str| {
        let mut connection = Connection::from(Ipv4Addr::new(127, 0, 9, number), &server).await;
        connection.send(request).await;
        connection.response().await.unwrap().status
    };
    let wrong = sign_in_request(&"A".repeat(43), "");
    for number in 1..=10 {
        for _ in 0..10 {
            assert_eq!(attempt(number, &wrong).await, 401);
        }
    }
    assert_eq!(attempt(11, &wrong).await, 429);
    assert_eq!(attempt(11, &sign_in_request(&code(&server).await, "")).await, 303);
}

#[cfg(unix)]
#[tokio::test]
async fn the_ready_line_and_a_signal_give_links_that_sign_in() {
    let mut server = Running::start(&[], &[]).await;
    let first = server.ready["sign_in_url"].as_str().unwrap().to_owned();
    server.signal("USR1").await;
    let second = server.line().await["sign_in_url"].as_str().unwrap().to_owned();
    assert_ne!(first, second);
    for link in [&first, &second] {
        let (page, code) = link.split_once('#').unwrap();
        assert_eq!(page, server.base_url().replace("/api/v1", "/sign-in"));
        let mut connection = Connection::open(server.base_url()).await;
        connection.send(sign_in_request(code, "")).await;
        assert_eq!(connection.response().await.unwrap().status, 303);
    }
    let log = server.log_at_end().await;
    for link in [first, second] {
        assert!(!log.contains(link.split_once('#').unwrap().1), "{log}");
    }
}
