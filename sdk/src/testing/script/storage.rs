//! The storage of a script: it hands out slots, takes what is sent to them and gives it
//! back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::{Answer, Script, SeenRequest};
use crate::testing::{ASSETS_URL, STORAGE_URL, fixture};
use crate::{ImageContentType, path};

/// Files by the last part of their addresses.
#[derive(Clone, Default)]
struct Files(Arc<Mutex<HashMap<String, Stored>>>);

#[derive(Clone, Default)]
struct Stored {
    content_type: String,
    /// None as long as only the slot is there.
    bytes: Option<Bytes>,
}

impl Script {
    /// Plays uploads and assets: `POST /uploads/images` gives a slot each time, what is
    /// sent to the slot is kept, once, and can be fetched at its address. None of it has
    /// to happen.
    ///
    /// What is to go wrong is said before, as for any path:
    /// `script.put(format!("{STORAGE_URL}/{{name}}")).answer(Answer::error(403, "too late"))`.
    ///
    /// ```
    /// use promptarium::UploadSource;
    /// use promptarium::testing::{Script, client, fixture};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), promptarium::Error> {
    /// let script = Script::new();
    /// script.storage();
    /// let client = client(&script);
    /// let image = client.uploads().image(UploadSource::bytes(fixture::png())).await?;
    /// assert_eq!(client.assets().get(&image.url).await?.bytes, fixture::png());
    /// # Ok(())
    /// # }
    /// ```
    pub fn storage(&self) {
        let files = Files::default();
        let (slots, kept) = (files.clone(), files.clone());
        self.post(path::UPLOADS_IMAGES).always_with(move |request| slots.slot(request));
        self.put(format!("{STORAGE_URL}/{{name}}")).always_with(move |request| kept.put(request));
        self.get(format!("{ASSETS_URL}/{{name}}")).always_with(move |request| files.get(request));
    }
}

impl Files {
    fn slot(&self, request: &SeenRequest) -> Answer {
        let (asked, mut slot) = (request.json(), fixture::upload_slot());
        let content_type = asked["contentType"].as_str().unwrap_or_default().to_owned();
        let ending = content_type.rsplit('/').next().unwrap_or_default().to_owned();
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = format!("{}.{ending}", files.len() + 1);
        slot.upload_url = fixture::upload_url(&name);
        slot.url = format!("{ASSETS_URL}/{name}").into();
        slot.path = format!("images/{name}");
        slot.content_type = ImageContentType::from(content_type.as_str());
        slot.size = asked["size"].as_u64().unwrap_or_default();
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
            Some(_) => Answer::error(403, "the slot was used already"),
            None => Answer::error(401, "there is no such slot"),
        }
    }

    fn get(&self, request: &SeenRequest) -> Answer {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match files.get(name(request)) {
            Some(Stored { content_type, bytes: Some(bytes) }) => {
                Answer::raw(200, content_type, bytes.clone())
            }
            _ => Answer::error(404, "there is no such file"),
        }
    }
}

/// Addresses have a last part each.
fn name(request: &SeenRequest) -> &str {
    request.path.rsplit('/').next().unwrap_or_default()
}
