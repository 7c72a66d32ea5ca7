//! Requests that must be refused, and that the refused ones change nothing. Which sources and
//! cookies are refused is tested beside the functions that read them, too.

use std::time::Duration;

use promptarium_server::{Clock, ManualClock};
use serde_json::json;

use crate::support::browser::{
    Browser, FOREIGN, FORM, JSON, KEYS, OWN, accounts, code, cookie_of, request, send,
    sign_in_request,
};

const NEW_KEY: &str = r#"{"name":"n","scopes":["prompts:write"]}"#;

/// Two accounts on one store, each with a browser that is signed in.
struct Scene {
    alice: Browser,
    bob: Browser,
    clock: ManualClock,
    /// The cookie of a session of alice that has ended.
    ended: String,
    /// A code of alice that is used up.
    used: String,
    /// A key that alice has created.
    key: String,
    key_path: String,
}

/// Name, request, expected status.
type Attack = (String, String, u16);

impl Scene {
    async fn new() -> Self {
        let clock = ManualClock::new("2026-01-02T03:04:05Z".parse().unwrap());
        let (alice, bob) = accounts(Clock::Manual(clock.clone())).await;
        let used = code(&alice.server).await;
        let signed_in = send(&alice.server, sign_in_request(&used, "")).await;
        let ended = cookie_of(&signed_in);
        let out = request("POST", "/sign-out", &format!("{OWN}{ended}"), "");
        assert_eq!(send(&alice.server, out).await.status, 303);
        let created = alice.create_key("Laptop").await;
        let key = created["key"].as_str().unwrap().to_owned();
        let key_path = format!("{KEYS}/{}", created["publicId"].as_str().unwrap());
        Self { alice, bob, clock, ended, used, key, key_path }
    }

    /// The keys of both accounts.
    async fn keys(&self) -> [String; 2] {
        [self.alice.get(KEYS).await.body, self.bob.get(KEYS).await.body]
    }

    /// From other sites: requests that change something, in every form. `dashboard::refusals` has
    /// those of the dashboard.
    async fn cross_site(&self) -> Vec<Attack> {
        let (alice, sign_in) = (&*self.alice.cookie, code(&self.alice.server).await);
        let sign_in = format!("code={sign_in}");
        let attack = |source| {
            [
                ("POST", KEYS, alice, NEW_KEY),
                ("POST", KEYS, alice, "name=n"),
                ("DELETE", &self.key_path, alice, ""),
                ("POST", "/sign-in", "", &sign_in),
                ("POST", "/sign-in", alice, &sign_in),
                ("POST", "/sign-out", alice, ""),
                ("POST", "/sign-out", "", ""),
            ]
            .map(|(method, path, cookie, body)| {
                let of = if body.starts_with('{') { JSON } else { FORM };
                let request = request(method, path, &format!("{of}{source}{cookie}"), body);
                (format!("{method} {path} {body} {source}"), request, 403)
            })
        };
        FOREIGN.into_iter().flat_map(attack).collect()
    }

