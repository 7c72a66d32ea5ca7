//! Pictures: as resources with their addresses, and generated ones.

use std::sync::{OnceLock, PoisonError};
use std::time::Duration;

use data_encoding::BASE64;
use promptarium::{AssetUrl, FinishedGeneration, GenerationStatus, JobId, Prompt};
use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, CallToolResult, ContentBlock, ProgressNotificationParam, ReadResourceResult,
    Resource, ResourceContents,
};
use serde_json::json;
use url::Url;

use super::{Answer, Library, Request, protocol_error};
use crate::failure::Result;
use crate::media::Order;

/// The largest picture that is sent to a client.
const BYTES_MAX: u64 = 10 * 1024 * 1024;
/// How long one call waits for pictures.
const WAIT: Duration = Duration::from_secs(300);

impl Library {
    /// The pictures of a prompt, which the client may read from now on.
    pub(super) fn pictures(&self, prompt: &Prompt) -> Vec<Resource> {
        let mut named = self.pictures.lock().unwrap_or_else(PoisonError::into_inner);
        named.extend(prompt.images.iter().map(|image| image.url.to_string()));
        let title = |number| format!("{} ({})", prompt.title, number + 1);
        let images = prompt.images.iter().enumerate();
        images.map(|(number, image)| Resource::new(image.url.as_str(), title(number))).collect()
    }

    /// A picture that was named to the client, or is at the server itself. Nothing else is read: a
    /// client could be talked into requests to any host.
    pub(super) async fn read_picture(&self, uri: &str) -> Answer<ReadResourceResult> {
        let is_named = self.pictures.lock().is_ok_and(|named| named.contains(uri));
        let origin = |url: &str| Url::parse(url).ok().map(|url| url.origin());
        if !is_named && origin(uri).is_none_or(|it| Some(it) != origin(self.client.base_url())) {
            let data = Some(json!({ "uri": uri }));
            return Err(ErrorData::resource_not_found("no prompt has this picture", data));
        }
        let (data, media_type) = self.download(&uri.into()).await.map_err(protocol_error)?;
        let contents = ResourceContents::blob(data, uri).with_mime_type(media_type);
        Ok(ReadResourceResult::new(vec![contents]).with_cache_scope(CacheScope::Private))
    }

    /// A picture in Base64, and its type.
    async fn download(&self, url: &AssetUrl) -> Result<(String, String)> {
        let asset = self.client.assets().download(url).max_size(BYTES_MAX).await?;
        let media_type = asset.content_type.unwrap_or_else(|| "image/png".to_owned());
        Ok((BASE64.encode(&asset.bytes), media_type))
    }

    /// Queues a generation, or waits again for the job of an earlier call.
    pub(super) async fn generate(&self, order: Order, context: &Request) -> Result<CallToolResult> {
        let (token, job) = (context.meta.get_progress_token(), OnceLock::new());
        let mut steps = 0.0;
        let on_change = |status: &GenerationStatus| {
            let (Some(token), peer) = (token.clone(), context.peer.clone()) else { return };
            steps += 1.0;
            let progress = ProgressNotificationParam::new(token, steps);
            let progress = progress.with_message(status.state.as_str());
            tokio::spawn(async move { peer.notify_progress(progress).await });
        };
        let id = || job.get().map_or("", JobId::as_str);
        let show = async |finished: FinishedGeneration| {
            finished.prompts.iter().for_each(|prompt| drop(self.pictures(prompt)));
            let mut content = vec![ContentBlock::text(format!("job {}", id()))];
            for image in finished.images() {
                let (data, media_type) = self.download(&image.url).await?;
                content.extend([
                    ContentBlock::text(image.url.as_str()),
                    ContentBlock::image(data, media_type),
                ]);
            }
            Ok(CallToolResult::success(content))
        };
        let shown = order.run(&self.client, &job, WAIT, on_change, show).await;
        shown.map_err(|failure| match id() {
            "" => failure,
            id => {
                failure.hint(format!("call generate_image with job \"{id}\" alone to wait again"))
            }
        })
    }
}
