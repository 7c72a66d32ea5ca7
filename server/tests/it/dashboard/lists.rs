//! Long lists: pages that follow each other, and what a page leaves out.

use std::sync::Arc;
use std::time::Duration;

use promptarium_server::{Clock, EmbeddedServer, ManualClock};
use serde_json::json;

use super::{Browser, HostileProvider, attribute};
use crate::generations::SlowProvider;

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
async fn following_next_shows_every_prompt_once_and_previous_goes_back() {
    let browser = Browser::open().await;
    for number in 0..45 {
        browser.prompt(&format!("title-{number:02}-")).await;
    }
    let (mut path, mut seen) = ("/prompts?vaultId=&type=text".to_owned(), Vec::new());
    let mut pages = Vec::new();
    loop {
        let page = browser.page(&path).await;
        assert!(page.contains("45 prompts"), "{page}");
        pages.push(page.clone());
        let titles = page.split("title-").skip(1).map(|rest| rest[..2].parse::<u32>().unwrap());
        seen.extend(titles);
        if !page.contains("Next page") {
            break;
        }
        path = attribute(&page, "rel=\"next\" href=\"").replace("&amp;", "&");
    }
    assert!(seen.iter().copied().eq((0..45).rev()), "{seen:?}");
    let list = |page: &str| page.split_once("<ul class=\"grid\">").unwrap().1.to_owned();
    for earlier in [1, 0] {
        let back = pages[earlier + 1].clone();
        let address = attribute(&back, "rel=\"prev\" href=\"").replace("&amp;", "&");
        assert_eq!(list(&browser.page(&address).await), list(&pages[earlier]));
    }
    assert!(!pages[0].contains("Previous page"), "{}", pages[0]);
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
        let names = page.split("class=\"title\" href=\"/jobs/job%20%26%20").skip(1);
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
    for path in ["/", "/prompts", "/prompts?view=list", "/vaults", &format!("/vaults/{vault}")] {
        browser.page(path).await;
    }
    // The one text of a page is whole: six bytes for each quotation mark.
    for path in ["", "/edit"] {
        let page = browser.get(&format!("/prompts/{last}{path}")).await;
        assert!(page.body.len() <= 40_000 + 6 * 15_000, "{path} has {}", page.body.len());
    }
    assert!(browser.page("/prompts").await.contains("Next page"));
    assert!(!browser.page("/prompts").await.contains("Shown are"));
    assert!(browser.page(&format!("/vaults/{vault}")).await.contains("Next page"));
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
