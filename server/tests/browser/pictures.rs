//! Pictures that are generated and uploaded, and a page of another origin that uploads one.

use std::io::Write;

use promptarium::ImageContentType;
use promptarium_server::EmbeddedServer;
use serde_json::{Value, json};

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
    browser.send(&fields, "Generate", "The generation is queued.").await;
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
    for (bytes, answer) in [(&b"<svg onload=alert(1)>"[..], "must be a PNG"), (PNG, "It is saved.")]
    {
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
    browser.send(&[], "Save changes", "The changes are saved.").await;
    assert_eq!(browser.picture_width().await, 1);
}

/// A request from the page: `[status, body's size, whether x-request-id can be read]`, or the name of
/// the error if the browser does not show the response.
async fn fetch(browser: &Browser, url: &str, mut options: Value) -> Value {
    let size = options["size"].take();
    let (url, body) = (json!(url), format!("{size} && new Uint8Array({size})"));
    let fetch = format!(
        "fetch({url}, {{ ...{options}, body: {body} }}).then(async response => [response.status,
        (await response.arrayBuffer()).byteLength, response.headers.has('x-request-id')],
        error => error.name)"
    );
    browser.execute(&fetch).await
}

async fn a_page_of_another_origin_uploads_to_a_slot_and_shows_the_image(browser: &mut Browser) {
    // The pages of this origin have no policy of their own.
    let other = EmbeddedServer::start().await.unwrap();
    let slot = browser.site.client().uploads().slot(ImageContentType::Png, 500).await.unwrap();
    let (address, image) = (slot.upload_url.expose().to_string(), slot.url.to_string());
    browser.keep_secret(slot.token.expose());
    browser.open(&other.base_url().replace("/api/v1", "/healthz")).await;

    let put = |token: &str| {
        let authorization = format!("Bearer {token}");
        let headers = json!({ "authorization": authorization, "content-type": "image/png" });
        json!({ "method": "PUT", "headers": headers, "size": 500 })
    };
    let refused = fetch(browser, &address, put("wrong")).await;
    assert_eq!((&refused[0], &refused[2]), (&json!(401), &json!(true)), "{refused}");
    let part = json!({ "headers": { "range": "bytes=0-99" } });
    let vaults = format!("{}/vaults", browser.site.server.base_url());
    let key = json!({ "headers": { "authorization": "Bearer k" } });
    for (url, options, expected) in [
        (&address, put(slot.token.expose()), json!([200, 0, true])),
        (&image, json!({}), json!([200, 500, true])),
        (&image, part, json!([206, 100, true])),
        // Without the setting for other origins.
        (&vaults, json!({}), json!("TypeError")),
        (&vaults, key, json!("TypeError")),
        (&vaults, json!({ "credentials": "include" }), json!("TypeError")),
    ] {
        assert_eq!(fetch(browser, url, options.clone()).await, expected, "{url} {options}");
    }
}
