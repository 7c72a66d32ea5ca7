//! The pages of vaults that anybody can read.

use serde_json::json;

use super::texts::HOSTILE;
use crate::support::browser::{assert_has, two_accounts};

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
            for private in ["Private", "private-model", "Hidden", "Secret", "s3cret", "_a1_"] {
                assert!(!viewer.body.contains(private), "{private} in {}", viewer.body);
            }
            assert_eq!(viewer.header("x-robots-tag"), None);
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
        "/v/alice/none",
        "/v/none/general",
        "/v/%ff/%00",
        "/v/alice/night-sky?page=x",
        &format!("/v/alice/general?prompt={prompt}"),
    ] {
        for response in [alice.visit(path).await, alice.get(path).await, bob.get(path).await] {
            assert_eq!(response.status, 404, "{path}: {response:?}");
            assert!(!response.body.contains("Night Sky") && !response.body.contains("harbour"));
        }
    }
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
        assert_has(&page, &["Copied to your account", "Stars"]);
    }
    assert_eq!(bob.data("/vaults").await.as_array().unwrap().len(), 2);
    let fields = [("name", "Night Sky"), ("visibility", "private")];
    alice.submit(&format!("/vaults/{shared}/edit"), &fields).await;
    assert_eq!(bob.post(&path, "").await.status, 404);
}
