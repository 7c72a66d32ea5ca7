//! What a person does with prompts, with and without scripts.

use serde_json::json;

use crate::browser::Browser;
use crate::site::Site;
use crate::tests_on;

tests_on!(in_memory: prompts_are_written_changed_found_and_deleted,
    prompts_are_written_changed_found_and_deleted_without_scripts,
    several_prompts_are_put_into_a_vault_moved_and_deleted,
    several_prompts_are_put_into_a_vault_moved_and_deleted_without_scripts,
    the_whole_text_is_copied, keys_lead_to_the_search_a_new_prompt_and_the_entries);
tests_on!(on_postgres: prompts_are_written_changed_found_and_deleted,
    several_prompts_are_put_into_a_vault_moved_and_deleted);

async fn prompts_are_written_changed_found_and_deleted(site: Site) {
    write_and_delete(Browser::start().await, site).await;
}

async fn prompts_are_written_changed_found_and_deleted_without_scripts(site: Site) {
    write_and_delete(Browser::without_scripts().await, site).await;
}

async fn write_and_delete(mut browser: Browser, site: Site) {
    browser.sign_in(&site).await;
    browser.click("New prompt").await;
    browser.fill("title", "Harbour").await;
    browser.fill("prompt", "Boats <b>& gulls</b>").await;
    browser.choose("promptType", "image").await;
    browser.click("Save prompt").await;
    browser.see("Model is required when").await;
    let text = browser.find("//textarea[@name='prompt']").await.property("value").await;
    assert_eq!(text, "Boats <b>& gulls</b>");
    browser.fill("modelId", "local/plasma").await;
    browser.choose("vaultId", "General").await;
    browser.click("Save prompt").await;
    browser.see("The prompt is saved.").await;
    // Neither a reload nor going back sends the form again.
    browser.driver.refresh().await;
    browser.see("Boats").await;
    browser.click("Prompts").await;
    browser.see("1 prompt").await;

    browser.fill("q", "gull").await;
    browser.click("Search").await;
    browser.click("Harbour").await;
    browser.click("Edit").await;
    browser.replace("title", "Lake").await;
    browser.click("Save changes").await;
    browser.see("The changes are saved.").await;
    browser.click("Duplicate").await;
    browser.replace("title", "Copy of a lake").await;
    browser.click("Save prompt").await;
    browser.see("Copy of a lake").await;
    browser.click("Delete").await;
    browser.click("Delete this prompt").await;
    browser.see("The prompt is deleted.").await;
    let page = browser.see("1 prompt").await;
    assert!(page.contains("Lake") && !page.contains("Copy of a lake"), "{page}");
    browser.end(&site).await;
}

async fn several_prompts_are_put_into_a_vault_moved_and_deleted(site: Site) {
    choose_several(Browser::start().await, site).await;
}

async fn several_prompts_are_put_into_a_vault_moved_and_deleted_without_scripts(site: Site) {
    choose_several(Browser::without_scripts().await, site).await;
}

async fn choose_several(mut browser: Browser, site: Site) {
    let client = site.client();
    for title in ["First", "Second", "Third"] {
        client.prompts().create(title, "text").await.unwrap();
    }
    for name in ["Sky", "Sea"] {
        client.vaults().create(name).await.unwrap();
    }
    let choose_two = async |browser: &Browser| {
        for title in ["First", "Second"] {
            let entry = format!("//main//li[.//a[normalize-space()='{title}']]");
            browser.click_on(&format!("{entry}//input[@name='id']")).await;
        }
    };
    browser.sign_in(&site).await;
    browser.click("Prompts").await;
    choose_two(&browser).await;
    browser.click("Add to vault").await;
    browser.see("2 prompts are chosen.").await;
    browser.choose("vaultId", "Sky").await;
    browser.click("Add").await;
    browser.see("The chosen prompts are in the vault.").await;

    browser.choose("vaultId", "Sky").await;
    browser.click("Search").await;
    browser.see("2 prompts").await;
    choose_two(&browser).await;
    browser.click("Move to vault").await;
    browser.choose("vaultId", "Sea").await;
    browser.click("Move").await;
    browser.see("The chosen prompts are moved.").await;
    browser.see("No prompt matches.").await;

    browser.choose("vaultId", "Sea").await;
    browser.click("Search").await;
    choose_two(&browser).await;
    browser.click("Delete").await;
    browser.see("Delete 2 prompts?").await;
    browser.click("Delete them").await;
    browser.see("The chosen prompts are deleted.").await;
    browser.click("Prompts").await;
    let page = browser.see("1 prompt").await;
    assert!(page.contains("Third") && !page.contains("First"), "{page}");
    browser.end(&site).await;
}

async fn the_whole_text_is_copied(site: Site) {
    let text = format!("First\n  \"second\" & {}", "é".repeat(14_900));
    let prompt = site.client().prompts().create("Long", &*text).await.unwrap();
    let mut browser = Browser::start().await;
    browser.sign_in(&site).await;
    let permissions = json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] });
    browser.driver.devtools("Browser.grantPermissions", permissions).await;
    let clipboard = "const done = arguments[0];
        navigator.clipboard.readText().then(done, error => done(String(error)))";
    for page in [format!("prompts/{}", prompt.id), "prompts".into(), "prompts?view=list".into()] {
        browser.open(&site.page(&page)).await;
        let before = "navigator.clipboard.writeText('before').then(arguments[0], arguments[0])";
        browser.driver.execute_async(before, Vec::new()).await;
        browser.click("Copy").await;
        // It says so when it has been copied.
        browser.find("//p[@role='status'][.='Copied']").await;
        let copied = browser.driver.execute_async(clipboard, Vec::new()).await;
        assert_eq!(copied, text, "{page}");
    }
    browser.end(&site).await;
}

async fn keys_lead_to_the_search_a_new_prompt_and_the_entries(site: Site) {
    let client = site.client();
    for title in ["First", "Second"] {
        client.prompts().create(title, "text").await.unwrap();
    }
    let mut browser = Browser::start().await;
    browser.sign_in(&site).await;
    let focused = "const focused = document.activeElement;
        return focused.getAttribute('name') || focused.textContent";
    browser.driver.press("/").await;
    browser.find("//h1[.='Prompts']").await;
    browser.find("//input[@name='q']").await;
    assert_eq!(browser.driver.execute(focused).await, "q");
    // In a field they are characters.
    browser.driver.press("j").await;
    assert_eq!(browser.driver.execute(focused).await, "q");
    browser.open(&site.page("prompts")).await;
    for (key, expected) in [("j", "Second"), ("j", "First"), ("k", "Second")] {
        browser.driver.press(key).await;
        assert_eq!(browser.driver.execute(focused).await, expected, "{key}");
    }
    browser.driver.press("?").await;
    browser.find("//dialog[@open]").await;
    browser.click_on("//dialog//label").await;
    browser.click("Close").await;
    browser.driver.press("n").await;
    browser.open(&site.page("prompts")).await;
    browser.driver.press("j").await;
    assert_ne!(browser.driver.execute(focused).await, "Second", "they are off");
    browser.click("Keyboard shortcuts").await;
    browser.click_on("//dialog//label").await;
    browser.click("Close").await;
    browser.driver.press("n").await;
    browser.find("//h1[.='New prompt']").await;
    browser.end(&site).await;
}
