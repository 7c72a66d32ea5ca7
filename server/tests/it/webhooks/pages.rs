//! The pages and the commands.

use serde_json::json;

use super::{SHORT, backends};
use crate::support::browser::{Browser, assert_has, attribute, encoded};
use crate::support::program::{Running, run};
use crate::support::receiver::{Answer, Receiver};

#[tokio::test]
async fn a_webhook_is_created_tested_disabled_and_deleted_in_the_dashboard() {
    for backend in backends().await {
        let receiver = Receiver::start(|_| Answer::Status(202));
        let browser = Browser::on(backend.start(SHORT).await).await;
        assert_has(&browser.page("/webhooks").await, &["New webhook"]);
        let refused = browser.refused("/webhooks", &[("url", "ftp://a.example/")]).await;
        assert_has(&refused, &["must be a URL of https"]);
        let url = receiver.url("/hook");
        let page = browser.post("/webhooks", &encoded(&[("url", &url), ("events", "")])).await;
        assert_has(&page.body, &["Copy it now.", "whsec_"]);
        let list = browser.page("/webhooks").await;
        let at = attribute(&list, "<strong><a href=\"").to_owned();
        assert!(!list.contains("whsec_") && at.starts_with("/webhooks/"), "{at}");
        let tested = browser.post(&format!("{at}/test"), "").await;
        assert_has(&tested.body, &["received, status 202"]);
        browser.create("/generations", json!({ "modelId": "local/fail", "prompt": "p" })).await;
        receiver.wait_for(2).await;
        let page = browser.page(&at).await;
        assert_has(&page, &["generation.failed", "Send again"]);
        browser.submit(&format!("{at}/disable"), &[]).await;
        assert_has(&browser.page(&at).await, &["its owner has turned it off"]);
        browser.submit(&format!("{at}/enable"), &[]).await;
        let renewed = browser.post(&format!("{at}/secret"), "").await;
        assert_has(&renewed.body, &["whsec_"]);
        let gone = browser.submit(&format!("{at}/delete"), &[]).await;
        assert_has(&gone, &["Webhook deleted."]);
    }
}

#[tokio::test]
async fn the_operator_lists_webhooks_and_disables_one() {
    let database = promptarium_server::test_support::ScratchDatabase::create().await.unwrap();
    let server = Running::on(&database.url(), "--seed-key promptarium_live_a1_s3cret=alice").await;
    let key = "promptarium_live_a1_s3cret";
    let client = promptarium::Client::new(server.base_url(), key).unwrap();
    let created = client.webhooks().create("https://receiver.example/hook").await.unwrap();
    let all = run(&database.url(), "webhook list --json").await.json();
    assert_eq!(all["webhooks"][0]["url"], "https://receiver.example/hook");
    assert_eq!(
        (&all["webhooks"][0]["account"], &all["webhooks"][0]["disabled"]),
        (&json!("alice"), &json!(null))
    );
    assert!(!all.to_string().contains(&created.secret.unwrap().expose()[6..]));
    let done = run(&database.url(), &format!("webhook disable alice {}", created.id)).await;
    assert_eq!((done.code, done.stdout.contains("is disabled")), (Some(0), true), "{done:?}");
    assert!(!client.webhooks().get(created.id).await.unwrap().enabled);
    let absent = run(&database.url(), "webhook disable alice 99").await;
    assert!(absent.stderr.contains("has no webhook 99"), "{absent:?}");
}
