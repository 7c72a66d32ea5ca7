//! Vaults in the dashboard, and the pages of vaults that anybody can read.

use serde_json::{Value, json};

use super::texts::HOSTILE;
use super::two_accounts;
use crate::support::browser::{Browser, assert_has, encoded};

/// The titles of a vault in order.
async fn titles(browser: &Browser, vault: i64) -> Vec<String> {
    let contents = browser.data(&format!("/vaults/{vault}/prompts")).await;
    let contents = contents.as_array().unwrap().iter();
    contents.map(|prompt| prompt["title"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_vault_is_created_changed_and_deleted() {
    let browser = Browser::open().await;
    assert!(browser.page("/vaults").await.contains("href=\"/vaults/new\""));
    let meanings =
        ["Only you can see it.", "Everybody who has its address", "search engines may list"];
    assert_has(&browser.page("/vaults/new").await, &meanings);
    let hostile = &HOSTILE[..28];
    let fields = [("name", hostile), ("description", "<b>Stars</b>"), ("visibility", "private")];
    let page = browser.submit("/vaults/new", &fields).await;
    assert!(page.contains("The vault is created.") && !page.contains("<script>alert"), "{page}");
    let vaults = browser.data("/vaults").await;
    assert_eq!(vaults[0]["name"], hostile);
    let at = |action: &str| format!("/vaults/{}{action}", vaults[0]["id"]);

    let page = browser.page(&at("/edit")).await;
    assert_has(&page, &["&lt;b&gt;Stars&lt;/b&gt;", "value=\"private\" checked"]);
    let fields = [("name", "Night sky"), ("description", ""), ("visibility", "public")];
    let page = browser.submit(&at("/edit"), &fields).await;
    assert_has(&page, &["Night sky", "/v/default/night-sky"]);
    let changed = browser.data(&at("")).await;
    assert_eq!((&changed["visibility"], &changed["description"]), (&json!("public"), &Value::Null));

    assert!(browser.page(&at("/delete")).await.contains("Its prompts stay."));
    assert!(browser.submit(&at("/delete"), &[]).await.contains("The vault is deleted."));
    assert_eq!(browser.get(&at("")).await.status, 404);
}

#[tokio::test]
async fn chosen_prompts_are_pinned_moved_and_removed() {
    let browser = Browser::open().await;
    let (sky, sea) = (browser.vault("Sky", "private").await, browser.vault("Sea", "private").await);
    for title in ["one", "two", "three"] {
        browser.prompt(title, Some(sky)).await;
    }
    let path = format!("/vaults/{sky}/prompts");
    let memberships = browser.data(&path).await;
    let id = |at: usize| memberships[at]["vaultPromptId"].to_string();
    let ([three, two, one], target) = ([id(0), id(1), id(2)], sea.to_string());

    let both = [("vaultPromptId", &*two), ("vaultPromptId", &*one), ("action", "pin")];
    let page = browser.submit(&path, &both).await;
    assert!(page.contains("The chosen prompts are pinned."), "{page}");
    assert_eq!(titles(&browser, sky).await, ["two", "one", "three"]);
    let page = browser.page(&format!("/vaults/{sky}")).await;
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text} in {page}"));
    assert!(at(">two<") < at("Pinned") && at("Pinned") < at(">three<"), "{page}");
    browser.submit(&path, &[("vaultPromptId", &two), ("action", "unpin")]).await;
    assert_eq!(titles(&browser, sky).await, ["one", "three", "two"]);
    let fields = [("vaultPromptId", &*three), ("action", "move"), ("targetVaultId", &*target)];
    browser.submit(&path, &fields).await;
    assert_eq!(titles(&browser, sea).await, ["three"]);
    browser.submit(&path, &[("vaultPromptId", &two), ("action", "remove")]).await;
    assert_eq!(titles(&browser, sky).await, ["one"]);
    let page = browser.submit(&path, &[("vaultPromptId", &one), ("action", "cover")]).await;
    assert!(page.contains("has no picture, so the cover stays"), "{page}");
    assert!(browser.submit(&path, &[("action", "remove")]).await.contains("nothing has changed"));
    for (id, action) in [(&*one, "other"), ("x", "pin"), ("999", "pin")] {
        let fields = encoded(&[("vaultPromptId", id), ("action", action)]);
        assert_eq!(browser.post(&path, &fields).await.status, 404, "{fields}");
    }
    assert_eq!(titles(&browser, sky).await, ["one"]);
}

#[tokio::test]
async fn anybody_sees_a_shared_vault_and_nothing_else() {
    let (alice, bob) = two_accounts().await;
    let secret = alice.vault("Secret plans", "private").await;
    let shared = alice.vault("Night Sky", "public").await;
    let body = json!({
        "title": HOSTILE, "prompt": "Stars over\na harbour", "platform": "Private platform",
        "promptType": "image", "modelId": "local/private-model", "vaultId": shared,
    });
    let prompt = alice.create("/prompts", body).await["id"].to_string();
    alice.prompt("Hidden", Some(secret)).await;
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
    alice.prompt("Stars", Some(shared)).await;
    assert!(bob.page("/v/alice/night-sky").await.contains("Copy to my account"));
    let token = bob.token("/v/alice/night-sky").await;
    let path = format!("/vaults/{shared}/fork");
    for _ in 0..2 {
        let page = bob.submit(&path, &[("token", &token)]).await;
        assert_has(&page, &["This is your copy", "Stars"]);
    }
    assert_eq!(bob.data("/vaults").await.as_array().unwrap().len(), 2);
    let fields = [("name", "Night Sky"), ("visibility", "private")];
    alice.submit(&format!("/vaults/{shared}/edit"), &fields).await;
    assert_eq!(bob.post(&path, "").await.status, 404);
}
