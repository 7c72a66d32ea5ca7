//! Signing in and out, keys, and the account.

use std::io::Write;

use promptarium::Client;

use crate::browser::Browser;
use crate::site::ACCOUNT;
use crate::tests;

tests!(in_memory: the_link_signs_in);
tests!(on_two_servers: a_code_signs_in_once_and_leads_to_the_page_that_was_wanted,
    after_signing_out_the_back_button_shows_nothing,
    a_key_is_shown_once_and_works_until_it_is_revoked,
    an_account_is_renamed_and_a_file_imported);
tests!(without_scripts: a_code_signs_in_once_and_leads_to_the_page_that_was_wanted,
    an_account_is_renamed_and_a_file_imported);

/// The page of the form, wherever the browser has been before.
const FORM: &str = "Enter a sign-in code";

async fn the_link_signs_in(browser: &mut Browser) {
    let (link, code) = browser.site.sign_in_link().await;
    browser.open(&link).await;
    browser.keep_secret(&code);
    browser.see(FORM).await;
    browser.until("document.querySelector('[name=code]').value", code).await;
    assert_eq!(browser.url().await, browser.site.page("sign-in"));
    browser.click("Sign in").await;
    browser.see(ACCOUNT).await;
    assert_eq!(browser.url().await, browser.site.page(""));
}

async fn a_code_signs_in_once_and_leads_to_the_page_that_was_wanted(browser: &mut Browser) {
    browser.open("vaults?page=0").await;
    browser.see("promptarium-server sign-in ACCOUNT").await;
    let code = browser.enter_code().await;
    browser.see("New vault").await;
    assert_eq!(browser.url().await, browser.site.page("vaults?page=0"));
    browser.click("Sign out").await;
    browser.see(FORM).await;
    browser.fill("code", &code).await;
    browser.click("Sign in").await;
    browser.see("code is not valid").await;
    browser.open("").await;
    browser.see(FORM).await;
}

async fn after_signing_out_the_back_button_shows_nothing(browser: &mut Browser) {
    browser.sign_in().await;
    browser.click("Sign out").await;
    browser.see(FORM).await;
    for _ in 0..2 {
        browser.back().await;
        let page = browser.see(FORM).await;
        assert!(!page.contains(ACCOUNT), "{page}");
    }
}

async fn works(client: &Client) -> bool {
    match client.vaults().list().await {
        Ok(_) => true,
        Err(error) if error.is_unauthorized() => false,
        Err(error) => panic!("{error}"),
    }
}

async fn a_key_is_shown_once_and_works_until_it_is_revoked(browser: &mut Browser) {
    browser.sign_in().await;
    browser.click("Keys").await;
    browser.fill("name", "laptop").await;
    browser.click("Create key").await;
    browser.see("Copy it now").await;
    let line = browser.text("//pre").await;
    let key = line.strip_prefix("export PROMPTARIUM_API_KEY=").unwrap();
    browser.keep_secret(key);
    let clients = [0, 1].map(|server| browser.site.client_of(server, key));
    assert!(works(&clients[0]).await && works(&clients[1]).await);

    browser.click("I have copied it; show all keys").await;
    browser.see("laptop").await;
    // A browser that is asked to does send the form again, which makes no other key.
    browser.back().await;
    browser.check_source().await;
    browser.refresh().await;
    browser.check_source().await;

    browser.open("keys").await;
    browser.click("Revoke laptop").await;
    assert!(works(&clients[0]).await, "asking revokes nothing");
    browser.click("Revoke this key").await;
    browser.see("Revoked").await;
    assert!(!works(&clients[0]).await && !works(&clients[1]).await);
}

const EXPORT: &str = r#"{"format":"promptarium-account","version":1,"prompts":[{"id":7,
    "title":"Imported harbour","prompt":"A harbour","promptType":"text","images":[],
    "createdAt":"2026-01-02T03:04:05Z","updatedAt":"2026-01-02T03:04:05Z"}],"vaults":[]}"#;

async fn an_account_is_renamed_and_a_file_imported(browser: &mut Browser) {
    let mut file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    file.write_all(EXPORT.as_bytes()).unwrap();
    browser.sign_in().await;
    browser.click("Account").await;
    for (more, answer) in [("2", "The account has a new name."), (" b", "is not an account name")] {
        browser.fill("name", more).await;
        browser.click("Rename").await;
        browser.see(answer).await;
    }
    browser.click("Account").await;
    browser.choose_file(file.path()).await;
    browser.click("Import").await;
    browser.see("The prompts and vaults of the file are added.").await;
    browser.click("Prompts").await;
    browser.see("Imported harbour").await;
}
