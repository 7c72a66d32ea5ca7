//! Generations: media an external model makes, and how far a job has come.

mod status;

use serde::{Deserialize, Serialize};

use crate::model::JobId;
use crate::model::open_enum::open_enum;
pub use status::GenerationStatus;

open_enum! {
    /// What a generation makes.
    #[derive(Default)]
    GenerationType {
        /// Pictures: what a generation makes unless it says otherwise.
        #[default]
        Image = "image",
        /// Videos.
        Video = "video",
    }
}

open_enum! {
    /// How far a job has come. The specification shows `completed`; the others are
    /// those of the reference server.
    GenerationState {
        /// Waiting for its turn.
        Queued = "queued",
        /// The model is at work.
        InProgress = "in_progress",
        /// Done; the output is in the target vault.
        Completed = "completed",
        /// Given up; there is no output.
        Failed = "failed",
    }
}

impl GenerationState {
    /// Whether the job stays as it is from now on. An unknown state does not count
    /// as final.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }

    /// Whether the output is in the target vault.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        matches!(self, Self::Completed)
    }
}

/// A generation was queued. Its output appears in the target vault later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GenerationJob {
    /// `true`.
    pub success: bool,
    /// Names the job: the caller's own id, or a UUID the service made.
    pub client_job_id: JobId,
    /// Names the request at the external model provider.
    pub provider_request_id: String,
    /// Where the job can be polled.
    pub status_url: String,
}

impl From<GenerationJob> for JobId {
    fn from(job: GenerationJob) -> Self {
        job.client_job_id
    }
}

impl From<&GenerationJob> for JobId {
    fn from(job: &GenerationJob) -> Self {
        job.client_job_id.clone()
    }
}
