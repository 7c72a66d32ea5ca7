//! The SDK in a browser, against the server that `script/browser` starts.

use std::time::Duration;

use promptarium::{Client, Outcome, PromptId, RetryPolicy};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

const BASE_URL: &str = env!("PROMPTARIUM_BASE_URL");
const API_KEY: &str = env!("PROMPTARIUM_API_KEY");

/// One pixel.
const PNG: &[u8] = include_bytes!("pixel.png");

fn client() -> Client {
    Client::new(BASE_URL, API_KEY).unwrap()
}

#[wasm_bindgen_test]
async fn a_prompt_is_stored_read_listed_and_deleted() {
    let client = client();
    let prompt = client.prompts().create("Dusk", "A harbour at dusk").await.unwrap();
    assert_eq!(client.prompts().get(prompt.id).await.unwrap().title, "Dusk");
    let mut prompts = client.prompts().list().prefetch(true).items();
    assert_eq!(prompts.try_next().await.unwrap().map(|first| first.id), Some(prompt.id));
    client.prompts().delete(prompt.id).await.unwrap();
    assert!(client.prompts().get_opt(prompt.id).await.unwrap().is_none());
}

#[wasm_bindgen_test]
async fn an_error_has_its_kind_and_the_id_of_the_request() {
    let error = client().prompts().get(PromptId::new(999_999)).await.unwrap_err();
    assert!(error.is_not_found(), "{error}");
    assert!(error.request_id().is_some(), "{error}");
}

#[wasm_bindgen_test]
async fn a_picture_is_uploaded_and_another_one_generated_and_downloaded() {
    let on_status = js_sys::Function::new_no_args("");
    let url = promptarium_browser::generate(
        BASE_URL.to_owned(),
        API_KEY.to_owned(),
        PNG.to_vec(),
        "The same at night".to_owned(),
        on_status,
    );
    let url = url.await.unwrap();
    let asset = client().assets().download(&*url).await.unwrap();
    assert_eq!(asset.extension(), Some("png"));
    assert!(asset.bytes.starts_with(b"\x89PNG"));
    let mut stream = client().assets().download(&*url).stream();
    let mut bytes = 0;
    while let Some(chunk) = stream.try_next().await.unwrap() {
        bytes += chunk.len();
    }
    assert_eq!(bytes, asset.bytes.len());
}

#[wasm_bindgen_test]
async fn timers_are_those_of_the_browser() {
    // Nobody listens: the call is retried after a backoff, and ends.
    let retry = RetryPolicy::new().max_attempts(2).initial_backoff(Duration::from_millis(20));
    let client = Client::builder().base_url("http://127.0.0.1:9/api/v1").api_key(API_KEY);
    let client = client.retry(retry).build().unwrap();
    let error = client.vaults().list().await.unwrap_err();
    assert_eq!((error.attempts(), error.outcome()), (2, Outcome::NotDone), "{error}");
    let error = client.vaults().list().timeout(Duration::ZERO).await.unwrap_err();
    assert!(error.is_timeout(), "{error}");
}

#[wasm_bindgen_test]
async fn a_path_is_an_error_that_says_why() {
    let error = client().uploads().image("harbour.png").await.unwrap_err();
    assert!(error.is_input() && error.to_string().contains("there are no files here"), "{error}");
}
