//! Signing in and out.

use crate::browser::Browser;
use crate::site::{ACCOUNT, Site};
use crate::tests_on;

tests_on!(in_memory: the_link_signs_in, a_pasted_code_signs_in_without_scripts,
    a_code_signs_in_once, after_signing_out_the_back_button_shows_nothing);
tests_on!(on_postgres: the_link_signs_in, a_pasted_code_signs_in_without_scripts,
    a_code_signs_in_once, after_signing_out_the_back_button_shows_nothing);

/// The page of the form, wherever the browser has been before.
const FORM: &str = "Enter a sign-in code";

async fn the_link_signs_in(site: Site) {
    let mut browser = Browser::start().await;
    let (link, code) = site.sign_in_link().await;
    browser.open(&link).await;
    browser.keep_secret(&code);
    browser.see(FORM).await;
    let field = browser.find("//input[@name='code']").await;
    assert_eq!(field.property("value").await, code);
    assert_eq!(browser.driver.current_url().await, site.page("sign-in"));

    browser.click("Sign in").await;
    browser.see(ACCOUNT).await;
    assert_eq!(browser.driver.current_url().await, site.page(""));
    browser.end(&site).await;
}

async fn a_pasted_code_signs_in_without_scripts(site: Site) {
    let mut browser = Browser::without_scripts().await;
    browser.open(&site.page("")).await;
    browser.see(FORM).await;
    browser.enter_code(&site).await;
    browser.see(ACCOUNT).await;
    browser.end(&site).await;
}

async fn a_code_signs_in_once(site: Site) {
    let mut browser = Browser::start().await;
    browser.open(&site.page("")).await;
    let code = browser.enter_code(&site).await;
    browser.click("Sign out").await;
    browser.see(FORM).await;
    browser.fill("code", &code).await;
    browser.click("Sign in").await;
    browser.see("code is not valid").await;
    browser.open(&site.page("")).await;
    browser.see(FORM).await;
    browser.end(&site).await;
}

async fn after_signing_out_the_back_button_shows_nothing(site: Site) {
    let mut browser = Browser::start().await;
    browser.sign_in(&site).await;
    browser.click("Sign out").await;
    browser.see(FORM).await;
    for _ in 0..2 {
        browser.driver.back().await;
        let page = browser.see(FORM).await;
        assert!(!page.contains(ACCOUNT), "{page}");
    }
    browser.end(&site).await;
}