    /// Codes that are none, and forms that are none.
    fn codes(&self) -> Vec<Attack> {
        let zero = "A".repeat(43);
        let used = &self.used;
        let session = self.alice.cookie.split_once('=').unwrap().1.trim_end();
        let (form, json) = (format!("{FORM}{OWN}"), format!("{JSON}{OWN}"));
        let bodies = [
            format!("code={used}"),
            format!("code={zero}"),
            String::new(),
            format!("code={zero}&code={zero}"),
            format!("code={zero}%00"),
            format!("code={zero}%0D%0ASet-Cookie:+a=b"),
            format!("code=%0D%0ALocation:+//evil.example{zero}"),
            format!("code=%FF%FE{zero}"),
            format!("code={session}"),
            format!("code={}", self.key),
        ];
        let codes =
            bodies.map(|body| (body.clone(), request("POST", "/sign-in", &form, &body), 401));
        let long = format!("code={}", "A".repeat(5000));
        let chunks = format!(
            "POST /sign-in HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n{form}\r\n\
             1388\r\n{long}\r\n0\r\n\r\n",
            long = &long[5..]
        );
        let sign_in = |headers: &str, body: &str| request("POST", "/sign-in", headers, body);
        let in_query = request("POST", &format!("/sign-in?code={used}"), OWN, "");
        let others = [
            ("form too large", sign_in(&form, &long), 413),
            ("form too large in chunks", chunks, 413),
            ("JSON", sign_in(&json, &format!(r#"{{"code":"{zero}"}}"#)), 415),
            ("no type", sign_in(OWN, &format!("code={zero}")), 415),
            ("code in the query", in_query, 415),
            ("sign in by PUT", request("PUT", "/sign-in", OWN, ""), 405),
            ("sign out by GET", request("GET", "/sign-out", &self.alice.cookie, ""), 405),
        ];
        let others = others.map(|(name, request, status)| (name.to_owned(), request, status));
        codes.into_iter().chain(others).collect()
    }

    /// Cookies and keys that give no session, and sessions of which there is no key.
    fn no_session(&self) -> Vec<Attack> {
        let Self { alice, bob, ended, used, key, .. } = self;
        let (alice, bob) = (&alice.cookie, &bob.cookie);
        let pair = alice.strip_prefix("cookie: ").unwrap().trim_end();
        let value = pair.split_once('=').unwrap().1;
        let mut attacks = Vec::new();
        for headers in [
            String::new(),
            format!("authorization: Bearer {key}\r\n"),
            format!("{alice}authorization: Bearer {key}\r\n"),
            format!("authorization: Bearer {key}\r\n{bob}"),
            format!("{alice}authorization: Basic YTpi\r\n"),
            format!("{alice}authorization:\r\n"),
            format!("authorization: Bearer {value}\r\n"),
            format!("cookie: promptarium_session={key}\r\n"),
            format!("cookie: promptarium_session={used}\r\n"),
            format!("cookie: promptarium_session={}\r\n", "A".repeat(43)),
            ended.clone(),
            format!("{alice}{bob}"),
            format!("cookie: a=b, {pair}\r\n"),
        ] {
            for (method, path, body) in
                [("GET", KEYS, ""), ("POST", KEYS, NEW_KEY), ("DELETE", &*self.key_path, "")]
            {
                let sent = request(method, path, &format!("{JSON}{OWN}{headers}"), body);
                attacks.push((format!("{method} with {headers}"), sent, 401));
            }
        }
        let in_query = format!("{KEYS}?promptarium_session={value}");
        attacks.push((in_query.clone(), request("GET", &in_query, "", ""), 401));
        for id in ["session_", "session_00000000000000000000000000000000", "%ff"] {
            let path = format!("{KEYS}/{id}");
            attacks.push((
                id.to_owned(),
                request("DELETE", &path, &format!("{OWN}{alice}"), ""),
                404,
            ));
        }
        attacks
    }
}

#[tokio::test]
async fn attacks_are_refused_and_change_nothing() {
    let scene = Scene::new().await;
    let before = scene.keys().await;
    let listed = scene.alice.keys("GET", "", &json!(null)).await.data();
    assert_eq!(listed.as_array().unwrap().len(), 2, "sessions are no keys: {listed}");
    let attacks = [scene.cross_site().await, scene.codes(), scene.no_session()].concat();
    assert!(attacks.len() > 110, "{}", attacks.len());
    let mut faults = Vec::new();
    for (name, request, status) in attacks {
        // Each has a minute of its own, so that none meets the limit of attempts.
        scene.clock.advance(Duration::from_secs(60));
        let response = send(&scene.alice.server, &request).await;
        if response.status != status {
            faults.push(format!("{name}: {} instead of {status}", response.status));
        }
        let evil = response.headers.iter().any(|(name, value)| {
            name.eq_ignore_ascii_case("set-cookie") || value.contains("evil.example")
        });
        if evil || response.body.contains("promptarium_live") {
            faults.push(format!("{name}: {response:?}"));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert_eq!(scene.keys().await, before);
}
