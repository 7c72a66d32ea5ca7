//! The SDK in a web page: uploads a picture, generates another one from it, and returns its URL.

use promptarium::Client;
use wasm_bindgen::prelude::{JsError, JsValue, wasm_bindgen};

/// `on_status` is called with each state of the generation.
#[wasm_bindgen]
pub async fn generate(
    base_url: String,
    api_key: String,
    picture: Vec<u8>,
    text: String,
    on_status: js_sys::Function,
) -> Result<String, JsError> {
    let client = Client::new(base_url, api_key)?;
    let image = client.uploads().image(picture).await?;
    let job = client.generations().create("local/plasma", text).image_input(&image.url).await?;
    let mut changes = client.generations().watch(&job);
    while let Some(status) = changes.try_next().await? {
        let _ = on_status.call1(&JsValue::NULL, &status.state.to_string().into());
    }
    let finished = client.generations().wait(&job).await?;
    let image = finished.images().next().ok_or_else(|| JsError::new("there is no image"))?;
    Ok(image.url.to_string())
}
