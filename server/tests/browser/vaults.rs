//! Vaults: made, filled, shared and copied, with scripts and without.

use crate::browser::Browser;
use crate::site::{ACCOUNT, Site};
use crate::tests_on;

tests_on!(in_memory: a_vault_is_made_changed_shared_and_deleted, chosen_prompts_are_pinned_and_moved);
tests_on!(on_postgres: a_vault_is_made_changed_shared_and_deleted, chosen_prompts_are_pinned_and_moved);

/// Browsers with scripts and without them.
pub(crate) async fn both() -> [Browser; 2] {
    [Browser::start().await, Browser::without_scripts().await]
}

async fn a_vault_is_made_changed_shared_and_deleted(site: Site) {
    for mut browser in both().await {
        browser.sign_in(&site).await;
        browser.click("Vaults").await;
        browser.click("New vault").await;
        browser.fill("name", "Night sky").await;
        browser.click_on("//label[contains(., 'Unlisted')]").await;
        browser.click("Create vault").await;
        browser.see("The vault is created.").await;
        browser.see("Everybody can see this vault at").await;

        let mut visitor = Browser::start().await;
        let shared = site.page(&format!("v/{ACCOUNT}/night-sky"));
        visitor.open(&shared).await;
        visitor.see("There is no prompt here.").await;
        visitor.click("Sign in").await;
        visitor.enter_code(&site).await;
        visitor.see("Edit this vault").await;
        assert_eq!(visitor.driver.current_url().await, shared);

        browser.click("Edit").await;
        browser.fill("description", "Stars over a harbour").await;
        browser.click_on("//label[contains(., 'Private')]").await;
        browser.click("Save changes").await;
        browser.see("Stars over a harbour").await;
        visitor.open(&shared).await;
        visitor.see("Not found").await;
        visitor.end(&site).await;

        browser.click("Delete").await;
        browser.see("Its prompts stay.").await;
        browser.click("Delete this vault").await;
        browser.see("The vault is deleted.").await;
        browser.end(&site).await;
    }
}

async fn chosen_prompts_are_pinned_and_moved(site: Site) {
    let client = site.client();
    let vault = client.vaults().create("Harbours").await.unwrap();
    client.vaults().create("Other").await.unwrap();
    for title in ["Before sunrise", "At noon"] {
        client.prompts().create(title, "A harbour").vault(vault.id).await.unwrap();
    }
    for mut browser in both().await {
        browser.sign_in(&site).await;
        browser.open(&site.page(&format!("vaults/{}", vault.id))).await;
        browser.click_on("//li[contains(., 'sunrise')]//input[@type='checkbox']").await;
        browser.click("Pin").await;
        browser.see("The chosen prompts are pinned.").await;
        let first = browser.find("//main//li[1]//a[contains(@class, 'title')]").await;
        assert_eq!(first.text().await, "Before sunrise");
        browser.click_on("//li[contains(., 'sunrise')]//input[@type='checkbox']").await;
        browser.click("Unpin").await;
        browser.see("no longer pinned").await;
        browser.end(&site).await;
    }
    let mut browser = Browser::start().await;
    browser.sign_in(&site).await;
    browser.open(&site.page(&format!("vaults/{}", vault.id))).await;
    browser.click_on("//label[contains(., 'Choose all')]").await;
    browser.click_on("//option[.='Other']").await;
    browser.click("Move").await;
    browser.see("There is no prompt in this vault.").await;
    browser.end(&site).await;
}
