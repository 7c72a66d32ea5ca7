//! What the dashboard refuses, and the pages that say so.

use data_encoding::BASE64;
use promptarium_server::EmbeddedServer;
use promptarium_server::test_support::page_table;
use serde_json::json;
use sha2::{Digest, Sha256};
use url::form_urlencoded;

use super::PAGES;
use crate::support::browser::{
    Browser, FOREIGN, FORM, KEYS, OWN, code, request, send, sign_in_request, two_accounts,
};

/// Method and path of every page and form that needs a session, from the route table, and whether the
/// path has parameters, which `fill` gives.
fn routes(fill: impl Fn(&str) -> String) -> Vec<(String, String, bool)> {
    let routes = page_table().into_iter();
    let routes = routes.filter(|route| format!("{:?}", route.access) == "Session");
    let filled = routes.map(|route| {
        let parts = route.path.split('/').map(|part| match part.strip_prefix('{') {
            Some(name) => fill(name.trim_end_matches('}')),
            None => part.to_owned(),
        });
        let path = parts.collect::<Vec<_>>().join("/");
        (route.method.to_string(), path, route.path.contains('{'))
    });
    let filled: Vec<_> = filled.collect();
    assert!(filled.len() >= 30, "{filled:?}");
    filled
}

#[tokio::test]
async fn a_page_needs_a_session_and_a_key_does_not_do_and_the_sign_in_leads_back_to_it() {
    let browser = Browser::open().await;
    let server = &browser.server;
    let key = format!("authorization: Bearer {}\r\n", server.api_key());
    let with_cookie = format!("{key}{}", browser.cookie);
    let asked = ("GET".to_owned(), "/prompts?q=a%20b&view=list".to_owned(), false);
    let root = format!("http://{}", server.local_addr());
    for (method, path, _) in routes(|_| "1".to_owned()).into_iter().chain([asked]) {
        for (page, next) in [("/vaults/new?a=b", "vaults%2Fnew%3Fa%3Db"), (":1/a", ""), ("", "")] {
            let referer = format!("referer: {root}{page}\r\n");
            for headers in ["", "cookie: promptarium_session=x\r\n", &key, &with_cookie] {
                let headers = format!("{FORM}{OWN}{referer}{headers}");
                let away = send(server, request(&method, &path, &headers, "")).await;
                let own: String = form_urlencoded::byte_serialize(&path.as_bytes()[1..]).collect();
                let next = if method == "GET" { &own } else { next };
                let expected = match next {
                    "" => "/sign-in".to_owned(),
                    next => format!("/sign-in?next={next}"),
                };
                assert_eq!((away.status, away.location()), (303, &*expected), "{method} {path}");
            }
        }
    }
}

#[tokio::test]
async fn a_form_of_another_site_is_refused_and_changes_nothing() {
    let browser = Browser::open().await;
    let prompt = browser.prompt("Harbour", Some(1)).await;
    let state = async || {
        let mut state = String::new();
        for list in ["/prompts", "/vaults", "/vaults/1/prompts"] {
            state += &browser.data(list).await.to_string();
        }
        state += &browser.get(KEYS).await.body;
        // Each form has another token each time.
        let account = browser.page("/account").await;
        account
            .split("name=\"token\" value=\"")
            .fold(state, |all, part| all + part.split_once('"').map_or(part, |(_, rest)| rest))
    };
    let before = state().await;
    let forms = routes(|_| "1".to_owned()).into_iter().filter(|(method, ..)| method == "POST");
    let forms = forms.map(|(_, path, _)| path);
    // As each form needs it, to change something.
    let fields = format!(
        "name=default&title=t&prompt=p&modelId=local%2Fplasma&visibility=public&id={prompt}&\
         action=delete&code={}",
        code(&browser.server).await
    );
    for path in forms.chain(["/sign-in", "/sign-out"].map(str::to_owned)) {
        for site in FOREIGN {
            let headers = format!("{FORM}{site}{}", browser.cookie);
            let refused = send(&browser.server, request("POST", &path, &headers, &fields)).await;
            assert_eq!(refused.status, 403, "{path} {site}");
            let id = refused.header("x-request-id").unwrap();
            assert!(refused.body.contains(id), "{path}: {}", refused.body);
            assert_eq!(refused.header("set-cookie"), None, "{path} {site}");
            if path.starts_with("/sign-") {
                // Nobody is signed in by a page of another site, whether signed in or not.
                let sent = request("POST", &path, &format!("{FORM}{site}"), &fields);
                assert_eq!(send(&browser.server, sent).await.status, 403, "{path} {site}");
            }
        }
    }
    assert_eq!(state().await, before);
}

