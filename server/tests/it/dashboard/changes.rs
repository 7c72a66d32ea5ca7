//! What the forms of the dashboard do.

use super::{Browser, PAGES, attribute};
use crate::support::browser::{request, send, sign_in};

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
    let revoked = browser.post(&path, "").await;
    assert_eq!(revoked.header("location"), Some("/keys?done=key-revoked"));
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
async fn sending_the_form_of_a_key_twice_makes_one_key() {
    let browser = Browser::open().await;
    let token = attribute(&browser.page("/keys").await, "name=\"token\" value=\"").to_owned();
    let form = format!("token={token}&name=Laptop");
    assert!(browser.post("/keys", &form).await.body.contains("export PROMPTARIUM_API_KEY="));
    let again = browser.post("/keys", &form).await;
    assert_eq!(again.header("location"), Some("/keys?done=key-created"));
    let keys = browser.page("/keys?done=key-created").await;
    assert_eq!(keys.matches("<bdi>Laptop</bdi>").count(), 2, "one with its link: {keys}");
    assert!(keys.contains("The key was created before."), "{keys}");
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
        for part in [format!("id=\"{field}-error\""), format!("href=\"#{field}\"")] {
            assert!(refused.body.contains(&part), "{path} {form}: no {part}: {}", refused.body);
        }
    }
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
