//! Prompts, their pictures, and their pages.

use std::collections::BTreeSet;

use futures::StreamExt;
use futures::stream;

use crate::browser::Browser;
use crate::site::Site;
use crate::tests_on;

tests_on!(in_memory: a_queued_picture_appears_by_itself, the_pages_of_a_list_show_each_prompt_once);
tests_on!(on_postgres: a_queued_picture_appears_by_itself, the_pages_of_a_list_show_each_prompt_once);

async fn a_queued_picture_appears_by_itself(site: Site) {
    let client = site.client();
    client.prompts().create("Harbour", "A harbour before sunrise").await.unwrap();
    let mut browser = Browser::start().await;
    browser.sign_in(&site).await;
    browser.click("Prompts").await;
    browser.click("Harbour").await;
    // It takes three seconds, so that the page of jobs shows it while it runs.
    browser.fill("modelId", "local/slow").await;
    browser.click("Queue picture").await;
    browser.see("This page is loaded again").await;
    browser.see("Completed").await;
    let page = browser.see("local/slow").await;
    assert!(!page.contains("http-equiv"), "the page is still loaded again:\n{page}");

    browser.click_on("//main//a[starts-with(normalize-space(), 'prompt ')]").await;
    let picture = browser.find("//main//img").await;
    let loaded = "const picture = arguments[0], done = arguments[1];
        picture.decode().then(() => done(picture.naturalWidth), error => done(String(error)))";
    let width = browser.driver.execute_async(loaded, vec![picture.reference]).await;
    assert!(width.as_u64().is_some_and(|width| width > 0), "{width:?}");
    browser.end(&site).await;
}

async fn the_pages_of_a_list_show_each_prompt_once(site: Site) {
    const COUNT: usize = 250;
    let client = site.client();
    stream::iter(0..COUNT)
        .for_each_concurrent(8, |number| {
            let creating = client.prompts().create(format!("Prompt {number}"), "text");
            async { drop(creating.await.unwrap()) }
        })
        .await;

    let mut browser = Browser::start().await;
    browser.sign_in(&site).await;
    browser.click("Prompts").await;
    let mut seen = Vec::new();
    loop {
        browser.find("//main//ul/li").await;
        for link in browser.driver.find_all("//main//ul[@class='list']/li/a").await {
            seen.push(link.text().await);
        }
        let next = browser.driver.find_all("//a[@rel='next']").await;
        let Some(next) = next.first() else { break };
        let address = next.property("href").await;
        assert!(seen.len() < COUNT, "{address} follows the last prompt");
        browser.open(&address).await;
    }
    let all: BTreeSet<String> = (0..COUNT).map(|number| format!("Prompt {number}")).collect();
    assert_eq!(seen.len(), COUNT);
    assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), all);
    browser.end(&site).await;
}
