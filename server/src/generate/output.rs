//! Outputs of providers, and storing them as assets.
//!
//! An output goes through a temporary file, so it takes little memory however large it is and however
//! slowly it arrives.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::media;
use crate::blobs::asset_url::Assets;
use crate::blobs::{BlobError, Blobs, Upload};
use crate::clock::Clock;
use crate::domain::{AccountId, AssetName, ImageRef, JobRecord, Media, PromptImage, SigningKey};
use crate::limits::{
    LARGE_OUTPUTS_MAX, LARGE_OUTPUTS_PER_ACCOUNT, OUTPUT_BYTES_FREE, OUTPUT_RATE_MIN,
    OUTPUT_STALL_TIMEOUT,
};
use crate::quota::{Permit, Quota};

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

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").field("size", &self.size).finish_non_exhaustive()
    }
}

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
    /// The request has failed, or the output can never be used, for this reason, which the caller is
    /// shown.
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

impl From<BlobError> for PollError {
    fn from(error: BlobError) -> Self {
        Self::transient(error.to_string())
    }
}

/// Stores outputs as assets, where clients can download them.
#[derive(Clone)]
pub(crate) struct OutputStore {
    pub(crate) blobs: Blobs,
    /// Writes the URLs that a provider gets.
    pub(crate) assets: Assets,
    /// URLs cannot be guessed without it.
    pub(crate) key: SigningKey,
    /// Dates images.
    pub(crate) clock: Clock,
    pub(crate) limits: OutputLimits,
}

/// Limits of outputs.
#[derive(Clone)]
pub(crate) struct OutputLimits {
    pub(super) bytes_max: u64,
    /// [`OUTPUT_STALL_TIMEOUT`]; shorter in tests.
    pub(super) stall_timeout: Duration,
    /// For outputs of more than [`OUTPUT_BYTES_FREE`].
    pub(crate) large: Quota,
}

impl OutputLimits {
    pub(crate) fn new(mib_max: usize) -> Self {
        let (most, share) = (LARGE_OUTPUTS_MAX, LARGE_OUTPUTS_PER_ACCOUNT);
        Self {
            bytes_max: (mib_max as u64) << 20,
            stall_timeout: OUTPUT_STALL_TIMEOUT,
            large: Quota::new("large_outputs", "the disk for large outputs", most, share),
        }
    }
}

/// What a job waits for, told as it changes.
pub(super) type WaitsFor = watch::Sender<&'static str>;

pub(super) const DOWNLOAD: &str = "the download of its output";
const LARGE: &str = "other large outputs, of which few are downloaded at once";

impl OutputStore {
    /// Stores one output of a job. Its URL is the same for each call with the same job and index.
    /// After an error nothing of it is visible.
    pub(super) async fn put(
        &self,
        job: &JobRecord,
        index: usize,
        output: Output,
        waits_for: &WaitsFor,
    ) -> Result<PromptImage, PollError> {
        let (account, kind, size) = (job.key.account, job.request.kind, output.size);
        let (mut file, _permit) = self.download(output.bytes, account, waits_for).await?;
        let examined = file.read(move |file| media::examine(file, kind, size)).await?;
        let (media, width, height) = examined.map_err(PollError::permanent)?;
        let name = self.name(job, index, media);
        // If the name is taken, an earlier attempt has stored it.
        let _is_new = file.finish(&name).await?;
        let source = ImageRef::Asset(name);
        Ok(PromptImage { source, width, height, created_at: self.clock.now() })
    }

    fn name(&self, job: &JobRecord, index: usize, media: Media) -> AssetName {
        let (account, name) = (job.key.account.0, &job.key.client_job_id);
        let id = job.state.ticket().map_or("", |ticket| &*ticket.request_id);
        // A memory store assigns the same account ids at each start, and a name may be used again.
        let created = job.created_at.as_microsecond();
        let context = format!("{account} {created} {index} {id:?} {name:?}");
        AssetName::derived(&self.key, context.as_bytes(), media)
    }

    /// Downloads into a temporary file, with a permit if it is large. A download that pauses, or
    /// that is slow on the whole, is given up.
    async fn download(
        &self,
        mut bytes: OutputStream,
        account: AccountId,
        waits_for: &WaitsFor,
    ) -> Result<(Upload, Option<Permit>), PollError> {
        let OutputLimits { bytes_max, stall_timeout, large } = &self.limits;
        let (mut file, mut received, mut permit) = (self.blobs.upload(), 0, None);
        let mut slow = Instant::now() + *stall_timeout;
        waits_for.send_replace(DOWNLOAD);
        loop {
            let deadline = slow.min(Instant::now() + *stall_timeout);
            let Ok(next) = timeout_at(deadline, bytes.next()).await else {
                let cause = format!("an output: too slow, after {received} bytes");
                return Err(PollError::transient(cause));
            };
            let Some(piece) = next.transpose()? else { return Ok((file, permit)) };
            received += piece.len() as u64;
            if received > *bytes_max {
                let reason = format!("an output is larger than {} MiB", bytes_max >> 20);
                return Err(PollError::Permanent(reason));
            }
            if received > OUTPUT_BYTES_FREE && permit.is_none() {
                let began = Instant::now();
                waits_for.send_replace(LARGE);
                permit = large.acquire(account, 1, Duration::MAX).await.ok();
                waits_for.send_replace(DOWNLOAD);
                slow += began.elapsed();
            }
            slow += Duration::from_secs(1).mul_f64(piece.len() as f64 / OUTPUT_RATE_MIN as f64);
            file.write(&piece).await?;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::stream;
    use tokio::time::sleep;

    use super::*;
    use crate::generate::tests::output_store;

    /// A stream of pieces of this size, so far apart.
    fn pieces(count: usize, bytes: usize, apart: Duration) -> OutputStream {
        let piece = move |_| async move {
            sleep(apart).await;
            Ok(Bytes::from(vec![7; bytes]))
        };
        stream::iter(0..count).then(piece).boxed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_download_may_be_slow_but_not_stall_or_drip_and_has_a_largest_size() {
        let (mib, second) = (1 << 20, Duration::from_secs(1));
        for (bytes, outcome) in [
            (pieces(60, mib, second * 3), Ok(())),
            // Each pause is the longest, and the whole is too slow.
            (pieces(100, 1000, second * 59), Err("too slow, after 1000 bytes")),
            (pieces(10_000, 1, second / 10), Err("too slow, after 600 bytes")),
            (pieces(1, 1, second * 61), Err("too slow, after 0 bytes")),
            (pieces(100, mib, second / 100), Err("an output is larger than 60 MiB")),
            (stream::iter([Err(PollError::transient("broken"))]).boxed(), Err("broken")),
        ] {
            let limits = OutputLimits::new(60);
            let store = OutputStore { limits, ..output_store(Blobs::in_memory()) };
            match (store.download(bytes, AccountId(1), &WaitsFor::new("")).await, outcome) {
                (Ok(_), Ok(())) => {}
                (Err(error), Err(text)) => assert!(error.to_string().contains(text), "{error}"),
                (outcome, expected) => panic!("{expected:?}: {:?}", outcome.err()),
            }
        }
    }
}
