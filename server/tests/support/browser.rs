//! Requests as a browser sends them: forms and cookies.

use std::sync::Arc;

use promptarium_server::store::Store;
use promptarium_server::test_support::MemoryStore;
use promptarium_server::{Clock, EmbeddedServer, ManualClock};
use serde_json::{Value, json};
use tokio::time::Instant;
use url::form_urlencoded;

use super::TIMEOUT;
use super::client::{Connection, Response, call};

pub(crate) const OWN: &str = "sec-fetch-site: same-origin\r\n";
pub(crate) const FORM: &str = "content-type: application/x-www-form-urlencoded\r\n";
pub(crate) const JSON: &str = "content-type: application/json\r\n";
pub(crate) const KEYS: &str = "/api/v1/api-keys";

/// What a browser says of a request that a page of another site, or nobody knows what, has caused.
pub(crate) const FOREIGN: [&str; 8] = [
    "",
    "sec-fetch-site: cross-site\r\n",
    "sec-fetch-site: same-site\r\n",
    "sec-fetch-site: none\r\n",
    "origin: null\r\n",
    "origin: https://evil.example\r\n",
    "origin: http://127.0.0.1:1\r\n",
    "sec-fetch-site: same-origin\r\nsec-fetch-site: cross-site\r\n",
];

/// A request as bytes; each header ends in CR LF.
pub(crate) fn request(method: &str, path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: test\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    )
}

/// Sends one request on a connection of its own.
pub(crate) async fn send(server: &EmbeddedServer, request: impl AsRef<[u8]>) -> Response {
    Connection::to(server).await.ask(request).await
}

pub(crate) fn encoded(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// The value of the first `name="…"` in a page.
pub(crate) fn attribute<'a>(page: &'a str, before: &str) -> &'a str {
    let (_, rest) = page.split_once(before).unwrap_or_else(|| panic!("no {before} in {page}"));
    rest.split('"').next().unwrap()
}

#[track_caller]
pub(crate) fn assert_has(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "no {part} in {page}");
    }
}

/// The code in a new sign-in link.
pub(crate) async fn code(server: &EmbeddedServer) -> String {
    let link = server.sign_in_url().await.unwrap();
    link.split_once("/sign-in#").unwrap().1.to_owned()
}

/// The request that signs in with this code.
pub(crate) fn sign_in_request(code: &str, headers: &str) -> String {
    let headers = format!("{FORM}{OWN}{headers}");
    request("POST", "/sign-in", &headers, &format!("code={code}"))
}

/// The header with the first cookie that a response sets.
pub(crate) fn cookie_of(response: &Response) -> String {
    let cookie = response.header("set-cookie").unwrap_or_else(|| panic!("{response:?}"));
    format!("cookie: {}\r\n", cookie.split(';').next().unwrap())
}

/// Signs in, and gives the header with the cookie of the session.
pub(crate) async fn sign_in(server: &EmbeddedServer) -> String {
    let response = send(server, sign_in_request(&code(server).await, "")).await;
    assert_eq!(response.status, 303, "{response:?}");
    cookie_of(&response)
}

/// Browsers of two accounts, alice and bob, on one store.
pub(crate) async fn two_accounts() -> (Browser, Browser) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(Clock::System));
    let of = async |seed: &str| {
        let builder = EmbeddedServer::builder().seed_key(seed).store(store.clone());
        Browser::on(builder.start().await.unwrap()).await
    };
    (of("promptarium_live_a1_s3cret=alice").await, of("promptarium_live_b1_s3cret=bob").await)
}

/// A browser at a server whose clock can be advanced.
pub(crate) async fn with_clock() -> (Browser, ManualClock) {
    let clock = ManualClock::new("2026-01-02T03:04:05Z".parse().unwrap());
    let builder = EmbeddedServer::builder().clock(Clock::Manual(clock.clone()));
    (Browser::on(builder.start().await.unwrap()).await, clock)
}

/// A server with a browser that is signed in.
pub(crate) struct Browser {
    pub(crate) server: EmbeddedServer,
    /// The header with the cookie of the session.
    pub(crate) cookie: String,
}

impl Browser {
    pub(crate) async fn open() -> Self {
        Self::on(EmbeddedServer::start().await.unwrap()).await
    }

    pub(crate) async fn on(server: EmbeddedServer) -> Self {
        let cookie = sign_in(&server).await;
        Self { server, cookie }
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        send(&self.server, request("GET", path, &self.cookie, "")).await
    }

    /// A page as somebody sees it who is not signed in.
    pub(crate) async fn visit(&self, path: &str) -> Response {
        send(&self.server, request("GET", path, "", "")).await
    }

    /// The body of a page that is there.
    pub(crate) async fn page(&self, path: &str) -> String {
        let response = self.get(path).await;
        assert_eq!(response.status, 200, "{path}: {response:?}");
        assert!(response.body.len() <= 60_000, "{path} has {} bytes", response.body.len());
        response.body
    }

    pub(crate) async fn post(&self, path: &str, form: &str) -> Response {
        let headers = format!("{FORM}{OWN}{}", self.cookie);
        send(&self.server, request("POST", path, &headers, form)).await
    }

    /// Sends a form and follows the redirect; gives the page.
    pub(crate) async fn submit(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let response = self.post(path, &encoded(fields)).await;
        assert_eq!(response.status, 303, "{path}: {response:?}");
        self.page(response.location()).await
    }

    /// Sends a form that must be refused, and gives the page.
    pub(crate) async fn refused(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let response = self.post(path, &encoded(fields)).await;
        assert_eq!(response.status, 400, "{path}: {response:?}");
        response.body
    }

    /// The token of the form in a page, which makes the form work once.
    pub(crate) async fn token(&self, page: &str) -> String {
        attribute(&self.page(page).await, "name=\"token\" value=\"").to_owned()
    }

    /// Creates something through the API.
    pub(crate) async fn create(&self, path: &str, body: Value) -> Value {
        let response = call(&self.server, "POST", path, Some(&body.to_string())).await;
        assert!(response.status < 300, "{response:?}");
        response.data()
    }

    /// The data of a resource, as the API has it.
    pub(crate) async fn data(&self, path: &str) -> Value {
        let response = call(&self.server, "GET", path, None).await;
        assert_eq!(response.status, 200, "{path}: {response:?}");
        response.data()
    }

    /// Its id.
    pub(crate) async fn vault(&self, name: &str, visibility: &str) -> i64 {
        let body = json!({ "name": name, "visibility": visibility });
        self.create("/vaults", body).await["id"].as_i64().unwrap()
    }

    /// The id of a prompt in this vault, if any.
    pub(crate) async fn prompt(&self, title: &str, vault: Option<i64>) -> i64 {
        let mut body = json!({ "title": title, "prompt": "A harbour" });
        if let Some(vault) = vault {
            body["vaultId"] = vault.into();
        }
        self.create("/prompts", body).await["id"].as_i64().unwrap()
    }

    /// The page of jobs, when none runs any more.
    pub(crate) async fn ended_jobs(&self) -> String {
        let begun = Instant::now();
        loop {
            let page = self.page("/jobs").await;
            if !page.contains("data-poll=") {
                return page;
            }
            assert!(begun.elapsed() < TIMEOUT, "{page}");
        }
    }
}
