//! The account and its sessions, with scripts and without.

use std::io::Write;

use crate::browser::Browser;
use crate::site::Site;
use crate::tests_on;
use crate::vaults::both;

tests_on!(in_memory: an_account_is_renamed_and_a_file_imported, the_sign_in_returns_to_the_page);
tests_on!(on_postgres: an_account_is_renamed_and_a_file_imported);

const EXPORT: &str = r#"{"format":"promptarium-account","version":1,"prompts":[{"id":7,
    "title":"Imported harbour","prompt":"A harbour","promptType":"text","images":[],
    "createdAt":"2026-01-02T03:04:05Z","updatedAt":"2026-01-02T03:04:05Z"}],"vaults":[]}"#;

async fn an_account_is_renamed_and_a_file_imported(site: Site) {
    let mut file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    file.write_all(EXPORT.as_bytes()).unwrap();
    let mut browser = Browser::start().await;
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
        browser.see("promptarium-server sign-in ACCOUNT").await;
        browser.enter_code(&site).await;
        browser.see("New vault").await;
        assert_eq!(browser.driver.current_url().await, site.page("vaults?page=0"));
        browser.end(&site).await;
    }
}