#[tokio::test]
async fn no_page_may_be_framed_or_kept_and_scripts_are_those_of_the_policy() {
    let browser = Browser::open().await;
    let with_session = |path| request("GET", path, &browser.cookie, "");
    let pages = PAGES.iter().map(|(path, ..)| (with_session(*path), 200));
    let others = [
        (request("GET", "/sign-in", "", ""), 200),
        (sign_in_request("wrong", ""), 401),
        (request("POST", "/sign-in", FORM, "code=x"), 403),
        (request("POST", "/sign-out", "", ""), 403),
    ];
    for (sent, status) in pages.chain(others) {
        let page = send(&browser.server, &sent).await;
        assert_eq!(page.status, status, "{sent}");
        for (name, value) in [
            ("content-type", "text/html; charset=utf-8"),
            ("cache-control", "no-store"),
            ("referrer-policy", "same-origin"),
        ] {
            assert_eq!(page.header(name), Some(value), "{sent}");
        }
        let policy = page.header("content-security-policy").unwrap();
        for part in ["default-src 'none'", "frame-ancestors 'none'", "form-action 'self'"] {
            assert!(policy.contains(part), "{sent}: {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains('*'), "{sent}: {policy}");
        for script in page.body.split("<script>").skip(1) {
            let script = script.split("</script>").next().unwrap();
            let hash = BASE64.encode(&Sha256::digest(script));
            assert!(policy.contains(&format!("'sha256-{hash}'")), "{sent}: {script}");
        }
    }
}

#[tokio::test]
async fn what_another_account_has_is_not_found() {
    let (alice, bob) = two_accounts().await;
    let vault = bob.vault("Sky", "private").await;
    let prompt = bob.prompt("Stars", Some(vault)).await;
    let own = alice.vault("Own", "private").await;
    let job = json!({ "modelId": "local/plasma", "prompt": "p", "clientJobId": "bobs", "vaultId": vault });
    bob.create("/generations", job).await;
    bob.ended_jobs().await;
    let before = (bob.data("/vaults").await, bob.data("/prompts").await);
    let of_bob = routes(|name| match name {
        "promptId" => prompt.to_string(),
        "vaultId" => vault.to_string(),
        "clientJobId" => "bobs".to_owned(),
        "publicId" => "b1".to_owned(),
        _ => "99999".to_owned(),
    });
    let of_bob = of_bob.into_iter().filter(|(.., has_parameters)| *has_parameters);
    let others = [
        format!("/prompts/new?from={prompt}"),
        format!("/prompts?vaultId={vault}"),
        format!("/generate?prompt={prompt}"),
        "/generate?job=bobs".to_owned(),
        "/jobs?before=bobs".to_owned(),
        "/vaults/x".to_owned(),
    ];
    let others = others.map(|path| ("GET".to_owned(), path, false));
    for (method, path, _) in of_bob.chain(others) {
        let missing = match &*method {
            "GET" => alice.get(&path).await,
            _ => alice.post(&path, "title=t&prompt=p&name=Evil&visibility=public").await,
        };
        assert_eq!(missing.status, 404, "{method} {path}");
        assert!(missing.body.contains("<h1><bdi>Not found</bdi></h1>"), "{path}: {}", missing.body);
        assert!(missing.body.contains(missing.header("x-request-id").unwrap()), "{path}");
    }
    for (path, form, status) in [
        ("/prompts/chosen", &format!("id={prompt}&action=pin&from={vault}"), 404),
        ("/prompts/chosen", &format!("id={prompt}&action=remove&from={vault}"), 404),
        ("/prompts/chosen", &format!("id={prompt}&action=move&from={vault}&vaultId={own}"), 404),
        ("/prompts/chosen", &format!("id={prompt}&action=cover&from={own}"), 404),
        ("/prompts/chosen", &format!("id={prompt}&action=add&vaultId={vault}"), 404),
        ("/prompts/new", &format!("title=t&prompt=p&vaultId={vault}"), 400),
        ("/generate", &format!("modelId=local%2Fplasma&prompt=p&vaultId={vault}"), 400),
        ("/prompts/chosen", &format!("id={prompt}&action=add&vaultId={own}"), 400),
        // Deleting what does not exist any more is no failure; what is another account's stays.
        ("/prompts/chosen", &format!("id={prompt}&action=delete"), 303),
    ] {
        assert_eq!(alice.post(path, form).await.status, status, "{path} {form}");
    }
    assert_eq!((bob.data("/vaults").await, bob.data("/prompts").await), before);
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
        let response = send(&server, sent).await;
        let media = if is_page { "text/html; charset=utf-8" } else { "application/json" };
        let got = (response.status, response.header("content-type"));
        assert_eq!(got, (status, Some(media)), "{method} {path} {accept}");
        assert_eq!(response.header("allow").is_some(), status == 405, "{method} {path}");
    }
}

#[tokio::test]
async fn failures_have_the_navigation_or_the_way_to_sign_in() {
    let browser = Browser::open().await;
    for (method, path, status, without_session) in [
        ("GET", "/prompts/999", 404, 303),
        ("GET", "/prompts?type=x", 400, 303),
        ("GET", "/nothing", 404, 404),
        ("GET", "/sign-out", 405, 405),
        ("POST", "/sign-in", 403, 403),
    ] {
        for (cookie, status) in [(&*browser.cookie, status), ("", without_session)] {
            let sent = request(method, path, &format!("accept: text/html\r\n{cookie}"), "");
            let page = send(&browser.server, sent).await;
            let has = |part| page.body.contains(part);
            let found = [has("<nav "), has("Sign out</button>"), has("href=\"/sign-in\"")];
            let is_in = !cookie.is_empty();
            let expected = [is_in, is_in, !is_in && status != 303];
            assert_eq!((page.status, found), (status, expected), "{method} {path}");
        }
    }
}
