//! What a person does with prompts and vaults, with and without scripts.

use crate::browser::Browser;
use crate::site::ACCOUNT;
use crate::tests;

tests!(on_two_servers: prompts_are_written_changed_found_and_deleted,
    several_prompts_are_put_into_a_vault_moved_and_deleted,
    a_vault_is_made_changed_shared_and_deleted, chosen_prompts_are_pinned_and_moved);
tests!(without_scripts: prompts_are_written_changed_found_and_deleted,
    several_prompts_are_put_into_a_vault_moved_and_deleted,
    a_vault_is_made_changed_shared_and_deleted, chosen_prompts_are_pinned_and_moved);
tests!(in_memory: the_whole_text_is_copied, keys_lead_to_the_search_a_new_prompt_and_the_entries);

async fn prompts_are_written_changed_found_and_deleted(browser: &mut Browser) {
    browser.sign_in().await;
    browser.click("New prompt").await;
    browser.fill("title", "Harbour").await;
    browser.fill("prompt", "Boats <b>& gulls</b>").await;
    browser.choose("promptType", "image").await;
    browser.click("Save prompt").await;
    browser.see("Model is required when").await;
    assert_eq!(browser.value("prompt").await, "Boats <b>& gulls</b>");
    browser.fill("modelId", "local/plasma").await;
    browser.choose("vaultId", "General").await;
    browser.click("Save prompt").await;
    browser.see("The prompt is saved.").await;
    // Neither a reload nor going back sends the form again.
    browser.refresh().await;
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
}

async fn choose_two(browser: &Browser) {
    for title in ["First", "Second"] {
        let entry = format!("//main//li[.//a[normalize-space()='{title}']]");
        browser.click_on(&format!("{entry}//input[@name='id']")).await;
    }
}

async fn several_prompts_are_put_into_a_vault_moved_and_deleted(browser: &mut Browser) {
    let client = browser.site.client();
    for title in ["First", "Second", "Third"] {
        client.prompts().create(title, "text").await.unwrap();
    }
    for name in ["Sky", "Sea"] {
        client.vaults().create(name).await.unwrap();
    }
    browser.sign_in().await;
    browser.click("Prompts").await;
    choose_two(browser).await;
    browser.click("Add to vault").await;
    browser.see("2 prompts are chosen.").await;
    browser.choose("vaultId", "Sky").await;
    browser.click("Add").await;
    browser.see("The chosen prompts are in the vault.").await;

    browser.choose("vaultId", "Sky").await;
    browser.click("Search").await;
    browser.see("2 prompts").await;
    choose_two(browser).await;
    browser.click("Move to vault").await;
    browser.choose("vaultId", "Sea").await;
    browser.click("Move").await;
    browser.see("The chosen prompts are moved.").await;
    browser.see("No prompt matches.").await;

    browser.choose("vaultId", "Sea").await;
    browser.click("Search").await;
    choose_two(browser).await;
    browser.click("Delete").await;
    browser.see("Delete 2 prompts?").await;
    browser.click("Delete them").await;
    browser.see("The chosen prompts are deleted.").await;
    browser.click("Prompts").await;
    let page = browser.see("1 prompt").await;
    assert!(page.contains("Third") && !page.contains("First"), "{page}");
}

async fn a_vault_is_made_changed_shared_and_deleted(browser: &mut Browser) {
    browser.sign_in().await;
    browser.click("Vaults").await;
    browser.click("New vault").await;
    browser.fill("name", "Night sky").await;
    browser.click_on("//label[contains(., 'Unlisted')]").await;
    browser.click("Create vault").await;
    browser.see("The vault is created.").await;
    browser.see("Everybody can see this vault at").await;

    let (mut visitor, shared) = (browser.other().await, format!("v/{ACCOUNT}/night-sky"));
    visitor.open(&shared).await;
    visitor.see("There is no prompt here.").await;
    visitor.click("Sign in").await;
    visitor.enter_code().await;
    visitor.see("Edit this vault").await;
    assert_eq!(visitor.url().await, browser.site.page(&shared));

    browser.click("Edit").await;
    browser.fill("description", "Stars over a harbour").await;
    browser.click_on("//label[contains(., 'Private')]").await;
    browser.click("Save changes").await;
    browser.see("Stars over a harbour").await;
    visitor.open(&shared).await;
    visitor.see("Not found").await;
    visitor.end().await;

    browser.click("Delete").await;
    browser.see("Its prompts stay.").await;
    browser.click("Delete this vault").await;
    browser.see("The vault is deleted.").await;
}

async fn chosen_prompts_are_pinned_and_moved(browser: &mut Browser) {
    const SUNRISE: &str = "//li[contains(., 'sunrise')]//input[@type='checkbox']";
    let client = browser.site.client();
    let vault = client.vaults().create("Harbours").await.unwrap();
    client.vaults().create("Other").await.unwrap();
    for title in ["Before sunrise", "At noon"] {
        client.prompts().create(title, "A harbour").vault(vault.id).await.unwrap();
    }
    browser.sign_in().await;
    browser.open(&format!("vaults/{}", vault.id)).await;
    browser.click_on(SUNRISE).await;
    browser.click("Pin").await;
    browser.see("The chosen prompts are pinned.").await;
    let first = browser.text("//main//li[1]//a[contains(@class, 'title')]").await;
    assert_eq!(first, "Before sunrise");
    browser.click_on(SUNRISE).await;
    browser.click("Unpin").await;
    browser.see("no longer pinned").await;
    if browser.has_scripts {
        browser.click_on("//label[contains(., 'Choose all')]").await;
    } else {
        browser.click_on(SUNRISE).await;
        browser.click_on("//li[contains(., 'noon')]//input[@type='checkbox']").await;
    }
    browser.choose("targetVaultId", "Other").await;
    browser.click("Move").await;
    browser.see("There is no prompt in this vault.").await;
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
    browser.click_on("//dialog//label").await;
    browser.press("Close").await;
    browser.key("n").await;
    browser.open("prompts").await;
    browser.key("j").await;
    assert_ne!(browser.execute(FOCUSED).await, "Second", "they are off");
    browser.press("Keyboard shortcuts").await;
    browser.click_on("//dialog//label").await;
    browser.press("Close").await;
    browser.key("n").await;
    browser.find("//h1[.='New prompt']").await;
}
