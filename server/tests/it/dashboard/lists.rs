//! Long lists: pages that follow each other, what a page leaves out, filters and the search.

use std::time::Duration;

use promptarium_server::provider::PollError;
use promptarium_server::{Clock, EmbeddedServer, ManualClock};
use serde_json::json;

use crate::generations::SlowProvider;
use crate::support::browser::{Browser, attribute};

/// The pages from this one to the last, and the two digits after each `marker` in them.
async fn walk(browser: &Browser, first: &str, marker: &str) -> (Vec<String>, Vec<u32>) {
    let (mut path, mut pages, mut seen) = (first.to_owned(), Vec::new(), Vec::new());
    loop {
        let page = browser.page(&path).await;
        let found = page.split(marker).skip(1);
        seen.extend(found.map(|rest| rest[..2].parse::<u32>().unwrap()));
        pages.push(page);
        let Some((_, next)) = pages[pages.len() - 1].split_once("rel=\"next\" href=\"") else {
            return (pages, seen);
        };
        path = next.split('"').next().unwrap().replace("&amp;", "&");
    }
}

#[tokio::test]
async fn following_next_shows_every_entry_once_and_previous_goes_back() {
    let clock = ManualClock::new("2026-01-02T03:04:05Z".parse().unwrap());
    let builder = EmbeddedServer::builder().provider(SlowProvider::new(Ok(()), 0));
    let builder = builder.clock(Clock::Manual(clock.clone()));
    let browser = Browser::on(builder.start().await.unwrap()).await;
    for number in 0..45 {
        clock.advance(Duration::from_secs(1));
        browser.prompt(&format!("title-{number:02}-"), Some(1)).await;
        let job =
            json!({ "modelId": "m", "prompt": "p", "clientJobId": format!("j & {number:02}") });
        browser.create("/generations", job).await;
        browser.vault(&format!("name-{number:02}-"), "private").await;
    }
    for (path, marker) in [
        ("/prompts?vaultId=&type=text", "title-"),
        ("/vaults/1", "title-"),
        ("/vaults", "name-"),
        ("/jobs", "class=\"title\" href=\"/jobs/j%20%26%20"),
    ] {
        let (pages, mut seen) = walk(&browser, path, marker).await;
        seen.dedup();
        assert!(seen.iter().copied().eq((0..45).rev()), "{path}: {seen:?}");
        assert!(!pages[0].contains("rel=\"prev\""), "{}", pages[0]);
        // Jobs only lead to older ones.
        for pages in pages.windows(2).filter(|_| path != "/jobs") {
            let address = attribute(&pages[1], "rel=\"prev\" href=\"").replace("&amp;", "&");
            let back = browser.page(&address).await;
            if path.starts_with("/prompts") {
                let list =
                    |page: &str| page.split_once("<ul class=\"grid\">").unwrap().1.to_owned();
                assert!(back.contains("45 prompts") && list(&back) == list(&pages[0]), "{back}");
            }
        }
    }
    for page in ["jobs?before=unknown", "vaults/1?page=-1", "vaults?page=x", "vaults/1?page=1000"] {
        assert_eq!(browser.get(&format!("/{page}")).await.status, 404, "{page}");
    }
}

#[tokio::test]
async fn pages_of_large_accounts_stay_small() {
    let builder = EmbeddedServer::builder()
        .provider(SlowProvider::failing(PollError::permanent("\"".repeat(560))));
    let browser = Browser::on(builder.start().await.unwrap()).await;
    for number in 0..11 {
        let name = format!("{number:02}{}", "\"".repeat(200));
        let long = "\"".repeat(60);
        let job = json!({ "modelId": long.repeat(4), "prompt": long.repeat(9), "clientJobId": name,
            "aspectRatio": long });
        browser.create("/generations", job).await;
    }
    assert_eq!(browser.ended_jobs().await.matches("Failed: ").count(), 10);
    let name = "\"".repeat(50);
    let vault = browser.vault(&name, "private").await;
    for _ in 0..60 {
        browser.vault(&name, "private").await;
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
        let page = browser.page(path).await;
        assert!(path == "/" || page.contains("Next page"), "{page}");
    }
    // The one text of a page is whole: six bytes for each quotation mark.
    for path in ["", "/edit"] {
        let page = browser.get(&format!("/prompts/{last}{path}")).await;
        assert!(page.body.len() <= 40_000 + 6 * 15_000, "{path} has {}", page.body.len());
    }
}

#[tokio::test]
async fn prompts_are_filtered_by_vault_type_and_words() {
    let browser = Browser::open().await;
    let vault = browser.vault("Sky", "private").await;
    browser.prompt("elsewhere", None).await;
    browser.prompt("inside", Some(vault)).await;
    for (query, found, part) in [
        (format!("vaultId={vault}&type=text"), "inside", "dir=\"auto\" selected>Sky"),
        ("vaultId=none".to_owned(), "elsewhere", "dir=\"auto\" selected>In no vault"),
        ("q=INS+harb".to_owned(), "inside", "value=\"INS harb\""),
        (format!("vaultId={vault}&type=video"), "", "No prompts match."),
    ] {
        let page = browser.page(&format!("/prompts?{query}")).await;
        for title in ["inside", "elsewhere"] {
            let is_found = page.contains(&format!("<bdi>{title}</bdi>"));
            assert_eq!(is_found, title == found, "{query}: {page}");
        }
        assert!(page.contains(part), "{query}: {page}");
    }
    assert_eq!(browser.get("/prompts?type=x").await.status, 400);
}

#[tokio::test]
async fn a_search_that_finds_nothing_shows_similar_titles() {
    let browser = Browser::open().await;
    let id = browser.prompt("Crème at the Harbour", None).await;
    browser.prompt("A gull", None).await;
    let similar = format!("<a href=\"/prompts/{id}\"><bdi>Crème at the Harbour</bdi></a>");
    for (query, is_similar) in
        [("harbor", true), ("hrabour+CREME", true), ("harbor+gulls", false), ("hrbr", false)]
    {
        let page = browser.page(&format!("/prompts?q={query}")).await;
        assert!(page.contains("No prompts match."), "{query}: {page}");
        assert_eq!(page.contains(&similar), is_similar, "{query}: {page}");
    }
    assert!(!browser.page("/prompts?q=harbour").await.contains("Similar titles"));
    // A text of spaces is no search.
    assert!(browser.page("/prompts?q=++").await.contains("2 prompts"));
}

#[tokio::test]
async fn a_search_that_stops_early_says_so_and_goes_on_with_older_prompts() {
    let browser = Browser::open().await;
    browser.prompt("A rare owl", None).await;
    let vault = browser.vault("Gulls", "public").await;
    for _ in 0..1_000 {
        browser.prompt("A gull", Some(vault)).await;
    }
    for _ in 1..20 {
        browser.create(&format!("/vaults/{vault}/fork"), json!({})).await;
    }
    let page = browser.page("/prompts?q=owl").await;
    assert!(page.contains("The newest 20000 prompts were searched."), "{page}");
    let (before, _) = page.split_once("\">Search older prompts</a>").unwrap();
    let older = before.rsplit("href=\"").next().unwrap().replace("&amp;", "&");
    let page = browser.page(&older).await;
    assert!(page.contains("<bdi>A rare owl</bdi>") && !page.contains("were searched"), "{page}");
}
