//! What the forms of the dashboard do, and what they say of wrong fields.

use super::PAGES;
use crate::support::browser::{Browser, assert_has, attribute, request, send, sign_in};
use crate::support::client::Connection;

/// The key that a page shows after its creation.
fn key_in(page: &str) -> String {
    let line = page.split("export PROMPTARIUM_API_KEY=").nth(1).unwrap();
    line.split('<').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_new_key_is_shown_once_and_a_revoked_one_is_refused() {
    let browser = Browser::open().await;
    let created = browser.post("/keys", "name=Laptop&scope=prompts%3Awrite").await;
    assert_eq!((created.status, created.header("cache-control")), (200, Some("no-store")));
    let key = key_in(&created.body);
    let secret = key.rsplit('_').next().unwrap();
    for (path, ..) in PAGES {
        assert!(!browser.page(path).await.contains(secret), "{path}");
    }

    let mut connection = Connection::to(&browser.server).await;
    let mut status = async || connection.api(&key, "GET", "/vaults", None).await.status;
    assert_eq!(status().await, 200);
    let keys = browser.page("/keys").await;
    let path = format!("/keys/{}", attribute(&keys, "href=\"/keys/"));
    assert!(browser.page(&path).await.contains("Laptop"));
    assert_eq!(status().await, 200, "asking revokes nothing");
    assert_eq!(browser.post(&path, "").await.location(), "/keys?done=key-revoked");
    assert_eq!(status().await, 401);
    assert!(browser.page("/keys").await.contains("Revoked"));
}

#[tokio::test]
async fn a_new_key_without_a_scope_only_reads() {
    let browser = Browser::open().await;
    let key = key_in(&browser.post("/keys", "name=Reader&scope=").await.body);
    let mut connection = Connection::to(&browser.server).await;
    for (method, expected) in [("GET", 200), ("POST", 401)] {
        let sent = connection.api(&key, method, "/vaults", None).await;
        assert_eq!(sent.status, expected, "{method}");
    }
}

#[tokio::test]
async fn sending_a_form_twice_makes_one() {
    let browser = Browser::open().await;
    let form = format!("token={}&name=Laptop", browser.token("/keys").await);
    assert!(browser.post("/keys", &form).await.body.contains("export PROMPTARIUM_API_KEY="));
    let again = browser.post("/keys", &form).await;
    assert_eq!(again.location(), "/keys?done=key-created");
    let keys = browser.page("/keys?done=key-created").await;
    assert_eq!(keys.matches("<bdi>Laptop</bdi>").count(), 2, "one with its link: {keys}");
    assert!(keys.contains("The key was created before."), "{keys}");

    for (page, wrong, right, list, count) in [
        ("/prompts/new", "title=Once", "title=Once&prompt=p", "/prompts", 1),
        ("/vaults/new", "name=", "name=Sky&visibility=private", "/vaults", 2),
    ] {
        let token = browser.token(page).await;
        let refused = browser.post(page, &format!("token={token}&{wrong}")).await;
        assert_eq!(refused.status, 400, "{page}");
        assert!(refused.body.contains(&token), "the corrected form has another token");
        let form = format!("token={token}&{right}");
        let both = [browser.post(page, &form).await, browser.post(page, &form).await];
        assert!(both[0].status == 303 && both[0].location() == both[1].location(), "{both:?}");
        assert_eq!(browser.data(list).await.as_array().unwrap().len(), count, "{page}");
    }
}

#[tokio::test]
async fn fields_of_forms_are_validated_as_those_of_the_api_and_errors_are_beside_them() {
    let browser = Browser::open().await;
    let long = "title=t&prompt=".to_owned() + &"x".repeat(15_001);
    for (path, form, field) in [
        ("/keys", "", "name"),
        ("/keys", "name=+", "name"),
        ("/keys", "name=a%00", "name"),
        ("/keys", "name=n&scope=x", "scope"),
        ("/keys", "name=n&name=m", "name"),
        ("/generate", "prompt=p", "modelId"),
        ("/generate", "modelId=m", "prompt"),
        ("/generate", "modelId=m&prompt=p&batchCount=5", "batchCount"),
        ("/generate", "modelId=m&prompt=p&seed=-1", "seed"),
        ("/generate", "modelId=m&prompt=p&vaultId=999", "vaultId"),
        ("/prompts/new", "prompt=p", "title"),
        ("/prompts/new", &long, "prompt"),
        ("/prompts/new", "title=t&prompt=p&promptType=image", "modelId"),
        ("/prompts/new", "title=t&prompt=p&vaultId=999", "vaultId"),
    ] {
        let refused = browser.post(path, form).await;
        assert_eq!(refused.status, 400, "{path} {form}: {}", refused.body);
        let parts = [format!("id=\"{field}-error\""), format!("href=\"#{field}\"")];
        assert_has(&refused.body, &[&parts[0], &parts[1]]);
    }
}

#[tokio::test]
async fn a_refused_form_keeps_everything_typed_and_says_what_is_wrong() {
    let browser = Browser::open().await;
    let long = "x".repeat(51);
    for (path, fields, parts) in [
        (
            "/prompts/new",
            &[
                ("title", ""),
                ("prompt", "<b> first\r\nsecond"),
                ("promptType", "video"),
                ("platform", "P\""),
                ("modelId", "other/m"),
            ][..],
            &[
                ">\n&lt;b&gt; first\r\nsecond</textarea>",
                "<option value=\"video\" dir=\"auto\" selected>",
                "value=\"P&quot;\"",
                "value=\"other/m\"",
                "Title is required",
                "Model must be a model id that begins with local/",
            ][..],
        ),
        (
            "/vaults/new",
            &[("name", &*long), ("description", "Kept text"), ("visibility", "public")],
            &["must be 1 to 50 characters", &*long, "Kept text", "value=\"public\" checked"],
        ),
        (
            "/vaults/1/edit",
            &[("name", "Other"), ("visibility", "private")],
            &["system vault", "Other"],
        ),
    ] {
        assert_has(&browser.refused(path, fields).await, parts);
    }
    browser.submit("/vaults/1/edit", &[("name", "General"), ("visibility", "unlisted")]).await;
    assert_eq!(browser.data("/vaults/1").await["visibility"], "unlisted");
    assert_eq!(browser.post("/vaults/1/delete", "").await.status, 400);
}

#[tokio::test]
async fn what_was_done_is_said_by_a_fixed_text_only() {
    let browser = Browser::open().await;
    let page = browser.page("/prompts?done=prompt-deleted").await;
    assert!(page.contains("role=\"status\">The prompt is deleted."), "{page}");
    for text in ["Your+key+is+lost", "%3Cb%3E", "prompt-deleted%20", ""] {
        let page = browser.page(&format!("/prompts?done={text}")).await;
        assert!(!page.contains("role=\"status\""), "{text}: {page}");
    }
}

#[tokio::test]
async fn one_session_and_all_others_can_be_ended() {
    let browser = Browser::open().await;
    let others = [sign_in(&browser.server).await, sign_in(&browser.server).await];
    let page = browser.page("/sessions").await;
    assert_eq!(page.matches("(this browser)").count(), 1, "{page}");
    let end_one = format!("/sessions/{}", attribute(&page, "action=\"/sessions/"));
    for (path, expected) in [("", 2), (&*end_one, 1), ("/sessions/end-others", 0)] {
        if !path.is_empty() {
            browser.post(path, "").await;
        }
        let mut alive = 0;
        for cookie in &others {
            let response = send(&browser.server, request("GET", "/", cookie, "")).await;
            alive += usize::from(response.status == 200);
        }
        assert_eq!(alive, expected, "after {path}");
    }
    browser.page("/sessions").await;
}
