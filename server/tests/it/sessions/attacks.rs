//! Requests that must be refused, and that the refused ones change nothing.

use std::sync::Arc;
use std::time::Duration;

use promptarium_server::store::Store;
use promptarium_server::test_support::MemoryStore;
use promptarium_server::{Clock, EmbeddedServer, ManualClock};

use crate::support::browser::{
    FORM, JSON, OWN, code, create_key, keys, request, send, sign_in, sign_in_request,
};

const KEYS: &str = "/api/v1/api-keys";
const NEW_KEY: &str = r#"{"name":"n","scopes":["prompts:write"]}"#;

/// What a browser says about a request that another site, or nobody knows who, has caused.
const FOREIGN: [(&str, &str); 8] = [
    ("without a source", ""),
    ("cross-site", "sec-fetch-site: cross-site\r\n"),
    ("same-site", "sec-fetch-site: same-site\r\n"),
    ("typed", "sec-fetch-site: none\r\n"),
    ("origin null", "origin: null\r\n"),
    ("other origin", "origin: https://evil.example\r\n"),
    ("other port", "origin: http://127.0.0.1:1\r\n"),
    ("two sources", "sec-fetch-site: same-origin\r\nsec-fetch-site: cross-site\r\n"),
];

/// Two accounts on one store, each with a browser that is signed in.
struct Scene {
    /// Its sign-in links are alice's.
    server: EmbeddedServer,
    clock: ManualClock,
    alice: String,
    bob: String,
    /// A session of alice that has ended.
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
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(Clock::Manual(clock.clone())));
        let of = async |seed: &str| {
            let builder = EmbeddedServer::builder().seed_key(seed).store(store.clone());
            builder.clock(Clock::Manual(clock.clone())).start().await.unwrap()
        };
        let server = of("promptarium_live_a1_s3cret=alice").await;
        let bob = sign_in(&of("promptarium_live_b1_s3cret=bob").await).await;
        let (alice, ended) = (sign_in(&server).await, sign_in(&server).await);
        let out = request("POST", "/sign-out", &format!("{OWN}{ended}"), "");
        assert_eq!(send(&server, &out).await.status, 303);
        let used = code(&server).await;
        assert_eq!(send(&server, &sign_in_request(&used, "")).await.status, 303);
        let created = create_key(&server, &alice, "Laptop").await;
        let key = created["key"].as_str().unwrap().to_owned();
        let key_path = format!("{KEYS}/{}", created["publicId"].as_str().unwrap());
        Self { server, clock, alice, bob, ended, used, key, key_path }
    }

    /// From other sites: every request that changes something, in every form.
    async fn cross_site(&self) -> Vec<Attack> {
        let Self { server, alice, key_path, .. } = self;
        let sign_in = format!("code={}", code(server).await);
        let mut attacks = Vec::new();
        for (source, headers) in FOREIGN {
            for (name, method, path, cookie, body) in [
                ("create a key", "POST", KEYS, &**alice, NEW_KEY),
                ("create a key by a form", "POST", KEYS, alice, "name=n"),
                ("revoke a key", "DELETE", key_path, alice, ""),
                ("sign in", "POST", "/sign-in", "", &*sign_in),
                ("sign in again", "POST", "/sign-in", alice, &sign_in),
                ("sign out", "POST", "/sign-out", alice, ""),
                ("sign out without a cookie", "POST", "/sign-out", "", ""),
            ] {
                let of = if body.starts_with('{') { JSON } else { FORM };
                let headers = format!("{of}{headers}{cookie}");
                let request = request(method, path, &headers, body);
                attacks.push((format!("{name}, {source}"), request, 403));
            }
        }
        attacks
    }

    /// Codes that are none, and forms that are none.
    fn codes(&self) -> Vec<Attack> {
        let Self { used, alice, .. } = self;
        let zero = "A".repeat(43);
        let cookie = alice.split_once('=').unwrap().1.trim_end();
        let large = format!("code={}", "A".repeat(5000));
        let mut attacks = Vec::new();
        for (name, body) in [
            ("replayed", format!("code={used}")),
            ("unknown", format!("code={zero}")),
            ("empty form", String::new()),
            ("empty", "code=".to_owned()),
            ("other field", format!("Code={zero}")),
            ("two", format!("code={zero}&code={zero}")),
            ("short", format!("code={}", &zero[1..])),
            ("long", format!("code={zero}A")),
            ("padded", format!("code={zero}%3D")),
            ("of another alphabet", format!("code={}%2B", &zero[1..])),
            ("with NUL", format!("code={zero}%00")),
            ("with a header after it", format!("code={zero}%0D%0ASet-Cookie:+a=b")),
            ("with a header in it", format!("code=%0D%0ALocation:+//evil.example{zero}")),
            ("not UTF-8", format!("code=%FF%FE{zero}")),
            ("SQL", "code='+OR+1=1--".to_owned()),
            ("a session", format!("code={cookie}")),
            ("an API key", format!("code={}", self.key)),
        ] {
            let request = request("POST", "/sign-in", &format!("{FORM}{OWN}"), &body);
            attacks.push((format!("code {name}"), request, 401));
        }
        let json = format!(r#"{{"code":"{zero}"}}"#);
        let chunked = format!("transfer-encoding: chunked\r\n{FORM}{OWN}");
        let chunks = format!(
            "POST /sign-in HTTP/1.1\r\nhost: test\r\n{chunked}\r\n1388\r\n{}\r\n0\r\n\r\n",
            "A".repeat(5000)
        );
        for (name, request, status) in [
            ("form too large", request("POST", "/sign-in", &format!("{FORM}{OWN}"), &large), 413),
            ("form too large in chunks", chunks, 413),
            ("JSON", request("POST", "/sign-in", &format!("{JSON}{OWN}"), &json), 415),
            ("no type", request("POST", "/sign-in", OWN, &format!("code={zero}")), 415),
            ("code in the query", request("POST", &format!("/sign-in?code={used}"), OWN, ""), 415),
            ("sign in by PUT", request("PUT", "/sign-in", OWN, ""), 405),
            ("sign out by GET", request("GET", "/sign-out", alice, ""), 405),
        ] {
            attacks.push((name.to_owned(), request, status));
        }
        attacks
    }

    /// Cookies and keys that give no session.
    fn no_session(&self) -> Vec<Attack> {
        let Self { alice, bob, ended, used, key, .. } = self;
        let pair = alice.strip_prefix("cookie: ").unwrap().trim_end();
        let value = pair.split_once('=').unwrap().1;
        let bearer = format!("authorization: Bearer {key}\r\n");
        let mut attacks = Vec::new();
        for (name, headers) in [
            ("nothing", String::new()),
            ("a key", bearer.clone()),
            ("a key beside a session", format!("{alice}{bearer}")),
            ("a session of another account beside a key", format!("{bearer}{bob}")),
            (
                "basic authorization beside a session",
                format!("{alice}authorization: Basic YTpi\r\n"),
            ),
            ("empty authorization beside a session", format!("{alice}authorization:\r\n")),
            ("the session as a key", format!("authorization: Bearer {value}\r\n")),
            ("the key as a session", format!("cookie: promptarium_session={key}\r\n")),
            ("a code as a session", format!("cookie: promptarium_session={used}\r\n")),
            ("an unknown session", format!("cookie: promptarium_session={}\r\n", "A".repeat(43))),
            ("an ended session", ended.clone()),
            ("an empty session", "cookie: promptarium_session=\r\n".to_owned()),
            ("a cut session", format!("cookie: {}\r\n", &pair[..pair.len() - 1])),
            ("a longer session", format!("cookie: {pair}A\r\n")),
            ("a quoted session", format!("cookie: promptarium_session=\"{value}\"\r\n")),
            ("the session in upper case", format!("cookie: {}\r\n", pair.to_uppercase())),
            ("another name", format!("cookie: session={value}\r\n")),
            ("the name of HTTPS", format!("cookie: __Host-{pair}\r\n")),
            ("the cookie twice", format!("cookie: {pair}; {pair}\r\n")),
            ("two lines of cookies", format!("{alice}{bob}")),
            ("an empty cookie beside it", format!("{alice}cookie: promptarium_session=\r\n")),
            ("the session in a comma list", format!("cookie: a=b, {pair}\r\n")),
        ] {
            for (method, path, body) in
                [("GET", KEYS, ""), ("POST", KEYS, NEW_KEY), ("DELETE", &*self.key_path, "")]
            {
                let headers = format!("{JSON}{OWN}{headers}");
                attacks.push((
                    format!("{method} with {name}"),
                    request(method, path, &headers, body),
                    401,
                ));
            }
        }
        attacks
    }

    /// A session where a key is needed, and one of another account.
    fn other_places(&self) -> Vec<Attack> {
        let Self { alice, bob, key_path, .. } = self;
        let value = alice.split_once('=').unwrap().1.trim_end();
        let own = |cookie: &str| format!("{JSON}{OWN}{cookie}");
        let vault = r#"{"name":"v"}"#;
        let token = format!("/api/v1/vaults?promptarium_session={value}");
        [
            ("list prompts by cookie", request("GET", "/api/v1/prompts", &own(alice), ""), 401),
            (
                "create a vault by cookie",
                request("POST", "/api/v1/vaults", &own(alice), vault),
                401,
            ),
            (
                "delete a vault by cookie",
                request("DELETE", "/api/v1/vaults/1", &own(alice), ""),
                401,
            ),
            ("upload by cookie", request("POST", "/api/v1/uploads/images", &own(alice), "{}"), 401),
            ("session in the query", request("GET", &token, "", ""), 401),
            ("revoke another's key", request("DELETE", key_path, &own(bob), ""), 404),
            ("revoke no key", request("DELETE", &format!("{KEYS}/nothing"), &own(alice), ""), 404),
            ("revoke a broken id", request("DELETE", &format!("{KEYS}/%ff"), &own(alice), ""), 404),
            ("revoke by NUL", request("DELETE", &format!("{KEYS}/a%00"), &own(alice), ""), 404),
            ("revoke in the list", request("DELETE", KEYS, &own(alice), ""), 405),
            ("read one key", request("GET", key_path, &own(alice), ""), 405),
            ("override the method", request("PATCH", key_path, &own(alice), ""), 405),
        ]
        .map(|(name, request, status)| (name.to_owned(), request, status))
        .into()
    }
}

