//! The storage of a script: upload slots and assets.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::Method;
use serde_json::Value;

use super::{ASSETS_URL, Answer, STORAGE_URL, Script, SeenRequest, fixture};
use crate::{Asset, path};

/// Files by the last segment of their URLs; without bytes before the upload.
type Files = HashMap<String, Asset>;

impl Script {
    /// Answers requests for upload slots, uploads to them, and downloads of what was uploaded.
    /// None is required.
    ///
    /// Failures are declared before it, as for any path:
    /// `script.put(format!("{STORAGE_URL}/{{name}}")).answer(Answer::error(403, "expired"))`.
    ///
    /// ```
    /// use promptarium::testing::{Script, client, fixture};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), promptarium::Error> {
    /// let script = Script::new();
    /// script.storage();
    /// let client = client(&script);
    /// let image = client.uploads().image(fixture::png()).await?;
    /// assert_eq!(client.assets().download(&image.url).await?.bytes, fixture::png());
    /// # Ok(()) }
    /// ```
    pub fn storage(&self) {
        let files = Arc::new(Mutex::new(Files::new()));
        for (method, path) in [
            (Method::POST, path::UPLOADS_IMAGES.to_owned()),
            (Method::PUT, format!("{STORAGE_URL}/{{name}}")),
            (Method::GET, format!("{ASSETS_URL}/{{name}}")),
        ] {
            let files = files.clone();
            self.on(method, path).always_with(move |request| {
                answer(&mut files.lock().unwrap_or_else(PoisonError::into_inner), request)
            });
        }
    }
}

fn answer(files: &mut Files, request: &SeenRequest) -> Answer {
    let name = request.path.rsplit('/').next().unwrap_or_default();
    match (request.method.as_str(), files.get_mut(name)) {
        ("POST", _) => slot(files, &request.json()),
        ("PUT", Some(file)) if file.bytes.is_empty() => {
            file.bytes = request.body.clone();
            Answer::data(&())
        }
        ("PUT", Some(_)) => Answer::error(403, "the slot was used"),
        ("PUT", None) => Answer::error(401, "no such slot"),
        (_, Some(file)) if !file.bytes.is_empty() => Answer::asset(file),
        _ => Answer::error(404, "no such file"),
    }
}

fn slot(files: &mut Files, wanted: &Value) -> Answer {
    let content_type = wanted["contentType"].as_str().unwrap_or_default();
    let extension = content_type.rsplit('/').next().unwrap_or_default();
    let name = format!("{}.{extension}", files.len() + 1);
    let slot = fixture::slot(&name, content_type, wanted["size"].as_u64().unwrap_or_default());
    let content_type = Some(content_type.to_owned());
    files.insert(name, Asset { content_type, bytes: Bytes::new() });
    Answer::data(&slot)
}
