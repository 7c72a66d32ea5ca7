//! Signing in, and sessions. Scenarios of the conformance suite (`keys.session`) have what a session
//! does with keys and which cookies are none, tests of the store the lives of codes and sessions.

mod addresses;

use promptarium_server::EmbeddedServer;

use crate::support::browser::{
    Browser, FORM, JSON, KEYS, OWN, code, cookie_of, request, send, sign_in, sign_in_request,
    with_clock,
};
use crate::support::client::Connection;
use crate::support::program::{Running, output, program};

#[tokio::test]
async fn a_code_sets_a_cookie_bound_to_the_host_until_its_session_signs_out() {
    const NAME: &str = "__Host-promptarium_session";
    const ATTRIBUTES: &str = "; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=";
    let builder = EmbeddedServer::builder().public_url("https://prompts.example/behind");
    let server = builder.start().await.unwrap();
    let other = sign_in(&server).await;
    let response = send(&server, sign_in_request(&code(&server).await, "")).await;
    assert_eq!((response.status, response.location()), (303, "/behind/"));
    assert_eq!(response.header("cache-control"), Some("no-store"));
    let set = response.header("set-cookie").unwrap();
    let value = set.strip_suffix(&format!("{ATTRIBUTES}2592000")).unwrap();
    let value = value.strip_prefix(&format!("{NAME}=")).unwrap();
    assert_eq!(value.len(), 43, "{value}");
    let cookie = cookie_of(&response);
    let wrong = format!("cookie: promptarium_session={value}\r\n");
    let out = request("POST", "/sign-out", &format!("{OWN}{cookie}"), "");
    for statuses in [[200, 200, 401], [401, 200, 401], [401, 200, 401]] {
        for (cookie, status) in [&cookie, &other, &wrong].into_iter().zip(statuses) {
            assert_eq!(send(&server, request("GET", KEYS, cookie, "")).await.status, status);
        }
        // The second time it is signed out already.
        let out = send(&server, &out).await;
        assert_eq!((out.status, out.location()), (303, "/behind/"));
        assert_eq!(out.header("set-cookie"), Some(&*format!("{NAME}={ATTRIBUTES}0")));
    }
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

/// Codes that are not valid, and forms that have none. However many a client sends, each is 401.
#[tokio::test]
async fn a_wrong_sign_in_is_refused_and_sets_no_cookie() {
    let (browser, _) = with_clock().await;
    let (used, zero) = (code(&browser.server).await, "A".repeat(43));
    assert_eq!(send(&browser.server, sign_in_request(&used, "")).await.status, 303);
    let session = browser.cookie.split_once('=').unwrap().1.trim_end();
    let (form, json) = (format!("{FORM}{OWN}"), format!("{JSON}{OWN}"));
    let long = "A".repeat(5_000);
    let chunks = format!(
        "POST /sign-in HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n{form}\r\n\
         1388\r\n{long}\r\n0\r\n\r\n"
    );
    let posted = |headers: &str, body: String| request("POST", "/sign-in", headers, &body);
    for (sent, status) in [
        (posted(&form, format!("code={used}")), 401),
        (posted(&form, format!("code={zero}")), 401),
        (posted(&form, String::new()), 401),
        (posted(&form, format!("code={zero}&code={zero}")), 401),
        (posted(&form, format!("code={zero}%00")), 401),
        (posted(&form, format!("code={zero}%0D%0ASet-Cookie:+a=b")), 401),
        (posted(&form, format!("code=%0D%0ALocation:+//evil.example{zero}")), 401),
        (posted(&form, format!("code=%FF%FE{zero}")), 401),
        (posted(&form, format!("code={session}")), 401),
        (posted(&form, format!("code={}", browser.server.api_key())), 401),
        (posted(&form, format!("code={long}")), 413),
        (chunks, 413),
        (posted(&json, format!(r#"{{"code":"{zero}"}}"#)), 415),
        (posted(OWN, format!("code={zero}")), 415),
        (request("POST", &format!("/sign-in?code={used}"), OWN, ""), 415),
        (request("PUT", "/sign-in", OWN, ""), 405),
        (request("GET", "/sign-out", &browser.cookie, ""), 405),
    ] {
        let response = send(&browser.server, &sent).await;
        assert_eq!(response.status, status, "{sent}");
        let is_evil = |(name, value): &(String, String)| {
            name == "set-cookie" || value.contains("evil.example")
        };
        assert!(!response.headers.iter().any(is_evil), "{sent}: {response:?}");
        assert!(!response.body.contains("promptarium_live"), "{sent}: {response:?}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn the_ready_line_and_a_command_give_links_that_sign_in() {
    let folder = tempfile::tempdir().unwrap();
    let place = format!("--data {}", folder.path().join("data").display());
    let server = Running::start(&place).await;
    let first = server.ready["sign_in_url"].as_str().unwrap().to_owned();
    let second = output(program(&format!("sign-in default --json {place}"))).await.json();
    let second = second["link"].as_str().unwrap().to_owned();
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
