//! Outputs of providers, and storing them as assets.
//!
//! An output that is downloaded goes through a temporary file: however large it is and however
//! slowly it comes, it takes little memory.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::media;
use crate::blobs::asset_url::Assets;
use crate::blobs::{BlobError, Blobs, PutError, ReadSeek, Upload};
use crate::clock::Clock;
use crate::domain::{
    AccountId, AssetName, ImageRef, JobRecord, Media, PromptImage, ProviderTicket, SigningKey,
};
use crate::limits::{
    LARGE_OUTPUTS_MAX, LARGE_OUTPUTS_PER_ACCOUNT, OUTPUT_BYTES_FREE, OUTPUT_EXAMINATIONS_MAX,
    OUTPUT_RATE_MIN, OUTPUT_STALL_TIMEOUT,
};
use crate::quota::{Permit, Quota};

/// One image or video.
#[derive(Clone, Debug)]
pub enum Output {
    /// A file in memory.
    File(MediaFile),
    /// A file to be downloaded. Its bytes tell its type and its size in pixels.
    Remote(RemoteOutput),
}

/// An image or video in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaFile {
    /// The file.
    pub bytes: Bytes,
    /// Its type.
    pub media: Media,
    /// In pixels; at least 1.
    pub width: u32,
    /// In pixels; at least 1.
    pub height: u32,
}

/// A file to be downloaded.
#[derive(Clone)]
pub struct RemoteOutput {
    /// Width and height in pixels, used if the file does not tell.
    pub size: Option<(u32, u32)>,
    /// Starts the download when the stream is read.
    pub open: Arc<dyn Fn() -> OutputStream + Send + Sync>,
}

/// The bytes of an output.
pub type OutputStream = BoxStream<'static, Result<Bytes, OutputError>>;

/// Why an output, or a response of the provider, cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutputError {
    /// It may succeed later.
    #[error(transparent)]
    Transient(#[from] PollError),
    /// It never will, for this reason, which the caller is shown.
    #[error("{0}")]
    Permanent(String),
}

/// Why a poll failed; for the log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the provider could not be polled: {cause}")]
pub struct PollError {
    /// What happened.
    pub cause: String,
    /// `Retry-After` of the provider.
    pub retry_after: Option<Duration>,
}

impl PollError {
    /// A failure without `Retry-After`.
    pub fn new(cause: impl Into<String>) -> Self {
        Self { cause: cause.into(), retry_after: None }
    }
}

impl fmt::Debug for RemoteOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteOutput").field("size", &self.size).finish_non_exhaustive()
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

/// Limits of downloaded outputs.
#[derive(Clone)]
pub(crate) struct OutputLimits {
    pub(super) bytes_max: u64,
    /// [`OUTPUT_STALL_TIMEOUT`]; shorter in tests.
    pub(super) stall_timeout: Duration,
    pub(crate) examinations: Quota,
    /// For outputs of more than [`OUTPUT_BYTES_FREE`].
    pub(crate) large: Quota,
}

impl OutputLimits {
    pub(crate) fn new(mib_max: usize) -> Self {
        Self {
            bytes_max: (mib_max as u64) << 20,
            stall_timeout: OUTPUT_STALL_TIMEOUT,
            examinations: Quota::new(
                "output_examinations",
                "the memory to examine outputs",
                OUTPUT_EXAMINATIONS_MAX,
                OUTPUT_EXAMINATIONS_MAX / 2,
            ),
            large: Quota::new(
                "large_outputs",
                "the disk for large outputs",
                LARGE_OUTPUTS_MAX,
                LARGE_OUTPUTS_PER_ACCOUNT,
            ),
        }
    }
}

/// What a job waits for, told as it changes.
pub(super) type WaitsFor = watch::Sender<&'static str>;

pub(super) const DOWNLOAD: &str = "the download of its output";
const PLACE: &str = "other large outputs, of which few are downloaded at once";

/// Why an output was not stored.
#[derive(Debug, thiserror::Error)]
pub(super) enum SaveError {
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Storage(#[from] BlobError),
}

impl OutputStore {
    /// Stores one output of a job. Its URL is the same for each call with the same job, ticket and
    /// index. After an error nothing of it is visible.
    pub(super) async fn put(
        &self,
        job: &JobRecord,
        ticket: &ProviderTicket,
        index: usize,
        output: Output,
        waits_for: &WaitsFor,
    ) -> Result<PromptImage, SaveError> {
        let (name, width, height, stored) = match output {
            Output::File(MediaFile { bytes, media, width, height }) => {
                let name = self.name(job, ticket, index, media);
                (name, width, height, self.blobs.put_new(&name, bytes).await)
            }
            Output::Remote(remote) => {
                let account = job.key.account;
                waits_for.send_replace(DOWNLOAD);
                let (mut file, _large) = self.download((remote.open)(), account, waits_for).await?;
                let (media, width, height) = {
                    let examinations = &self.limits.examinations;
                    let _permit = examinations.acquire(account, 1, Duration::MAX).await.ok();
                    let (kind, size) = (job.request.kind, remote.size);
                    let examine =
                        move |file: &mut (dyn ReadSeek + 'static)| media::examine(file, kind, size);
                    let examined = file.read(examine).await?;
                    examined.map_err(|reason| OutputError::Permanent(reason.to_owned()))?
                };
                let name = self.name(job, ticket, index, media);
                (name, width, height, file.finish(&name).await)
            }
        };
        match stored {
            // An earlier attempt has stored it.
            Ok(()) | Err(PutError::Taken) => {}
            Err(PutError::Failed(error)) => return Err(error.into()),
        }
        let source = ImageRef::Asset(name);
        Ok(PromptImage { source, width, height, created_at: self.clock.now() })
    }

    fn name(
        &self,
        job: &JobRecord,
        ticket: &ProviderTicket,
        index: usize,
        media: Media,
    ) -> AssetName {
        let (account, name, id) = (job.key.account.0, &job.key.client_job_id, &ticket.request_id);
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
    ) -> Result<(Upload, Option<Permit>), SaveError> {
        let OutputLimits { bytes_max, stall_timeout, .. } = self.limits;
        let (mut file, mut received, mut permit) = (self.blobs.upload(), 0, None);
        let mut slow = Instant::now() + stall_timeout;
        loop {
            let deadline = slow.min(Instant::now() + stall_timeout);
            let Ok(next) = timeout_at(deadline, bytes.next()).await else {
                let cause = format!("an output: too slow, after {received} bytes");
                return Err(OutputError::from(PollError::new(cause)).into());
            };
            let Some(piece) = next.transpose()? else { return Ok((file, permit)) };
            received += piece.len() as u64;
            if received > bytes_max {
                let reason = format!("an output is larger than {} MiB", bytes_max >> 20);
                return Err(OutputError::Permanent(reason).into());
            }
            if received > OUTPUT_BYTES_FREE && permit.is_none() {
                let began = Instant::now();
                let mut free = pin!(self.limits.large.acquire(account, 1, Duration::MAX));
                let at_once = free.as_mut().now_or_never();
                permit = match at_once {
                    Some(permit) => permit.ok(),
                    None => {
                        waits_for.send_replace(PLACE);
                        let permit = free.await;
                        waits_for.send_replace(DOWNLOAD);
                        permit.ok()
                    }
                };
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
            (stream::iter([Err(PollError::new("broken").into())]).boxed(), Err("broken")),
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
