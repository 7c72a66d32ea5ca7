//! Signing in, and sessions. Scenarios of the conformance suite have what a session does with keys,
//! and tests of the store have the lives of codes and sessions, and limits.

mod addresses;
mod attacks;

use std::net::Ipv4Addr;
use std::time::Duration;

use promptarium_server::EmbeddedServer;
use serde_json::Value;

use crate::support::browser::{
    Browser, FORM, KEYS, code, cookie_of, request, send, sign_in, sign_in_request, with_clock,
};
use crate::support::client::Connection;
use crate::support::program::Running;

#[tokio::test]
async fn a_code_signs_in_and_sets_a_cookie() {
    let server = EmbeddedServer::start().await.unwrap();
    let away = send(&server, request("GET", "/", "", "")).await;
    assert_eq!((away.status, away.location()), (303, "/sign-in"));

    let response = send(&server, sign_in_request(&code(&server).await, "")).await;
    assert_eq!((response.status, response.location()), (303, "/"));
    assert_eq!(response.header("cache-control"), Some("no-store"));
    let set = response.header("set-cookie").unwrap();
    let (pair, attributes) = set.split_once("; ").unwrap();
    assert_eq!(attributes, "Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000");
    let value = pair.strip_prefix("promptarium_session=").unwrap();
    assert_eq!(value.len(), 43, "{value}");
}

#[tokio::test]
async fn over_https_the_cookie_is_secure_and_bound_to_the_host() {
    let builder = EmbeddedServer::builder().public_url("https://prompts.example/behind");
    let server = builder.start().await.unwrap();
    let link = server.sign_in_url().await.unwrap();
    let code = link.strip_prefix("https://prompts.example/behind/sign-in#").unwrap();
    let headers = format!("{FORM}origin: https://prompts.example\r\n");
    let body = format!("code={code}");
    let response = send(&server, request("POST", "/sign-in", &headers, &body)).await;
    assert_eq!((response.status, response.location()), (303, "/behind/"));
    let set = response.header("set-cookie").unwrap();
    assert!(set.starts_with("__Host-promptarium_session="), "{set}");
    assert!(set.ends_with("; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=2592000"), "{set}");

    let cookie = cookie_of(&response);
    let listed = send(&server, request("GET", KEYS, &cookie, "")).await.data();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["name"]), (1, &Value::Null));
    let other = cookie.replace("__Host-", "");
    assert_eq!(send(&server, request("GET", KEYS, &other, "")).await.status, 401);
}

#[tokio::test]
async fn signing_out_ends_the_session_and_removes_the_cookie() {
    let browser = Browser::open().await;
    let other = sign_in(&browser.server).await;
    let out = browser.post("/sign-out", "").await;
    assert_eq!((out.status, out.location()), (303, "/"));
    let set = out.header("set-cookie").unwrap();
    assert_eq!(set, "promptarium_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
    for (path, status) in [("/", 303), (KEYS, 401)] {
        assert_eq!(browser.get(path).await.status, status);
        assert_eq!(send(&browser.server, request("GET", path, &other, "")).await.status, 200);
    }
    assert_eq!(browser.post("/sign-out", "").await.status, 303, "signed out already");
}

#[tokio::test]
async fn a_cookie_from_before_the_sign_in_is_not_adopted() {
    let browser = Browser::open().await;
    let planted = format!("cookie: promptarium_session={}\r\n", "A".repeat(43));
    for before in [&planted, &browser.cookie] {
        let sent = sign_in_request(&code(&browser.server).await, before);
        let response = send(&browser.server, sent).await;
        assert_eq!(response.status, 303);
        let cookie = cookie_of(&response);
        assert_ne!(cookie, *before);
        assert_eq!(send(&browser.server, request("GET", "/", &cookie, "")).await.status, 200);
    }
}

/// Only on Linux is the whole network 127.0.0.0/8 this machine.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn wrong_codes_are_limited_for_an_address_and_for_all_and_lock_no_right_one_out() {
    let (browser, clock) = with_clock().await;
    let attempt = async |number, request: &str| {
        let source = Ipv4Addr::new(127, 0, 9, number);
        Connection::from(source, &browser.server).await.ask(request).await
    };
    let wrong = sign_in_request(&"A".repeat(43), "");
    for number in 1..=10 {
        for _ in 0..10 {
            assert_eq!(attempt(number, &wrong).await.status, 401);
        }
    }
    for number in [10, 11] {
        let refused = attempt(number, &wrong).await;
        assert_eq!((refused.status, refused.header("retry-after")), (429, Some("60")));
        let right = sign_in_request(&code(&browser.server).await, "");
        assert_eq!(attempt(number, &right).await.status, 303);
    }
    clock.advance(Duration::from_secs(60));
    assert_eq!(attempt(10, &wrong).await.status, 401);
}

#[cfg(unix)]
#[tokio::test]
async fn the_ready_line_and_a_signal_give_links_that_sign_in() {
    let mut server = Running::start(&[]).await;
    let first = server.ready["sign_in_url"].as_str().unwrap().to_owned();
    server.signal("USR1").await;
    let second = server.line().await["sign_in_url"].as_str().unwrap().to_owned();
    assert_ne!(first, second);
    let codes = [&first, &second].map(|link| {
        let (page, code) = link.split_once('#').unwrap();
        assert_eq!(page, format!("{}/sign-in", server.root()));
        code
    });
    for code in codes {
        let mut connection = Connection::to(&server).await;
        assert_eq!(connection.ask(sign_in_request(code, "")).await.status, 303);
    }
    let log = server.stop().await.stderr;
    assert!(codes.iter().all(|code| !log.contains(code)), "{log}");
}
