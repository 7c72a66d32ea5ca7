//! Pictures, by their addresses.

use data_encoding::BASE64;
use promptarium::{Asset, Prompt};
use rmcp::ErrorData;
use rmcp::model::{CacheScope, ReadResourceResult, Resource, ResourceContents};
use url::Url;

use super::{Answer, Library, protocol_error};
use crate::failure::Result;

/// The largest picture that is sent to a client.
const BYTES_MAX: u64 = 10 * 1024 * 1024;

pub(super) fn pictures(prompt: &Prompt) -> impl Iterator<Item = Resource> {
    let pictures = prompt.images.iter().enumerate();
    pictures.map(|(number, image)| {
        let title = format!("{} ({})", prompt.title, number + 1);
        Resource::new(image.url.as_str(), title.clone()).with_title(title)
    })
}

impl Library {
    /// A picture that was named to the client, or is at the server itself. Nothing else is read: a
    /// client could be talked into requests to any host.
    pub(super) async fn picture(&self, uri: &str) -> Answer<ReadResourceResult> {
        let is_known = self.pictures.lock().is_ok_and(|pictures| pictures.contains(uri));
        let origin = |url: &str| Url::parse(url).map(|url| url.origin()).ok();
        let is_own = origin(uri).is_some_and(|it| Some(it) == origin(self.client.base_url()));
        if !is_known && !is_own {
            return Err(ErrorData::resource_not_found("no prompt has this picture", None));
        }
        let asset = self.download(uri).await.map_err(protocol_error)?;
        let contents = ResourceContents::blob(BASE64.encode(&asset.bytes), uri);
        let contents =
            contents.with_mime_type(asset.content_type.unwrap_or_else(|| "image/png".into()));
        Ok(ReadResourceResult::new(vec![contents]).with_cache_scope(CacheScope::Private))
    }

    pub(super) async fn download(&self, url: &str) -> Result<Asset> {
        Ok(self.client.assets().download(url).max_size(BYTES_MAX).await?)
    }
}
