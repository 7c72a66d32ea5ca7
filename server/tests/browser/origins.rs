//! A page of another origin.

use promptarium::ImageContentType;
use promptarium_server::EmbeddedServer;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::site::Site;
use crate::tests_on;

// Nothing of it depends on the store.
tests_on!(in_memory: a_page_of_another_origin_uploads_to_a_slot_and_shows_the_image);

/// Sends a request from the page; `[status, body's size, whether x-request-id can be read]`, or the
/// name of the error if the browser does not show the response.
const FETCH: &str = "
    const [url, options, done] = arguments;
    const body = options.size ? new Uint8Array(options.size) : undefined;
    fetch(url, { ...options, body }).then(async response => done([response.status,
        (await response.arrayBuffer()).byteLength, response.headers.has('x-request-id')]))
        .catch(error => done(error.name));";

async fn a_page_of_another_origin_uploads_to_a_slot_and_shows_the_image(site: Site) {
    // The pages of this origin have no policy of their own.
    let other = EmbeddedServer::start().await.unwrap();
    let page = other.base_url().replace("/api/v1", "/healthz");
    let slot = site.client().uploads().slot(ImageContentType::Png, 500).await.unwrap();
    let (address, image) = (slot.upload_url.expose().to_string(), slot.url.to_string());
    let mut browser = Browser::start().await;
    browser.keep_secret(slot.token.expose());
    browser.open(&page).await;
    let fetch = async |url: String, options: Value| {
        browser.driver.execute_async(FETCH, vec![json!(url), options]).await
    };

    let put = |token: &str| {
        let authorization = format!("Bearer {token}");
        let headers = json!({ "authorization": authorization, "content-type": "image/png" });
        json!({ "method": "PUT", "headers": headers, "size": 500 })
    };
    let refused = fetch(address.clone(), put("wrong")).await;
    assert_eq!((&refused[0], &refused[2]), (&json!(401), &json!(true)), "{refused}");
    assert_eq!(fetch(address, put(slot.token.expose())).await, json!([200, 0, true]));
    let part = json!({ "headers": { "range": "bytes=0-99" } });
    assert_eq!(fetch(image.clone(), json!({})).await, json!([200, 500, true]));
    assert_eq!(fetch(image, part).await, json!([206, 100, true]));

    let key = json!({ "headers": { "authorization": "Bearer k" } });
    for options in [json!({}), key, json!({ "credentials": "include" })] {
        let api = site.servers[0].base_url().to_owned();
        assert_eq!(fetch(format!("{api}/vaults"), options).await, "TypeError", "no setting");
    }
    browser.end(&site).await;
}
