//! The dashboard over a socket: what each page shows, who may see it, and what its forms do.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use promptarium_server::provider::{
    GenerationRequest, PollError, Progress, Provider, ProviderTicket, SubmitError,
};
use promptarium_server::{Clock, EmbeddedServer, ManualClock};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::generations::SlowProvider;
use crate::support::TIMEOUT;
use crate::support::browser::{
    FORM, OWN, code, cookie_of, request, send, sign_in, sign_in_request,
};
use crate::support::client::{Connection, Response, call};

/// Pages of an empty account: address, heading, and what an empty list says.
const PAGES: [(&str, &str, &str); 6] = [
    ("/", "Overview", "There is nothing in your vaults."),
    ("/prompts", "Prompts", "There is no prompt."),
    ("/vaults", "Vaults", "0 prompts"),
    ("/jobs", "Jobs", "There is no job."),
    ("/keys", "Keys", "never used"),
    ("/sessions", "Sessions", "(this browser)"),
];

/// Every page that changes something, with fields that are valid, on ids that need not exist.
const CHANGES: [(&str, &str); 5] = [
    ("/keys", "name=n"),
    ("/keys/p1/revoke", ""),
    ("/prompts/1/pictures", "modelId=local%2Fplasma"),
    ("/sessions/1/end", ""),
    ("/sessions/end-others", ""),
];

const HOSTILE: &str = "\"'><script>alert(1)</script>&amp;<img src=x onerror=alert(2)>";

/// A server with a browser that is signed in.
struct Browser {
    server: EmbeddedServer,
    cookie: String,
}

impl Browser {
    async fn open() -> Self {
        Self::on(EmbeddedServer::start().await.unwrap()).await
    }

    async fn on(server: EmbeddedServer) -> Self {
        let cookie = sign_in(&server).await;
        Self { server, cookie }
    }

    async fn get(&self, path: &str) -> Response {
        send(&self.server, &request("GET", path, &self.cookie, "")).await
    }

    /// The body of a page that is there.
    async fn page(&self, path: &str) -> String {
        let response = self.get(path).await;
        assert_eq!(response.status, 200, "{path}: {response:?}");
        assert!(response.body.len() < 40_000, "{path} has {} bytes", response.body.len());
        response.body
    }

    async fn post(&self, path: &str, form: &str) -> Response {
        let headers = format!("{FORM}{OWN}{}", self.cookie);
        send(&self.server, &request("POST", path, &headers, form)).await
    }

    /// Creates something through the API.
    async fn create(&self, path: &str, body: Value) -> Value {
        let response = call(&self.server, "POST", path, Some(&body.to_string())).await;
        assert!(response.status < 300, "{response:?}");
        response.json()["data"].clone()
    }

    /// The page of jobs, when none runs any more.
    async fn ended_jobs(&self) -> String {
        let begun = Instant::now();
        loop {
            let page = self.page("/jobs").await;
            if !page.contains("http-equiv=\"refresh\"") {
                return page;
            }
            assert!(begun.elapsed() < TIMEOUT, "{page}");
        }
    }

    async fn prompt(&self, title: &str) -> i64 {
        let body = json!({ "title": title, "prompt": "A harbour" });
        self.create("/prompts", body).await["id"].as_i64().unwrap()
    }
}

/// The value of the first `name="…"` in a page.
fn attribute<'a>(page: &'a str, before: &str) -> &'a str {
    let (_, rest) = page.split_once(before).unwrap_or_else(|| panic!("no {before} in {page}"));
    rest.split('"').next().unwrap()
}

#[tokio::test]
async fn every_page_has_its_heading_title_and_place_in_the_navigation() {
    let browser = Browser::open().await;
    for (path, heading, empty) in PAGES {
        let page = browser.page(path).await;
        assert_eq!(page.matches("<h1>").count(), 1, "{path}");
        let parts = [
            format!("<h1>{heading}</h1>"),
            format!("<title>{heading} – Promptarium</title>"),
            format!("<a href=\"{path}\" aria-current=\"page\">{heading}</a>"),
            "<a class=\"skip\" href=\"#content\">".to_owned(),
            "<main id=\"content\"".to_owned(),
            empty.to_owned(),
        ];
        for part in parts {
            assert!(page.contains(&part), "{path} has no {part}: {page}");
        }
    }
}

