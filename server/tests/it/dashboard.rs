//! The dashboard over a socket: what each page shows.

mod account;
mod changes;
mod direction;
mod generations;
mod lists;
mod prompts;
mod refusals;
mod uploads;
mod vaults;

use std::sync::Arc;

use async_trait::async_trait;
use promptarium_server::EmbeddedServer;
use promptarium_server::provider::{
    GenerationRequest, PollError, Progress, Provider, ProviderTicket, SubmitError,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::TIMEOUT;
use crate::support::browser::{
    FORM, OWN, code, cookie_of, request, send, sign_in, sign_in_request,
};
use crate::support::client::{Response, call};

/// Pages of an empty account: address, heading, and what an empty list says.
const PAGES: [(&str, &str, &str); 6] = [
    ("/", "Overview", "You have no prompts."),
    ("/prompts", "Prompts", "There is no prompt."),
    ("/vaults", "Vaults", "0 prompts"),
    ("/jobs", "Jobs", "There is no job."),
    ("/keys", "Keys", "never used"),
    ("/sessions", "Sessions", "(this browser)"),
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
        assert!(response.body.len() <= 60_000, "{path} has {} bytes", response.body.len());
        response.body
    }

    async fn post(&self, path: &str, form: &str) -> Response {
        let headers = format!("{FORM}{OWN}{}", self.cookie);
        send(&self.server, &request("POST", path, &headers, form)).await
    }

    /// Sends a form with its token, as its page has it, and these other fields.
    async fn send_form(&self, page: &str, fields: &str) -> Response {
        let token = attribute(&self.page(page).await, "name=\"token\" value=\"").to_owned();
        self.post(page.split('?').next().unwrap(), &format!("token={token}&{fields}")).await
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
            if !page.contains("data-poll=") {
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
        &format!("/prompts/{prompt}/edit"),
        &format!("/prompts/{prompt}/delete"),
        &format!("/prompts/new?from={prompt}"),
        &format!("/generate?prompt={prompt}"),
        &format!("/prompts?view=list&vaultId={vault}"),
        &format!("/vaults/{vault}"),
        &format!("/keys/{id}"),
    ] {
        pages.push(browser.page(path).await);
    }
    for page in pages {
        assert!(page.contains("&lt;script&gt;alert(1)"), "{page}");
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
        Err(PollError::Permanent(format!("{HOSTILE}{}", "\"".repeat(500))))
    }
}

#[tokio::test]
async fn the_reason_of_a_failed_job_is_escaped() {
    let builder = EmbeddedServer::builder().provider(Arc::new(HostileProvider));
    let browser = Browser::on(builder.start().await.unwrap()).await;
    browser.create("/generations", json!({ "modelId": "m", "prompt": "p" })).await;
    let page = browser.ended_jobs().await;
    assert!(page.contains("Failed: </span><bdi>&quot;'&gt;&lt;script&gt;"), "{page}");
    assert!(!page.contains("<script>alert"), "{page}");
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
    assert!(
        page.contains(&format!("<option value=\"{vault}\" dir=\"auto\" selected>Sky")),
        "{page}"
    );
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
