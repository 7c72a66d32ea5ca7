//! Generations: the interface of providers, submission, workers and outputs.
//!
//! A [`Provider`] generates images and videos. It knows neither the store nor the caller.
//! [`submit`] hands new jobs to it once, [`worker`] polls it and saves the outputs.

pub(crate) mod local;
pub(crate) mod queue;
pub(crate) mod submit;
#[cfg(test)]
mod tests;
pub(crate) mod worker;

use async_trait::async_trait;
use bytes::Bytes;
use promptarium::VaultId;
use sha2::{Digest, Sha256};

use self::submit::Submitter;
use self::worker::WorkerPool;
use crate::blobs::asset_url::Assets;
use crate::blobs::{AssetName, BlobError, Blobs, PutError};
use crate::domain::{GenerationRequest, JobRecord, Media, ProviderTicket, SigningKey};
use crate::limits::PROVIDER_REASON_CHARS_MAX;

/// Generates images and videos.
#[async_trait]
pub trait Provider: Send + Sync + 'static {
    /// Submits a request.
    ///
    /// # Errors
    /// [`SubmitError`] says whether the provider can have accepted the request.
    async fn submit(&self, request: &GenerationRequest) -> Result<ProviderTicket, SubmitError>;

    /// Returns the progress of a request, with its outputs once it is completed. Does not wait
    /// for progress. Repeating it changes nothing.
    ///
    /// # Errors
    /// If the provider gave no usable response. The request is still valid.
    async fn poll(
        &self,
        ticket: &ProviderTicket,
        request: &GenerationRequest,
    ) -> Result<Progress, PollError>;
}

/// The progress of a request.
#[derive(Clone, Debug)]
pub enum Progress {
    /// In the provider's queue.
    Queued,
    /// Being generated.
    InProgress,
    /// Done, with at least one output.
    Completed(Vec<Output>),
    /// Ended without output, for this reason.
    Failed(String),
}

/// One image or video.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The file.
    pub bytes: Bytes,
    /// Its type.
    pub media: Media,
    /// In pixels; at least 1.
    pub width: u32,
    /// In pixels; at least 1.
    pub height: u32,
}

/// Why a submission failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// The provider refused the request, for this reason.
    #[error("the provider refused the generation: {0}")]
    Refused(String),
    /// The provider certainly did not accept the request: it could not be reached, or is busy.
    #[error("the provider cannot be reached")]
    Unavailable(String),
    /// The provider may have accepted the request, which must not be submitted again.
    #[error("the provider did not say whether it took the generation")]
    Unknown(String),
}

/// Why a poll failed; for the log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the provider could not be polled: {0}")]
pub struct PollError(pub String);

/// Stores outputs as assets, where clients can download them.
#[derive(Clone)]
pub(crate) struct OutputStore {
    pub(crate) blobs: Blobs,
    pub(crate) assets: Assets,
    /// URLs cannot be guessed without it.
    pub(crate) key: SigningKey,
}

impl OutputStore {
    /// Stores one output of a job and returns its URL, which is the same for each call with the
    /// same job, ticket and index. After an error nothing of it is visible.
    async fn put(
        &self,
        job: &JobRecord,
        ticket: &ProviderTicket,
        index: usize,
        output: &Output,
    ) -> Result<Box<str>, BlobError> {
        let (account, name, id) = (job.key.account.0, &job.key.client_job_id, &ticket.request_id);
        // A memory store assigns the same account ids at each start, and a name may be used again.
        let created = job.created_at.as_microsecond();
        let context = format!("{account} {created} {index} {id:?} {name:?}");
        let name = AssetName::derived(&self.key, context.as_bytes(), output.media);
        match self.blobs.put_new(&name, output.bytes.clone()).await {
            // An earlier attempt has stored it.
            Ok(()) | Err(PutError::Taken) => Ok(self.assets.url_of(&name).into()),
            Err(PutError::Failed(error)) => Err(error),
        }
    }
}

/// What a server does for generations outside of requests.
pub struct BackgroundTasks {
    pub submitter: Submitter,
    pub workers: WorkerPool,
}

impl BackgroundTasks {
    /// Waits until submissions in progress are recorded and workers have released their jobs.
    pub async fn stop(self) {
        tokio::join!(self.submitter.finish(), self.workers.stop());
    }
}

/// SHA-256 of a request and its vault. Equal requests have equal digests however their JSON was
/// written, because keys are sorted (S-36). Stored with jobs: if the encoding changes, a repeated
/// request conflicts with a job from before the change.
pub(crate) fn request_digest(request: &GenerationRequest, vault: Option<VaultId>) -> [u8; 32] {
    #[expect(clippy::expect_used, reason = "only keys that are no strings fail to serialize")]
    let json = serde_json::to_vec(&(request, vault)).expect("a request is JSON");
    Sha256::digest(json).into()
}

/// The model of a request: the editing one if there is an image to edit.
fn model(request: &GenerationRequest) -> &str {
    match (&request.image_edit_endpoint_id, &request.image_input) {
        (Some(endpoint), Some(_)) => endpoint,
        _ => &request.model_id,
    }
}

/// A provider's reason as it is stored and shown: bounded, not empty, without U+0000.
fn bounded_reason(reason: &str) -> String {
    let text: String =
        reason.trim().chars().filter(|c| *c != '\0').take(PROVIDER_REASON_CHARS_MAX).collect();
    if text.is_empty() { "it gave no reason".to_owned() } else { text }
}
