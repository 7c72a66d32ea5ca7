//! The storage of a script: upload slots and assets.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::{ASSETS_URL, Answer, STORAGE_URL, Script, SeenRequest, fixture};
use crate::{Asset, path};

/// Files by the last segment of their URLs; without bytes before the upload.
#[derive(Clone, Default)]
struct Files(Arc<Mutex<HashMap<String, Asset>>>);

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
        let files = Files::default();
        let (slots, uploads) = (files.clone(), files.clone());
        self.post(path::UPLOADS_IMAGES).always_with(move |request| slots.slot(request));
        self.put(format!("{STORAGE_URL}/{{name}}"))
            .always_with(move |request| uploads.put(request));
        self.get(format!("{ASSETS_URL}/{{name}}")).always_with(move |request| files.get(request));
    }
}

impl Files {
    fn slot(&self, request: &SeenRequest) -> Answer {
        let (body, mut files) = (request.json(), self.lock());
        let content_type = body["contentType"].as_str().unwrap_or_default();
        let extension = content_type.rsplit('/').next().unwrap_or_default();
        let name = format!("{}.{extension}", files.len() + 1);
        let size = body["size"].as_u64().unwrap_or_default();
        let slot = fixture::slot(&name, content_type, size);
        let content_type = Some(content_type.to_owned());
        files.insert(name, Asset { content_type, bytes: Bytes::new() });
        Answer::data(&slot)
    }

    fn put(&self, request: &SeenRequest) -> Answer {
        match self.lock().get_mut(name(request)) {
            Some(file) if file.bytes.is_empty() => {
                file.bytes = request.body.clone();
                Answer::data(&())
            }
            Some(_) => Answer::error(403, "the slot was used"),
            None => Answer::error(401, "no such slot"),
        }
    }

    fn get(&self, request: &SeenRequest) -> Answer {
        match self.lock().get(name(request)) {
            Some(file) if !file.bytes.is_empty() => Answer::asset(file),
            _ => Answer::error(404, "no such file"),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Asset>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn name(request: &SeenRequest) -> &str {
    request.path.rsplit('/').next().unwrap_or_default()
}
