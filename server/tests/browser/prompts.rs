//! What a person does with prompts and vaults, with and without scripts.

use crate::browser::Browser;
use crate::site::ACCOUNT;
use crate::tests;

tests!(on_postgres: prompts_are_written_changed_found_and_deleted,
    a_vault_is_made_filled_shared_and_deleted);
tests!(without_scripts: prompts_are_written_changed_found_and_deleted,
    a_vault_is_made_filled_shared_and_deleted);
tests!(in_memory: the_whole_text_is_copied, keys_lead_to_the_search_a_new_prompt_and_the_entries);

async fn prompts_are_written_changed_found_and_deleted(browser: &mut Browser) {
    browser.sign_in().await;
    browser.click("New prompt").await;
    browser.choose("promptType", "image").await;
    let fields = [("title", "Harbour"), ("prompt", "Boats <b>& gulls</b>")];
    browser.send(&fields, "Save prompt", "Model is required for").await;
    assert_eq!(browser.value("prompt").await, "Boats <b>& gulls</b>");
    browser.choose("vaultId", "General").await;
    browser.send(&[("modelId", "local/plasma")], "Save prompt", "Saved.").await;
    // A reload does not send the form again.
    browser.refresh().await;
    browser.see("Boats").await;
    browser.send(&[], "Prompts", "1 prompt").await;
    browser.send(&[("q", "gull")], "Search", "1 prompt").await;
    browser.click("Harbour").await;
    browser.click("Edit").await;
    browser.send(&[("title", "Lake")], "Save changes", "Changes saved.").await;
    browser.click("Duplicate").await;
    browser.send(&[("title", "Copy of a lake")], "Save prompt", "Copy of a lake").await;
    browser.press_on("//main//summary[.='Delete']").await;
    browser.send(&[], "Delete this prompt", "Deleted.").await;
    let page = browser.see("1 prompt").await;
    assert!(page.contains("Lake") && !page.contains("Copy of a lake"), "{page}");
}

/// Chooses the prompts with these titles.
async fn mark(browser: &Browser, titles: &[&str]) {
    for title in titles {
        let entry = format!("//main//li[.//a[normalize-space()='{title}']]");
        browser.press_on(&format!("{entry}//input[@name='id']")).await;
    }
}

async fn a_vault_is_made_filled_shared_and_deleted(browser: &mut Browser) {
    let client = browser.site.client();
    for title in ["First", "Second", "Third"] {
        client.prompts().create(title, "text").await.unwrap();
    }
    browser.sign_in().await;
    browser.click("Vaults").await;
    browser.click("New vault").await;
    browser.choose("visibility", "unlisted").await;
    browser.send(&[("name", "Night sky")], "Create vault", "Shared page").await;

    browser.click("Prompts").await;
    mark(browser, &["First", "Third"]).await;
    browser.choose_in("//form[@method='post']", "vaultId", "Night sky").await;
    browser.send(&[], "Add to vault", "Added to the vault.").await;
    let (mut visitor, shared) = (browser.other().await, format!("v/{ACCOUNT}/night-sky"));
    visitor.open(&shared).await;
    visitor.see("Third").await;
    visitor.click("Sign in").await;
    visitor.enter_code().await;
    visitor.see("Edit this vault").await;
    assert_eq!(visitor.url().await, browser.site.page(&shared));

    browser.click("Vaults").await;
    browser.click("Night sky").await;
    mark(browser, &["First"]).await;
    browser.send(&[], "Pin", "Pinned.").await;
    assert_eq!(browser.text("//main//li[1]//a[contains(@class, 'title')]").await, "First");
    if browser.has_scripts {
        browser.press_on("//label[contains(., 'Select all')]").await;
    } else {
        mark(browser, &["First", "Third"]).await;
    }
    browser.choose_in("//form[@method='post']", "vaultId", "General").await;
    browser.send(&[], "Move to vault", "This vault is empty.").await;

    browser.click("Edit").await;
    browser.choose("visibility", "private").await;
    let description = [("description", "Stars over a harbour")];
    browser.send(&description, "Save changes", "Stars over a harbour").await;
    visitor.open(&shared).await;
    visitor.see("Not found").await;
    visitor.end().await;
    browser.press_on("//main//summary[.='Delete']").await;
    browser.send(&[], "Delete this vault", "Vault deleted.").await;

    browser.click("Prompts").await;
    mark(browser, &["First", "Second"]).await;
    browser.press_on("//main//summary[.='Delete']").await;
    browser.send(&[], "Delete selected", "1 prompt").await;
}

async fn the_whole_text_is_copied(browser: &mut Browser) {
    let text = format!("First\n  \"second\" & {}", "é".repeat(14_900));
    let prompt = browser.site.client().prompts().create("Long", &*text).await.unwrap();
    browser.sign_in().await;
    browser.grant(&["clipboardReadWrite", "clipboardSanitizedWrite"]).await;
    for page in [format!("prompts/{}", prompt.id), "prompts".into(), "prompts?view=list".into()] {
        browser.open(&page).await;
        browser.execute("navigator.clipboard.writeText('before')").await;
        browser.press("Copy").await;
        // It says so when it has been copied.
        browser.find("//p[@role='status'][.='Copied']").await;
        assert_eq!(browser.execute("navigator.clipboard.readText()").await, text, "{page}");
    }
}

async fn keys_lead_to_the_search_a_new_prompt_and_the_entries(browser: &mut Browser) {
    const FOCUSED: &str =
        "(e => e && (e.getAttribute('name') || e.textContent))(document.activeElement)";
    for title in ["First", "Second"] {
        browser.site.client().prompts().create(title, "text").await.unwrap();
    }
    browser.sign_in().await;
    browser.key("/").await;
    browser.find("//h1[.='Prompts']").await;
    browser.until(FOCUSED, "q").await;
    // In a field they are characters.
    browser.key("j").await;
    browser.until("document.activeElement.value", "j").await;
    browser.open("prompts").await;
    for (key, expected) in [("j", "Second"), ("j", "First"), ("k", "Second")] {
        browser.key(key).await;
        browser.until(FOCUSED, expected).await;
    }
    browser.key("?").await;
    browser.find("//dialog[@open]").await;
    browser.press_on("//dialog//label").await;
    browser.press("Close").await;
    browser.key("n").await;
    browser.open("prompts").await;
    browser.key("j").await;
    assert_ne!(browser.execute(FOCUSED).await, "Second", "they are off");
    browser.press("Keyboard shortcuts").await;
    browser.press_on("//dialog//label").await;
    browser.press("Close").await;
    browser.key("n").await;
    browser.find("//h1[.='New prompt']").await;
}
