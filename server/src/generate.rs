//! Generations: the interface of providers, submission, workers and outputs.
//!
//! A [`Provider`] generates images and videos. It knows neither the store nor the caller.
//! [`submit`] hands new jobs to it once, [`worker`] polls it and saves the outputs.

pub(crate) mod local;
pub(crate) mod media;
pub(crate) mod queue;
pub(crate) mod scene;
pub(crate) mod submit;
#[cfg(test)]
mod tests;
pub(crate) mod worker;

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use promptarium::VaultId;
use sha2::{Digest, Sha256};

use crate::blobs::BlobError;
use crate::domain::{GenerationRequest, ProviderTicket, debug_only};
use crate::limits::{
    JOB_KEEP_DAYS, JOB_RETRY_HOURS, OUTPUT_MAX_MIB, PROVIDER_REASON_CHARS_MAX, WORKERS_DEFAULT,
};

/// Generates images and videos.
#[async_trait]
pub trait Provider: Send + Sync + 'static {
    /// Submits a request.
    ///
    /// # Errors
    /// [`SubmitError`] says whether the provider can have accepted the request.
    async fn submit(&self, request: &GenerationRequest) -> Result<ProviderTicket, SubmitError>;

    /// Returns the progress of a request, with its outputs once it is completed. Does not wait for
    /// progress. Can be repeated.
    ///
    /// # Errors
    /// [`PollError::Permanent`] if the request ended without output; [`PollError::Transient`] if
    /// the provider gave no usable response. The request is still valid then.
    async fn poll(
        &self,
        ticket: &ProviderTicket,
        request: &GenerationRequest,
    ) -> Result<Progress, PollError>;

    /// Tells the provider that the outputs of a request are not wanted any more.
    ///
    /// # Errors
    /// If the provider did not confirm it. Nothing is retried.
    async fn cancel(&self, _ticket: &ProviderTicket) -> Result<(), PollError> {
        Ok(())
    }
}

/// The progress of a request.
#[derive(Debug)]
pub enum Progress {
    /// In the provider's queue.
    Queued,
    /// Being generated.
    InProgress,
    /// Done.
    Completed {
        /// At least one.
        outputs: Vec<Output>,
        /// Stored in the ticket in place of the one before. With it a poll gives the outputs even
        /// if the provider has deleted the result.
        provider_state: Option<Box<str>>,
    },
}

impl Progress {
    /// Done, and the `provider_state` stays as it is.
    pub fn completed(outputs: impl IntoIterator<Item = Output>) -> Self {
        Self::Completed { outputs: outputs.into_iter().collect(), provider_state: None }
    }
}

/// One image or video. Its bytes tell its type and its size in pixels.
pub struct Output {
    /// Width and height in pixels, used if the bytes do not tell.
    pub size: Option<(u32, u32)>,
    /// A download starts when the stream is first read.
    pub bytes: OutputStream,
}

/// The bytes of an output.
pub type OutputStream = BoxStream<'static, Result<Bytes, PollError>>;

impl From<Bytes> for Output {
    fn from(bytes: Bytes) -> Self {
        Self { size: None, bytes: stream::iter([Ok(bytes)]).boxed() }
    }
}

debug_only! { Output { size } }

/// Why a poll gave no progress, or an output cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PollError {
    /// It may succeed later. What happened is for the log.
    #[error("{cause}")]
    Transient {
        /// What happened.
        cause: String,
        /// `Retry-After` of the provider.
        retry_after: Option<Duration>,
    },
    /// It may succeed within minutes. If it does not, the request has failed, or the output is
    /// lost, for this reason, which the caller is shown.
    #[error("{0}")]
    Doubtful(String),
    /// The provider refuses this service, for this reason: its key, its account or its balance. It
    /// may succeed later.
    #[error("{0}")]
    NotAuthorized(String),
    /// The request has failed, or the output can never be used, for this reason, which the caller
    /// is shown.
    #[error("{0}")]
    Permanent(String),
}

impl PollError {
    /// A failure that may pass, without `Retry-After`.
    pub fn transient(cause: impl Into<String>) -> Self {
        Self::Transient { cause: cause.into(), retry_after: None }
    }

    /// A failure for a reason that is shown to the caller.
    pub fn permanent(reason: impl Into<String>) -> Self {
        Self::Permanent(reason.into())
    }
}

/// An output that is larger than `--output-max-mib`.
fn too_large(mib_max: usize) -> PollError {
    PollError::Permanent(format!("an output is larger than {mib_max} MiB"))
}

impl From<BlobError> for PollError {
    fn from(error: BlobError) -> Self {
        Self::transient(error.to_string())
    }
}

/// Why a submission failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// The provider refused the request, for this reason.
    #[error("the provider refused the generation: {0}")]
    Refused(String),
    /// The provider refused this service, for this reason: its key, its account or its balance.
    #[error("the provider does not accept requests of this service at the moment")]
    NotAuthorized(String),
    /// The provider certainly did not accept the request: it could not be reached, or is busy.
    #[error("the provider cannot be reached")]
    Unavailable(String),
    /// The provider did not accept the request, and asks not to be asked again for this long.
    #[error("the provider is busy")]
    Busy(String, Duration),
    /// The provider may have accepted the request, which must not be submitted again.
    #[error("the provider did not say whether it took the generation")]
    Unknown(String),
}

/// What an operator chooses for the processing of generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JobSettings {
    /// Jobs that are processed at once; 0 is allowed.
    pub workers: usize,
    /// A job fails when its attempts have failed for this many hours.
    pub retry_hours: usize,
    /// Ended jobs are deleted after this many days.
    pub keep_days: usize,
    /// MiB of the largest output that is downloaded.
    pub output_max_mib: usize,
}

impl Default for JobSettings {
    fn default() -> Self {
        Self {
            workers: WORKERS_DEFAULT,
            retry_hours: JOB_RETRY_HOURS,
            keep_days: JOB_KEEP_DAYS,
            output_max_mib: OUTPUT_MAX_MIB,
        }
    }
}

/// What became of generations, for the metrics.
pub(crate) type Outcomes = Family<[(&'static str, &'static str); 1], Counter>;

pub(crate) fn count(outcomes: &Outcomes, outcome: &'static str) {
    outcomes.get_or_create(&[("outcome", outcome)]).inc();
}

/// SHA-256 of a request and its vault, equal however their JSON was written, because keys are
/// sorted (S-36). Stored with jobs: in another encoding, a repeated request would conflict.
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

/// Width by height of a ratio such as `16:9` or `1.91:1`.
fn ratio(text: &str) -> Option<f64> {
    let side = |text: &str| text.parse().ok().filter(|side: &f64| side.is_normal() && *side > 0.0);
    let (width, height) = text.split_once(':')?;
    Some(side(width)? / side(height)?)
}

/// A provider's reason as it is stored and shown: bounded, not empty, without U+0000.
fn bounded_reason(reason: &str) -> String {
    let text: String =
        reason.trim().chars().filter(|c| *c != '\0').take(PROVIDER_REASON_CHARS_MAX).collect();
    if text.is_empty() { "the provider gave no reason".to_owned() } else { text }
}
