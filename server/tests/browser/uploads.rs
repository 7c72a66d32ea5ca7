//! Pictures that are uploaded, with scripts and without, chosen and dropped.

use std::io::Write;

use serde_json::json;
use tempfile::NamedTempFile;

use crate::browser::Browser;
use crate::site::Site;
use crate::tests_on;
use crate::vaults::both;

tests_on!(in_memory: a_chosen_picture_becomes_a_prompt, a_dropped_picture_is_added_to_a_prompt,
    a_refused_file_leaves_what_was_typed);
tests_on!(on_postgres: a_chosen_picture_becomes_a_prompt);

/// A PNG of one pixel.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\
    \0\0\0\x0cIDAT\x08\xd7c\xf8\xcf\xc0\0\0\x03\x01\x01\0\x18\xdd\x8d\xb0\0\0\0\0IEND\xaeB`\x82";

fn file(bytes: &[u8], suffix: &str) -> NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(suffix).tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

async fn a_chosen_picture_becomes_a_prompt(site: Site) {
    let picture = file(PNG, ".png");
    for mut browser in both().await {
        browser.sign_in(&site).await;
        browser.open(&site.page("uploads?vaultId=1")).await;
        browser.fill("title", "Harbour").await;
        browser.fill("prompt", "A harbour before sunrise").await;
        browser.fill("file", picture.path().to_str().unwrap()).await;
        browser.click("Upload").await;
        browser.see("The picture is added.").await;
        browser.see("A harbour before sunrise").await;
        browser.end(&site).await;
    }
    let mut browser = Browser::start().await;
    browser.sign_in(&site).await;
    browser.click("Prompts").await;
    browser.click("Harbour").await;
    assert_eq!(browser.picture_width().await, json!(1));
    browser.end(&site).await;
}

async fn a_dropped_picture_is_added_to_a_prompt(site: Site) {
    let prompt = site.client().prompts().create("Harbour", "A harbour").await.unwrap();
    let mut browser = Browser::start().await;
    browser.sign_in(&site).await;
    browser.open(&site.page(&format!("uploads?promptId={}", prompt.id))).await;
    browser.see("The picture is added to").await;
    let drop = "const [bytes, done] = arguments, data = new DataTransfer();
        data.items.add(new File([new Uint8Array(bytes)], 'a.png', { type: 'image/png' }));
        const form = document.querySelector('form[data-upload]');
        form.dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }));
        done(form.elements.file.files.length)";
    assert_eq!(browser.driver.execute_async(drop, vec![json!(PNG)]).await, json!(1));
    browser.click("Upload").await;
    browser.see("The picture is added.").await;
    assert_eq!(browser.picture_width().await, json!(1));
    browser.end(&site).await;
}

async fn a_refused_file_leaves_what_was_typed(site: Site) {
    let text = file(b"<svg onload=alert(1)>", ".png");
    for mut browser in both().await {
        browser.sign_in(&site).await;
        browser.open(&site.page("uploads")).await;
        browser.fill("title", "Harbour").await;
        browser.fill("prompt", "A harbour").await;
        browser.fill("file", text.path().to_str().unwrap()).await;
        browser.click("Upload").await;
        browser.see("must be a PNG, JPEG, WebP or GIF picture").await;
        let title = browser.find("//input[@name='title']").await;
        assert_eq!(title.property("value").await, "Harbour");
        browser.end(&site).await;
    }
    let prompts = site.client().prompts().list().page().await.unwrap();
    assert!(prompts.items.is_empty());
}