#[tokio::test]
async fn attacks_are_refused_and_change_nothing() {
    let scene = Scene::new().await;
    let Scene { server, clock, alice, bob, .. } = &scene;
    let before = (keys(server, alice).await, keys(server, bob).await);
    let cross_site = scene.cross_site().await;
    let attacks = [cross_site, scene.codes(), scene.no_session(), scene.other_places()].concat();
    assert!(attacks.len() > 150, "{}", attacks.len());
    let mut faults = Vec::new();
    for (name, request, status) in attacks {
        // Each has a minute of its own, so that none meets the limit of attempts.
        clock.advance(Duration::from_secs(60));
        let response = send(server, &request).await;
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
    assert_eq!((keys(server, alice).await, keys(server, bob).await), before);
}

#[tokio::test]
async fn a_revoke_by_the_public_id_of_a_session_is_404() {
    let scene = Scene::new().await;
    let Scene { server, alice, .. } = &scene;
    let listed = keys(server, alice).await;
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), 2, "sessions are no keys: {listed:?}");
    for id in ["session_", "session_00000000000000000000000000000000"] {
        let path = format!("{KEYS}/{id}");
        let response = send(server, &request("DELETE", &path, &format!("{OWN}{alice}"), "")).await;
        assert_eq!(response.status, 404, "{id}");
    }
}
