//! What the forms of the dashboard do.

use promptarium_server::EmbeddedServer;

use super::{Browser, PAGES, attribute};
use crate::generations::SlowProvider;
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
