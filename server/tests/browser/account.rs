//! The account and its sessions, with scripts and without.

use std::io::Write;

use crate::browser::Browser;
use crate::site::{ACCOUNT, Site};
use crate::tests_on;
use crate::vaults::both;

tests_on!(in_memory: an_account_is_renamed_and_a_file_imported, the_sign_in_returns_to_the_page,
    a_session_shows_its_browser, an_account_is_deleted_after_its_name_is_typed);
tests_on!(on_postgres: an_account_is_renamed_and_a_file_imported,
    an_account_is_deleted_after_its_name_is_typed);

const EXPORT: &str = r#"{"format":"promptarium-account","version":1,"prompts":[{"id":7,
    "title":"Imported harbour","prompt":"A harbour","promptType":"text","images":[],
    "createdAt":"2026-01-02T03:04:05Z","updatedAt":"2026-01-02T03:04:05Z"}],"vaults":[]}"#;

async fn an_account_is_renamed_and_a_file_imported(site: Site) {
    let mut file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    file.write_all(EXPORT.as_bytes()).unwrap();
    let mut browser = Browser::without_scripts().await;
    browser.sign_in(&site).await;
    browser.click("Account").await;
    browser.fill("name", "2").await;
    browser.click("Rename").await;
    browser.see("The account has a new name.").await;
    browser.fill("name", " b").await;
    browser.click("Rename").await;
    browser.see("is not an account name").await;
    browser.click("Account").await;
    browser.fill("file", file.path().to_str().unwrap()).await;
    browser.click("Import").await;
    browser.see("The prompts and vaults of the file are added.").await;
    browser.click("Prompts").await;
    browser.see("Imported harbour").await;
    browser.end(&site).await;
}

async fn the_sign_in_returns_to_the_page(site: Site) {
    for mut browser in both().await {
        browser.open(&site.page("vaults?page=0")).await;
        let (_, code) = site.sign_in_link().await;
        browser.keep_secret(&code);
        browser.see("promptarium-server sign-in ACCOUNT").await;
        browser.fill("code", &code).await;
        browser.click("Sign in").await;
        browser.see("New vault").await;
        assert_eq!(browser.driver.current_url().await, site.page("vaults?page=0"));
        browser.end(&site).await;
    }
}

async fn a_session_shows_its_browser(site: Site) {
    let mut browser = Browser::start().await;
    browser.sign_in(&site).await;
    browser.click("Sessions").await;
    browser.see("Chrome on Linux").await;
    browser.see("(this browser)").await;
    browser.end(&site).await;
}

async fn an_account_is_deleted_after_its_name_is_typed(site: Site) {
    let mut browser = Browser::without_scripts().await;
    browser.sign_in(&site).await;
    browser.click("Account").await;
    browser.click("Delete the account").await;
    browser.fill("name", "somebody").await;
    browser.click("Delete everything").await;
    browser.see("nothing was deleted").await;
    browser.open(&site.page("account/delete")).await;
    browser.fill("name", ACCOUNT).await;
    browser.click("Delete everything").await;
    browser.see("Enter a sign-in code").await;
    assert!(site.client().prompts().list().page().await.is_err());
    browser.end(&site).await;
}
