//! Pictures that are generated and uploaded, and a page of another origin that uploads one.

use std::io::Write;

use promptarium::ImageContentType;
use promptarium_server::EmbeddedServer;
use serde_json::json;

use crate::browser::Browser;
use crate::tests;

tests!(in_memory: a_generated_picture_appears, a_chosen_picture_becomes_a_prompt,
    a_dropped_picture_is_added_to_a_prompt,
    a_page_of_another_origin_uploads_to_a_slot_and_shows_the_image);
tests!(without_scripts: a_generated_picture_appears, a_chosen_picture_becomes_a_prompt);

async fn a_generated_picture_appears(browser: &mut Browser) {
    browser.sign_in().await;
    // It takes three seconds, so that its page shows it while it runs.
    let fields = [("modelId", "local/slow"), ("prompt", "A harbour")];
    browser.send(&fields, "Generate", "Generation queued.").await;
    if browser.has_scripts {
        browser.execute("window.isSamePage = true").await;
        browser.find("//main//a[.='Refresh']").await;
        browser.see("Completed").await;
        assert!(browser.picture_width().await.as_u64() > Some(0));
        assert_eq!(browser.execute("window.isSamePage").await, true);
    } else {
        while browser.count("//main//img").await == 0 {
            browser.click("Refresh").await;
        }
    }
    // Loading the page again does not send the form again.
    browser.refresh().await;
    browser.send(&[], "Jobs", "Completed").await;
    assert_eq!(browser.count("//main//li").await, 1);
    browser.click("Again with changes").await;
    assert_eq!(browser.value("prompt").await, "A harbour");
}

/// A PNG of one pixel.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\
    \0\0\0\x0cIDAT\x08\xd7c\xf8\xcf\xc0\0\0\x03\x01\x01\0\x18\xdd\x8d\xb0\0\0\0\0IEND\xaeB`\x82";

async fn a_chosen_picture_becomes_a_prompt(browser: &mut Browser) {
    browser.sign_in().await;
    // What is no picture is refused, and what was typed stays.
    for (bytes, answer) in [(&b"<svg onload=alert(1)>"[..], "must be a PNG"), (PNG, "Saved.")] {
        let mut file = tempfile::Builder::new().suffix(".png").tempfile().unwrap();
        file.write_all(bytes).unwrap();
        browser.open("prompts/new?vaultId=1").await;
        browser.choose_file(file.path()).await;
        let fields = [("title", "Harbour"), ("prompt", "A harbour before sunrise")];
        browser.send(&fields, "Save prompt", answer).await;
        browser.see("A harbour before sunrise").await;
    }
    assert_eq!(browser.site.client().prompts().list().page().await.unwrap().items.len(), 1);
    browser.click("Prompts").await;
    browser.click("Harbour").await;
    if browser.has_scripts {
        assert_eq!(browser.picture_width().await, 1);
    }
}

async fn a_dropped_picture_is_added_to_a_prompt(browser: &mut Browser) {
    let prompt = browser.site.client().prompts().create("Harbour", "A harbour").await.unwrap();
    browser.sign_in().await;
    browser.open(&format!("prompts/{}/edit", prompt.id)).await;
    let bytes = json!(PNG);
    let drop = format!(
        "form => {{ const data = new DataTransfer();
        data.items.add(new File([new Uint8Array({bytes})], 'a.png', {{ type: 'image/png' }}));
        form.dispatchEvent(new DragEvent('drop', {{ dataTransfer: data, cancelable: true }}));
        return form.elements.file.files.length; }}"
    );
    assert_eq!(browser.on("//form[@data-upload]", &drop).await, 1);
    browser.send(&[], "Save changes", "Changes saved.").await;
    assert_eq!(browser.picture_width().await, 1);
}

async fn a_page_of_another_origin_uploads_to_a_slot_and_shows_the_image(browser: &mut Browser) {
    // The pages of this origin have no policy of their own.
    let other = EmbeddedServer::start().await.unwrap();
    let slot = browser.site.client().uploads().slot(ImageContentType::Png, 500).await.unwrap();
    browser.keep_secret(slot.token.expose());
    browser.open(&other.base_url().replace("/api/v1", "/healthz")).await;
    for (token, expected) in
        [("wrong", json!([401, true])), (slot.token.expose(), json!([200, true]))]
    {
        let headers =
            json!({ "authorization": format!("Bearer {token}"), "content-type": "image/png" });
        let address = json!(slot.upload_url.expose().to_string());
        let put = format!(
            "fetch({address}, {{ method: 'PUT', headers: {headers}, body: new Uint8Array(500) }})
            .then(response => [response.status, response.headers.has('x-request-id')])"
        );
        assert_eq!(browser.execute(&put).await, expected);
    }
    // The API cannot be read without the setting for other origins.
    let vaults = format!("{}/vaults", browser.site.server.base_url());
    for (url, expected) in [(slot.url.to_string(), json!(500)), (vaults, json!("TypeError"))] {
        let url = json!(url);
        let get = format!(
            "fetch({url}).then(response => response.arrayBuffer())
            .then(bytes => bytes.byteLength, error => error.name)"
        );
        assert_eq!(browser.execute(&get).await, expected, "{url}");
    }
}
