//! What a person sees of generations, with and without scripts.

use crate::browser::Browser;
use crate::site::Site;
use crate::tests_on;

tests_on!(in_memory: a_picture_appears_without_loading_the_page_again,
    a_picture_is_there_after_a_refresh_without_scripts,
    a_failed_job_is_tried_again);
tests_on!(on_postgres: a_picture_appears_without_loading_the_page_again,
    a_failed_job_is_tried_again);

/// Sends the form of the overview.
async fn generate(browser: &Browser, model: &str, prompt: &str) {
    browser.fill("prompt", prompt).await;
    browser.replace("modelId", model).await;
    browser.click("Generate").await;
}

async fn a_picture_appears_without_loading_the_page_again(site: Site) {
    let mut browser = Browser::start().await;
    browser.sign_in(&site).await;
    // It takes three seconds, so that its page shows it while it runs.
    generate(&browser, "local/slow", "A harbour").await;
    browser.see("The generation is queued.").await;
    browser.driver.execute("window.isSamePage = true").await;
    browser.find("//main//a[.='Refresh']").await;
    browser.see("Completed").await;
    assert!(browser.picture_width().await.as_u64() > Some(0));
    assert_eq!(browser.driver.execute("return window.isSamePage").await, true);
    // Loading the page again does not send the form again.
    browser.driver.refresh().await;
    browser.click("Jobs").await;
    browser.see("Completed").await;
    assert_eq!(browser.driver.find_all("//main//li").await.len(), 1);
    browser.click("Again with changes").await;
    let prompt = browser.find("//textarea[@name='prompt']").await;
    assert_eq!(prompt.property("value").await, "A harbour");
    browser.end(&site).await;
}

async fn a_picture_is_there_after_a_refresh_without_scripts(site: Site) {
    let mut browser = Browser::without_scripts().await;
    browser.sign_in(&site).await;
    generate(&browser, "local/slow", "A harbour").await;
    browser.see("The generation is queued.").await;
    while browser.driver.find_all("//main//img").await.is_empty() {
        let refresh = browser.driver.find_all("//main//a[.='Refresh']").await;
        match refresh.first() {
            Some(link) => link.click().await.unwrap(),
            None => drop(browser.find("//main//img").await),
        }
    }
    browser.see("Completed").await;
    browser.end(&site).await;
}

async fn a_failed_job_is_tried_again(site: Site) {
    let mut browser = Browser::start().await;
    browser.sign_in(&site).await;
    generate(&browser, "local/fail", "A ship").await;
    browser.see("Failed: local/fail always fails").await;
    browser.click("Try again").await;
    browser.see("The generation is queued.").await;
    browser.see("Failed: local/fail always fails").await;
    browser.click("Jobs").await;
    browser.find("//main//li[2]").await;
    browser.end(&site).await;
}
