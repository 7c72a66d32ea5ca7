//! Signing in and out, and keys.

use crate::browser::Browser;
use crate::site::ACCOUNT;
use crate::tests;

tests!(in_memory: the_link_signs_in, a_key_is_shown_once_and_revoked);
tests!(on_postgres: a_code_signs_in_once_and_leads_to_the_page_that_was_wanted,
    after_signing_out_the_back_button_shows_nothing);
tests!(without_scripts: a_code_signs_in_once_and_leads_to_the_page_that_was_wanted,
    a_key_is_shown_once_and_revoked);

/// The page of the form, wherever the browser has been before.
const FORM: &str = "Enter a sign-in code";

async fn the_link_signs_in(browser: &mut Browser) {
    let (link, code) = browser.site.sign_in_link().await;
    browser.open(&link).await;
    browser.keep_secret(&code);
    browser.see(FORM).await;
    browser.until("document.querySelector('[name=code]').value", code).await;
    assert_eq!(browser.url().await, browser.site.page("sign-in"));
    browser.send(&[], "Sign in", ACCOUNT).await;
    assert_eq!(browser.url().await, browser.site.page(""));
}

async fn a_code_signs_in_once_and_leads_to_the_page_that_was_wanted(browser: &mut Browser) {
    browser.open("vaults?page=0").await;
    browser.see("promptarium-server sign-in ACCOUNT").await;
    let code = browser.enter_code().await;
    browser.see("New vault").await;
    assert_eq!(browser.url().await, browser.site.page("vaults?page=0"));
    browser.send(&[], "Sign out", FORM).await;
    browser.send(&[("code", &code)], "Sign in", "code is not valid").await;
}

async fn after_signing_out_the_back_button_shows_nothing(browser: &mut Browser) {
    browser.sign_in().await;
    browser.send(&[], "Sign out", FORM).await;
    for _ in 0..2 {
        browser.back().await;
        let page = browser.see(FORM).await;
        assert!(!page.contains(ACCOUNT), "{page}");
    }
}

async fn a_key_is_shown_once_and_revoked(browser: &mut Browser) {
    browser.sign_in().await;
    browser.click("Keys").await;
    browser.send(&[("name", "laptop")], "Create key", "Copy it now").await;
    let line = browser.text("//pre").await;
    browser.keep_secret(line.strip_prefix("export PROMPTARIUM_API_KEY=").unwrap());
    browser.send(&[], "Done, show all keys", "laptop").await;
    // A browser that is asked to does send the form again, which makes no other key.
    browser.back().await;
    browser.check_source().await;
    browser.refresh().await;
    browser.check_source().await;
    browser.open("keys").await;
    browser.press_on("//li[contains(., 'laptop')]//summary").await;
    browser.send(&[], "Revoke laptop", "Key revoked.").await;
}
