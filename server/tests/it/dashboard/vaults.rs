//! Vaults in the dashboard, and the pages of vaults that anybody can read.

use std::sync::Arc;

use promptarium_server::store::Store;
use promptarium_server::test_support::MemoryStore;
use promptarium_server::{Clock, EmbeddedServer};
use serde_json::{Value, json};
use url::form_urlencoded;

use super::{Browser, HOSTILE};
use crate::support::browser::{FORM, OWN, request, send};
use crate::support::client::{Response, call};

/// What a browser says of a request that a page of another site has caused.
pub(super) const FOREIGN: [&str; 5] = [
    "",
    "sec-fetch-site: cross-site\r\n",
    "sec-fetch-site: same-site\r\n",
    "origin: null\r\n",
    "origin: https://evil.example\r\n",
];

pub(super) fn encoded(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// Browsers of two accounts, alice and bob, on one store.
pub(super) async fn two_accounts() -> (Browser, Browser) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(Clock::System));
    let of = async |seed: &str| {
        let builder = EmbeddedServer::builder().seed_key(seed).store(store.clone());
        Browser::on(builder.start().await.unwrap()).await
    };
    (of("promptarium_live_a1_s3cret=alice").await, of("promptarium_live_b1_s3cret=bob").await)
}

impl Browser {
    /// Sends a form and follows the redirect; gives the page.
    pub(super) async fn submit(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let response = self.post(path, &encoded(fields)).await;
        assert_eq!(response.status, 303, "{path}: {response:?}");
        self.page(response.header("location").unwrap()).await
    }

    /// The data of a resource, as the API has it.
    pub(super) async fn data(&self, path: &str) -> Value {
        let response = call(&self.server, "GET", path, None).await;
        assert_eq!(response.status, 200, "{path}: {response:?}");
        response.json()["data"].clone()
    }

    /// Sends a form that must be refused, and gives the page.
    pub(super) async fn refused(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let response = self.post(path, &encoded(fields)).await;
        assert_eq!(response.status, 400, "{path}: {response:?}");
        response.body
    }

    /// A page as somebody sees it who is not signed in.
    pub(super) async fn visit(&self, path: &str) -> Response {
        send(&self.server, &request("GET", path, "", "")).await
    }

    async fn vault(&self, name: &str, visibility: &str) -> String {
        let body = json!({ "name": name, "visibility": visibility });
        self.create("/vaults", body).await["id"].to_string()
    }

    /// The titles of a vault in order.
    async fn titles(&self, vault: &str) -> Vec<String> {
        let contents = self.data(&format!("/vaults/{vault}/prompts")).await;
        let contents = contents.as_array().unwrap().iter();
        contents.map(|prompt| prompt["title"].as_str().unwrap().to_owned()).collect()
    }
}

#[tokio::test]
async fn a_vault_is_created_changed_and_deleted() {
    let browser = Browser::open().await;
    assert!(browser.page("/vaults").await.contains("href=\"/vaults/new\""));
    let form = browser.page("/vaults/new").await;
    for part in ["Only you can see it.", "Everybody who has its address", "search engines may list"]
    {
        assert!(form.contains(part), "{form}");
    }
    let hostile = &HOSTILE[..28];
    let fields = [("name", hostile), ("description", "<b>Stars</b>"), ("visibility", "private")];
    let page = browser.submit("/vaults/new", &fields[..]).await;
    assert!(page.contains("The vault is created.") && !page.contains("<script>alert"), "{page}");
    let vaults = browser.data("/vaults").await;
    assert_eq!(vaults[0]["name"], hostile);
    let at = |action: &str| format!("/vaults/{}{action}", vaults[0]["id"]);

    let page = browser.page(&at("/edit")).await;
    assert!(
        page.contains("&lt;b&gt;Stars&lt;/b&gt;") && page.contains("value=\"private\" checked")
    );
    let fields = [("name", "Night sky"), ("description", ""), ("visibility", "public")];
    let page = browser.submit(&at("/edit"), &fields).await;
    assert!(page.contains("Night sky") && page.contains("/v/default/night-sky"), "{page}");
    let changed = browser.data(&at("")).await;
    assert_eq!((&changed["visibility"], &changed["description"]), (&json!("public"), &Value::Null));

    assert!(browser.page(&at("/delete")).await.contains("Its prompts stay."));
    assert!(browser.submit(&at("/delete"), &[]).await.contains("The vault is deleted."));
    assert_eq!(browser.get(&at("")).await.status, 404);
}

#[tokio::test]
async fn a_refused_form_keeps_what_was_typed_and_says_what_is_wrong() {
    let browser = Browser::open().await;
    let long = "x".repeat(51);
    let fields = [("name", &*long), ("description", "Kept text"), ("visibility", "public")];
    let page = browser.refused("/vaults/new", &fields).await;
    for part in ["must be 1 to 50 characters", &*long, "Kept text", "value=\"public\" checked"] {
        assert!(page.contains(part), "no {part} in {page}");
    }
    let fields = [("name", "Other"), ("visibility", "private")];
    let page = browser.refused("/vaults/1/edit", &fields).await;
    assert!(page.contains("system vault") && page.contains("Other"), "{page}");
    browser.submit("/vaults/1/edit", &[("name", "General"), ("visibility", "unlisted")]).await;
    assert_eq!(browser.data("/vaults/1").await["visibility"], "unlisted");
    assert_eq!(browser.post("/vaults/1/delete", "").await.status, 400);
}

