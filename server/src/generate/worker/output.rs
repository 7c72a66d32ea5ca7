//! Stores the outputs of a job as assets. An output goes through a temporary file, so it takes
//! little memory however large and slow it is.

use std::pin::pin;
use std::time::Duration;

use futures::{FutureExt, StreamExt};
use tokio::time::{Instant, timeout_at};

use super::{SAVE, Worker};
use crate::blobs::Upload;
use crate::domain::{AssetName, Claim, ImageRef, JobRecord, Media, PromptImage};
use crate::generate::{Output, OutputStream, PollError, media, too_large};
use crate::limits::{
    LARGE_OUTPUTS_MAX, LARGE_OUTPUTS_PER_ACCOUNT, OUTPUT_BYTES_FREE, OUTPUT_RATE_MIN,
    OUTPUT_STALL_TIMEOUT,
};
use crate::quota::{Permit, Quota};

pub(super) const DOWNLOAD: &str = "the download of its output";
const LARGE: &str = "other large outputs, of which few are downloaded at once";

/// For outputs of more than [`OUTPUT_BYTES_FREE`].
pub(crate) fn large_outputs() -> Quota {
    let (most, share) = (LARGE_OUTPUTS_MAX, LARGE_OUTPUTS_PER_ACCOUNT);
    Quota::new("large_outputs", "the disk for large outputs", most, share)
}

impl Worker {
    /// Stores one output of a job, under the same name for the same job and index, or nothing.
    pub(super) async fn put(
        &self,
        claim: &Claim,
        index: usize,
        output: Output,
    ) -> Result<PromptImage, PollError> {
        let (job, size) = (&claim.job, output.size);
        let (mut file, _permit) = self.download(claim, output.bytes).await?;
        let cut = PollError::Doubtful("an output is cut off".to_owned());
        // Some programs write files without their usual end, so it is kept in the end.
        if file.read(media::is_cut).await? && self.may_retry(claim, SAVE, &cut) {
            return Err(cut);
        }
        let kind = job.request.kind;
        let examined = file.read(move |file| media::examine(file, kind, size)).await?;
        let (media, width, height) = examined.map_err(PollError::permanent)?;
        let name = self.name(job, index, media);
        // If the name is taken, an earlier attempt has stored it.
        let _is_new = file.finish(&name).await?;
        let source = ImageRef::Asset(name);
        Ok(PromptImage { source, width, height, created_at: self.clock.now() })
    }

    pub(super) fn name(&self, job: &JobRecord, index: usize, media: Media) -> AssetName {
        let (account, name) = (job.key.account.0, &job.key.client_job_id);
        let id = job.state.ticket().map_or("", |ticket| &*ticket.request_id);
        // A memory store assigns the same account ids at each start, and a name may be used again.
        let created = job.created_at.as_microsecond();
        let context = format!("{account} {created} {index} {id:?} {name:?}");
        AssetName::derived(&self.key, context.as_bytes(), media)
    }

    /// Downloads into a temporary file, with a permit if it is large, unless it pauses or is slow.
    pub(super) async fn download(
        &self,
        claim: &Claim,
        mut bytes: OutputStream,
    ) -> Result<(Upload, Option<Permit>), PollError> {
        let bytes_max = (self.settings.output_max_mib as u64) << 20;
        let (mut file, mut received, mut permit) = (self.blobs.upload(), 0, None);
        let mut slow = Instant::now() + OUTPUT_STALL_TIMEOUT;
        loop {
            let deadline = slow.min(Instant::now() + OUTPUT_STALL_TIMEOUT);
            let Ok(next) = timeout_at(deadline, bytes.next()).await else {
                let cause = format!("an output: too slow, after {received} bytes");
                return Err(PollError::transient(cause));
            };
            let Some(piece) = next.transpose()? else { return Ok((file, permit)) };
            received += piece.len() as u64;
            if received > bytes_max {
                return Err(too_large(self.settings.output_max_mib));
            }
            if received > OUTPUT_BYTES_FREE && permit.is_none() {
                let mut taking = pin!(self.large.acquire(claim.job.key.account, 1, Duration::MAX));
                permit = taking.as_mut().now_or_never().and_then(Result::ok);
                if permit.is_none() {
                    let began = Instant::now();
                    // The heartbeat notices a lost lease.
                    let _ = self.note(claim, None, LARGE, true).await;
                    permit = taking.await.ok();
                    let _ = self.note(claim, None, DOWNLOAD, true).await;
                    slow += began.elapsed();
                }
            }
            slow += Duration::from_secs(1).mul_f64(piece.len() as f64 / OUTPUT_RATE_MIN as f64);
            file.write(&piece).await?;
        }
    }
}