#[tokio::test]
async fn every_link_of_the_overview_leads_somewhere() {
    let browser = Browser::open().await;
    let overview = browser.page("/").await;
    for rest in overview.split("href=\"/").skip(1) {
        let path = format!("/{}", rest.split('"').next().unwrap());
        assert_eq!(browser.get(&path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn the_overview_says_where_it_counts_only_the_newest_jobs() {
    let builder = EmbeddedServer::builder().provider(SlowProvider::new(Ok(()), 0));
    let browser = Browser::on(builder.start().await.unwrap()).await;
    for number in 1..=101 {
        browser.create("/generations", json!({ "modelId": "m", "prompt": "p" })).await;
        if [99, 101].contains(&number) {
            let page = browser.page("/").await;
            let (_, count) = page.split_once(">Running jobs</a></dt><dd>").unwrap();
            let expected =
                ["99</dd>", "100<span class=\"soft\"> of the newest 100</span></dd>"][number / 100];
            assert!(count.starts_with(expected), "{page}");
        }
    }
}

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
async fn what_users_write_is_escaped_in_every_page() {
    let browser = Browser::open().await;
    let short: String = HOSTILE.chars().take(50).collect();
    let vault = json!({ "name": short, "description": HOSTILE });
    let vault = browser.create("/vaults", vault).await["id"].clone();
    let prompt = json!({
        "title": HOSTILE, "prompt": HOSTILE, "platform": HOSTILE, "vaultId": vault,
        "promptType": "image", "modelId": format!("local/{HOSTILE}"), "aspectRatio": "\"><i>",
    });
    let prompt = browser.create("/prompts", prompt).await["id"].clone();
    let job = json!({ "modelId": "local/fail", "prompt": HOSTILE, "clientJobId": HOSTILE });
    browser.create("/generations", job).await;
    let name: String = url::form_urlencoded::byte_serialize(HOSTILE.as_bytes()).collect();
    let created = browser.post("/keys", &format!("name={name}")).await.body;
    let id = attribute(&browser.page("/keys").await, "href=\"/keys/").to_owned();

    let mut pages = vec![created];
    for path in [
        "/prompts",
        "/vaults",
        "/jobs",
        "/keys",
        &format!("/prompts/{prompt}"),
        &format!("/vaults/{vault}"),
        &format!("/keys/{id}"),
    ] {
        pages.push(browser.page(path).await);
    }
    for page in pages {
        assert!(page.contains("&lt;script&gt;alert(1)"), "{page}");
        // The one is the page's own.
        assert_eq!(page.matches("<script").count(), 1, "{page}");
        for raw in ["<script>alert", "<img", "<i>", "\"'>"] {
            assert!(!page.contains(raw), "{raw} in {page}");
        }
    }
}

/// Accepts every request, and fails it for a reason that is markup.
struct HostileProvider;

#[async_trait]
impl Provider for HostileProvider {
    async fn submit(&self, _: &GenerationRequest) -> Result<ProviderTicket, SubmitError> {
        Ok(ProviderTicket { request_id: "r".into(), provider_state: "s".into() })
    }

    async fn poll(&self, _: &ProviderTicket, _: &GenerationRequest) -> Result<Progress, PollError> {
        Ok(Progress::Failed(format!("{HOSTILE}{}", "\"".repeat(500))))
    }
}

#[tokio::test]
async fn the_reason_of_a_failed_job_is_escaped() {
    let builder = EmbeddedServer::builder().provider(Arc::new(HostileProvider));
    let browser = Browser::on(builder.start().await.unwrap()).await;
    browser.create("/generations", json!({ "modelId": "m", "prompt": "p" })).await;
    let page = browser.ended_jobs().await;
    assert!(page.contains("Failed: </span>&quot;'&gt;&lt;script&gt;"), "{page}");
    assert_eq!(page.matches("<script").count(), 1, "{page}");
    assert!(!page.contains("<script>alert"), "{page}");
}

#[tokio::test]
async fn following_next_shows_every_prompt_once() {
    let browser = Browser::open().await;
    for number in 0..45 {
        browser.prompt(&format!("title-{number:02}-")).await;
    }
    let (mut path, mut seen) = ("/prompts?vaultId=&type=text".to_owned(), Vec::new());
    loop {
        let page = browser.page(&path).await;
        let titles = page.split("title-").skip(1).map(|rest| rest[..2].parse::<u32>().unwrap());
        seen.extend(titles);
        if !page.contains("Next page") {
            break;
        }
        path = attribute(&page, "rel=\"next\" href=\"").replace("&amp;", "&");
    }
    assert!(seen.iter().copied().eq((0..45).rev()), "{seen:?}");
}

#[tokio::test]
async fn prompts_are_filtered_by_vault_and_type() {
    let browser = Browser::open().await;
    let vault = browser.create("/vaults", json!({ "name": "Sky" })).await["id"].clone();
    browser.prompt("elsewhere").await;
    let inside = json!({ "title": "inside", "prompt": "p", "vaultId": vault });
    browser.create("/prompts", inside).await;
    let page = browser.page(&format!("/prompts?vaultId={vault}&type=text")).await;
    assert!(page.contains(">inside<") && !page.contains(">elsewhere<"), "{page}");
    assert!(page.contains(&format!("<option value=\"{vault}\" selected>Sky")), "{page}");
    let none = browser.page(&format!("/prompts?vaultId={vault}&type=video")).await;
    assert!(none.contains("No prompt matches."), "{none}");
    assert_eq!(browser.get("/prompts?type=x").await.status, 400);
}

#[tokio::test]
async fn a_vault_shows_pinned_prompts_first() {
    let browser = Browser::open().await;
    let vault = browser.create("/vaults", json!({ "name": "Sky" })).await["id"].clone();
    for title in ["first", "second"] {
        let prompt = json!({ "title": title, "prompt": "p", "vaultId": vault });
        browser.create("/prompts", prompt).await;
    }
    let listed = call(&browser.server, "GET", &format!("/vaults/{vault}/prompts"), None).await;
    let membership = listed.json()["data"][1]["vaultPromptId"].clone();
    browser.create(&format!("/vaults/{vault}/prompts/{membership}/pin"), json!({})).await;
    let page = browser.page(&format!("/vaults/{vault}")).await;
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text} in {page}"));
    assert!(at(">first<") < at("Pinned") && at("Pinned") < at(">second<"), "{page}");
}

#[tokio::test]
async fn a_new_key_is_shown_once_and_a_revoked_one_is_refused() {
    let browser = Browser::open().await;
    let created = browser.post("/keys", "name=Laptop&scope=prompts%3Awrite").await;
    assert_eq!((created.status, created.header("cache-control")), (200, Some("no-store")));
    let line = created.body.split("export PROMPTARIUM_API_KEY=").nth(1).unwrap();
    let key = line.split('<').next().unwrap();
    let secret = key.rsplit('_').next().unwrap();
    for (path, ..) in PAGES {
        assert!(!browser.page(path).await.contains(secret), "{path}");
    }

    let status = async || {
        let headers = format!("authorization: Bearer {key}\r\n");
        send(&browser.server, &request("GET", "/api/v1/vaults", &headers, "")).await.status
    };
    assert_eq!(status().await, 200);
    let keys = browser.page("/keys").await;
    let path = format!("/keys/{}", attribute(&keys, "href=\"/keys/"));
    assert!(browser.page(&path).await.contains("Laptop"));
    assert_eq!(status().await, 200, "asking revokes nothing");
    assert_eq!(browser.post(&path, "").await.header("location"), Some("/keys"));
    assert_eq!(status().await, 401);
    assert!(browser.page("/keys").await.contains("Revoked"));
}

#[tokio::test]
async fn a_new_key_without_a_scope_only_reads() {
    let browser = Browser::open().await;
    let created = browser.post("/keys", "name=Reader&scope=").await.body;
    let line = created.split("export PROMPTARIUM_API_KEY=").nth(1).unwrap();
    let headers = format!("authorization: Bearer {}\r\n", line.split('<').next().unwrap());
    for (method, expected) in [("GET", 200), ("POST", 401)] {
        let sent = send(&browser.server, &request(method, "/api/v1/vaults", &headers, "")).await;
        assert_eq!(sent.status, expected, "{method}");
    }
}

#[tokio::test]
async fn fields_of_forms_are_validated_as_those_of_the_api() {
    let browser = Browser::open().await;
    let id = browser.prompt("p").await;
    let pictures = format!("/prompts/{id}/pictures");
    for (path, form, field) in [
        ("/keys", "", "name"),
        ("/keys", "name=+", "name"),
        ("/keys", "name=a%00", "name"),
        ("/keys", "name=n&scope=x", "scope"),
        ("/keys", "name=n&name=m", "name"),
        (&pictures, "", "modelId"),
        (&pictures, "modelId=m&clientJobId=.", "clientJobId"),
    ] {
        let refused = browser.post(path, form).await;
        assert_eq!(refused.status, 400, "{path} {form}: {refused:?}");
        assert!(
            refused.body.contains(&format!("problem\">{field} ")),
            "{path} {form}: {}",
            refused.body
        );
    }
}

#[tokio::test]
async fn sending_the_picture_form_twice_queues_one_job() {
    let provider = SlowProvider::new(Ok(()), 0);
    let builder = EmbeddedServer::builder().provider(provider.clone());
    let browser = Browser::on(builder.start().await.unwrap()).await;
    let path = format!("/prompts/{}", browser.prompt("Harbour").await);
    let job = attribute(&browser.page(&path).await, "name=\"clientJobId\" value=\"").to_owned();
    let form = format!("modelId=m&aspectRatio=16%3A9&clientJobId={job}");
    for _ in 0..2 {
        let sent = browser.post(&format!("{path}/pictures"), &form).await;
        assert_eq!((sent.status, sent.header("location")), (303, Some("/jobs")));
    }
    let page = browser.page("/jobs").await;
    assert_eq!(page.matches("<progress").count(), 1, "{page}");
    assert!(page.contains("http-equiv=\"refresh\" content=\"3\"") && page.contains("16:9"));
    let next = browser.page(&path).await;
    assert_ne!(attribute(&next, "name=\"clientJobId\" value=\""), job);
}

#[tokio::test]
async fn a_finished_picture_is_in_the_jobs_and_in_its_prompt() {
    let browser = Browser::open().await;
    let path = format!("/prompts/{}/pictures", browser.prompt("Harbour").await);
    browser.post(&path, "modelId=local%2Fplasma").await;
    let page = browser.ended_jobs().await;
    let prompt = attribute(&page, "Completed: </span><a href=\"").to_owned();
    let source = attribute(&browser.page(&prompt).await, "src=\"").to_owned();
    assert!(source.starts_with("/assets/"), "{source}");
    let asset = send(&browser.server, &request("GET", &source, "", "")).await;
    assert_eq!(asset.status, 200);
    assert_eq!(asset.header("content-security-policy"), Some("sandbox"));
}

#[tokio::test]
async fn jobs_go_on_with_older_ones() {
    let provider = SlowProvider::new(Ok(()), 0);
    let clock = ManualClock::new("2026-01-02T03:04:05Z".parse().unwrap());
    let builder = EmbeddedServer::builder().provider(provider).clock(Clock::Manual(clock.clone()));
    let browser = Browser::on(builder.start().await.unwrap()).await;
    for number in 0..21 {
        clock.advance(Duration::from_secs(1));
        let job =
            json!({ "modelId": "m", "prompt": "p", "clientJobId": format!("job & {number:02}") });
        browser.create("/generations", job).await;
    }
    let (mut path, mut seen) = ("/jobs".to_owned(), Vec::new());
    loop {
        let page = browser.page(&path).await;
        let names = page.split("<code>job &amp; ").skip(1);
        seen.extend(names.map(|rest| rest[..2].parse::<u32>().unwrap()));
        if !page.contains("Older jobs") {
            break;
        }
        path = attribute(&page, "rel=\"next\" href=\"").replace("&amp;", "&");
    }
    assert!(seen.iter().copied().eq((0..21).rev()), "{seen:?}");
    assert_eq!(browser.get("/jobs?before=unknown").await.status, 404);
}

#[tokio::test]
async fn one_session_and_all_others_can_be_ended() {
    let browser = Browser::open().await;
    let others = [sign_in(&browser.server).await, sign_in(&browser.server).await];
    let page = browser.page("/sessions").await;
    assert_eq!(page.matches("(this browser)").count(), 1, "{page}");
    let action = attribute(&page, "action=\"/sessions/").to_owned();
    let alive = async || {
        let mut alive = 0;
        for cookie in &others {
            let response = send(&browser.server, &request("GET", "/", cookie, "")).await;
            alive += usize::from(response.status == 200);
        }
        alive
    };
    assert_eq!(alive().await, 2);
    browser.post(&format!("/sessions/{action}"), "").await;
    assert_eq!(alive().await, 1);
    browser.post("/sessions/end-others", "").await;
    assert_eq!(alive().await, 0);
    browser.page("/sessions").await;
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
async fn pages_of_large_accounts_stay_small() {
    let browser = Browser::open().await;
    let name = "\"".repeat(50);
    let vault = browser.create("/vaults", json!({ "name": name })).await["id"].clone();
    for _ in 0..60 {
        browser.create("/vaults", json!({ "name": name })).await;
    }
    let mut last = json!(0);
    for _ in 0..60 {
        let prompt = json!({
            "title": "\"".repeat(120), "prompt": "\"".repeat(15_000), "vaultId": vault,
            "platform": "\"".repeat(100),
        });
        last = browser.create("/prompts", prompt).await["id"].clone();
    }
    for path in
        ["/", "/prompts", "/vaults", &format!("/vaults/{vault}"), &format!("/prompts/{last}")]
    {
        browser.page(path).await;
    }
    assert!(browser.page("/prompts").await.contains("Next page"));
    assert!(!browser.page("/prompts").await.contains("Shown are"));
    assert!(browser.page(&format!("/vaults/{vault}")).await.contains("Shown are"));
}

#[tokio::test]
async fn a_page_of_jobs_leaves_none_out_for_its_size() {
    let builder = EmbeddedServer::builder().provider(Arc::new(HostileProvider));
    let browser = Browser::on(builder.start().await.unwrap()).await;
    for number in 0..11 {
        let name = format!("{number:02}{}", "\"".repeat(200));
        let long = "\"".repeat(60);
        let job = json!({ "modelId": long.repeat(4), "prompt": long.repeat(9), "clientJobId": name,
            "aspectRatio": long });
        browser.create("/generations", job).await;
    }
    let page = browser.ended_jobs().await;
    assert_eq!(page.matches("Failed: ").count(), 10, "{page}");
}

#[tokio::test]
async fn https_is_remembered_where_clients_reach_the_service_by_it() {
    for (public, expected) in
        [("https://prompts.example/behind", Some("max-age=31536000")), ("http://h", None)]
    {
        let server = EmbeddedServer::builder().public_url(public).start().await.unwrap();
        let page = send(&server, &request("GET", "/sign-in", "", "")).await;
        assert_eq!(page.header("strict-transport-security"), expected, "{public}");
    }
}

#[tokio::test]
async fn behind_a_path_all_links_have_it() {
    let builder = EmbeddedServer::builder().public_url("http://prompts.example/behind");
    let server = builder.start().await.unwrap();
    let signed_in = send(&server, &sign_in_request(&code(&server).await, "")).await;
    let cookie = format!("cookie: {}\r\n", cookie_of(&signed_in));
    let browser = Browser { server, cookie };
    for (path, ..) in PAGES {
        let page = browser.page(path).await;
        for link in ["href=\"/", "action=\"/"] {
            let strays = page.split(link).skip(1).filter(|rest| !rest.starts_with("behind/"));
            assert_eq!(strays.count(), 0, "{path}: {page}");
        }
    }
}