#[tokio::test]
async fn sending_a_form_again_creates_one_vault() {
    let browser = Browser::open().await;
    let form = browser.page("/vaults/new").await;
    let token = super::attribute(&form, "name=\"token\" value=\"");
    let fields = encoded(&[("token", token), ("name", "Sky"), ("visibility", "private")]);
    let first = browser.post("/vaults/new", &fields).await;
    let again = browser.post("/vaults/new", &fields).await;
    assert_eq!(first.header("location"), again.header("location"));
    assert_eq!(browser.data("/vaults").await.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn chosen_prompts_are_pinned_moved_and_removed() {
    let browser = Browser::open().await;
    let (sky, sea) = (browser.vault("Sky", "private").await, browser.vault("Sea", "private").await);
    for title in ["one", "two", "three"] {
        let body = json!({ "title": title, "prompt": "p", "vaultId": sky.parse::<i64>().unwrap() });
        browser.create("/prompts", body).await;
    }
    let path = format!("/vaults/{sky}/prompts");
    let memberships = browser.data(&path).await;
    let id = |at: usize| memberships[at]["vaultPromptId"].to_string();
    let [three, two, one] = [id(0), id(1), id(2)];

    let both = [("vaultPromptId", &*two), ("vaultPromptId", &*one), ("action", "pin")];
    let page = browser.submit(&path, &both).await;
    assert!(page.contains("The chosen prompts are pinned."), "{page}");
    assert_eq!(browser.titles(&sky).await, ["two", "one", "three"]);
    browser.submit(&path, &[("vaultPromptId", &two), ("action", "unpin")]).await;
    assert_eq!(browser.titles(&sky).await, ["one", "three", "two"]);
    let fields = [("vaultPromptId", &*three), ("action", "move"), ("targetVaultId", &*sea)];
    browser.submit(&path, &fields).await;
    assert_eq!(browser.titles(&sea).await, ["three"]);
    browser.submit(&path, &[("vaultPromptId", &two), ("action", "remove")]).await;
    assert_eq!(browser.titles(&sky).await, ["one"]);
    let page = browser.submit(&path, &[("vaultPromptId", &one), ("action", "cover")]).await;
    assert!(page.contains("has no picture, so the cover stays"), "{page}");
    assert!(browser.submit(&path, &[("action", "remove")]).await.contains("nothing has changed"));
    for fields in [
        [("vaultPromptId", &*one), ("action", "other")],
        [("vaultPromptId", "x"), ("action", "pin")],
        [("vaultPromptId", "999"), ("action", "pin")],
    ] {
        assert_eq!(browser.post(&path, &encoded(&fields)).await.status, 404, "{fields:?}");
    }
    assert_eq!(browser.titles(&sky).await, ["one"]);
}

#[tokio::test]
async fn a_large_vault_has_pages() {
    let browser = Browser::open().await;
    for number in 1..=30 {
        let title = format!("Prompt number {number}.");
        browser.create("/prompts", json!({ "title": title, "prompt": "p", "vaultId": 1 })).await;
        browser.vault(&format!("Vault number {number}."), "private").await;
    }
    for (list, newest, oldest) in [("/vaults/1", "Prompt", "Prompt"), ("/vaults", "Vault", "Vault")]
    {
        let (first, second) =
            (browser.page(list).await, browser.page(&format!("{list}?page=1")).await);
        assert!(first.contains(&format!("{newest} number 30.")), "{first}");
        assert!(!first.contains(&format!("{oldest} number 1.")) && first.contains("rel=\"next\""));
        assert!(second.contains(&format!("{oldest} number 1.")), "{second}");
        assert!(second.contains("rel=\"prev\"") && !second.contains("rel=\"next\""));
    }
    for page in ["-1", "x", "1000", "18446744073709551616"] {
        assert_eq!(browser.get(&format!("/vaults/1?page={page}")).await.status, 404, "{page}");
    }
}

#[tokio::test]
async fn anybody_sees_a_shared_vault_and_nothing_else() {
    let (alice, bob) = two_accounts().await;
    let secret = alice.vault("Secret plans", "private").await;
    let shared = alice.vault("Night Sky", "public").await;
    let body = json!({
        "title": HOSTILE, "prompt": "Stars over\na harbour", "platform": "Private platform",
        "promptType": "image", "modelId": "local/private-model",
        "vaultId": shared.parse::<i64>().unwrap(),
    });
    let prompt = alice.create("/prompts", body).await["id"].to_string();
    let hidden =
        json!({ "title": "Hidden", "prompt": "h", "vaultId": secret.parse::<i64>().unwrap() });
    alice.create("/prompts", hidden).await;
    let list = "/v/alice/night-sky".to_owned();
    let one = format!("{list}?prompt={prompt}");
    for path in [&list, &one] {
        for viewer in [&alice.visit(path).await, &bob.get(path).await] {
            assert_eq!(viewer.status, 200, "{viewer:?}");
            assert!(viewer.body.contains("a harbour") && !viewer.body.contains("<script>alert"));
            for private in
                ["Private platform", "private-model", "Hidden", "Secret", "s3cret", "_a1_"]
            {
                assert!(!viewer.body.contains(private), "{private} in {}", viewer.body);
            }
            assert_eq!(viewer.header("x-robots-tag"), None);
            let policy = viewer.header("content-security-policy").unwrap();
            assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        }
    }
    assert!(alice.visit(&list).await.body.contains("/sign-in?next=v%2Falice%2Fnight-sky"));
    assert!(alice.get(&list).await.body.contains("Edit this vault"));

    let set = async |visibility: &str| {
        let fields = [("name", "Night Sky"), ("visibility", visibility)];
        alice.submit(&format!("/vaults/{shared}/edit"), &fields).await;
    };
    set("unlisted").await;
    assert_eq!(alice.visit(&list).await.header("x-robots-tag"), Some("noindex"));
    set("private").await;
    for path in [
        &*list,
        &one,
        "/v/alice/secret-plans",
        "/v/alice/general",
        "/v/alice/none",
        "/v/none/general",
        "/v/alice/%00",
        "/v/%ff/general",
        "/v/alice/night-sky?page=x",
    ] {
        for response in [alice.visit(path).await, alice.get(path).await, bob.get(path).await] {
            assert_eq!(response.status, 404, "{path}: {response:?}");
            assert!(!response.body.contains("Night Sky") && !response.body.contains("harbour"));
        }
    }
    let foreign = format!("/v/alice/general?prompt={prompt}");
    assert_eq!(bob.visit(&foreign).await.status, 404);
}

#[tokio::test]
async fn a_visitor_who_is_signed_in_copies_a_shared_vault_once() {
    let (alice, bob) = two_accounts().await;
    let shared = alice.vault("Night Sky", "unlisted").await;
    let body =
        json!({ "title": "Stars", "prompt": "p", "vaultId": shared.parse::<i64>().unwrap() });
    alice.create("/prompts", body).await;
    let page = bob.get("/v/alice/night-sky").await.body;
    assert!(page.contains("Copy to my account"), "{page}");
    let token = super::attribute(&page, "name=\"token\" value=\"");
    let path = format!("/vaults/{shared}/fork");
    for _ in 0..2 {
        let page = bob.submit(&path, &[("token", token)]).await;
        assert!(page.contains("This is your copy") && page.contains("Stars"), "{page}");
    }
    assert_eq!(bob.data("/vaults").await.as_array().unwrap().len(), 2);
    alice
        .submit(
            &format!("/vaults/{shared}/edit"),
            &[("name", "Night Sky"), ("visibility", "private")],
        )
        .await;
    assert_eq!(bob.post(&path, "").await.status, 404);
}

#[tokio::test]
async fn no_form_is_carried_out_for_another_site_or_account() {
    let (alice, bob) = two_accounts().await;
    let vault = alice.vault("Sky", "private").await;
    let body = json!({ "title": "Stars", "prompt": "p", "vaultId": vault.parse::<i64>().unwrap() });
    alice.create("/prompts", body).await;
    let membership =
        alice.data(&format!("/vaults/{vault}/prompts")).await[0]["vaultPromptId"].to_string();
    let at = |action: &str| format!("/vaults/{vault}/{action}");
    let chosen = encoded(&[("vaultPromptId", &membership), ("action", "remove")]);
    let forms = [
        ("/vaults/new".to_owned(), "name=Evil".to_owned()),
        (at("edit"), "name=Evil&visibility=public".to_owned()),
        (at("delete"), String::new()),
        (at("prompts"), chosen),
        (at("fork"), String::new()),
    ];
    let before = alice.data("/vaults").await;
    for (path, body) in &forms {
        for source in FOREIGN {
            let headers = format!("{FORM}{source}{}", alice.cookie);
            let response = send(&alice.server, &request("POST", path, &headers, body)).await;
            assert_eq!(response.status, 403, "{path} {source}: {response:?}");
        }
        let anonymous =
            send(&alice.server, &request("POST", path, &format!("{FORM}{OWN}"), body)).await;
        assert_eq!(anonymous.header("location"), Some("/sign-in"), "{path}: {anonymous:?}");
        if path != "/vaults/new" {
            assert_eq!(bob.post(path, body).await.status, 404, "{path}");
        }
    }
    for page in ["", "/edit", "/delete"] {
        assert_eq!(bob.get(&format!("/vaults/{vault}{page}")).await.status, 404, "{page}");
    }
    assert_eq!(alice.data("/vaults").await, before);
    assert_eq!(alice.titles(&vault).await, ["Stars"]);
    assert_eq!(bob.data("/vaults").await.as_array().unwrap().len(), 1);
}
