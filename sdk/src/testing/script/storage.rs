//! The storage of a script: upload slots and assets.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::{Answer, Script, SeenRequest};
use crate::testing::{ASSETS_URL, STORAGE_URL, fixture};
use crate::{ImageContentType, path};

/// Files by the last segment of their URLs.
#[derive(Clone, Default)]
struct Files(Arc<Mutex<HashMap<String, Stored>>>);

#[derive(Clone, Default)]
struct Stored {
    content_type: String,
    /// `None` before the upload.
    bytes: Option<Bytes>,
}

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
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), promptarium::Error> {
    /// let script = Script::new();
    /// script.storage();
    /// let client = client(&script);
    /// let image = client.uploads().image(fixture::png()).await?;
    /// assert_eq!(client.assets().download(&image.url).await?.bytes, fixture::png());
    /// # Ok(())
    /// # }
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
        let (body, mut slot) = (request.json(), fixture::upload_slot());
        let content_type = body["contentType"].as_str().unwrap_or_default().to_owned();
        let extension = content_type.rsplit('/').next().unwrap_or_default().to_owned();
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = format!("{}.{extension}", files.len() + 1);
        slot.upload_url = fixture::upload_url(&name);
        slot.url = format!("{ASSETS_URL}/{name}").into();
        slot.path = format!("images/{name}");
        slot.content_type = ImageContentType::from(content_type.as_str());
        slot.size = body["size"].as_u64().unwrap_or_default();
        files.insert(name, Stored { content_type, bytes: None });
        Answer::data(&slot)
    }

    fn put(&self, request: &SeenRequest) -> Answer {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match files.get_mut(name(request)) {
            Some(stored) if stored.bytes.is_none() => {
                stored.bytes = Some(request.body.clone());
                Answer::data(&())
            }
            Some(_) => Answer::error(403, "the slot was used"),
            None => Answer::error(401, "no such slot"),
        }
    }

    fn get(&self, request: &SeenRequest) -> Answer {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match files.get(name(request)) {
            Some(Stored { content_type, bytes: Some(bytes) }) => {
                Answer::raw(200, content_type, bytes.clone())
            }
            _ => Answer::error(404, "no such file"),
        }
    }
}

fn name(request: &SeenRequest) -> &str {
    request.path.rsplit('/').next().unwrap_or_default()
}
