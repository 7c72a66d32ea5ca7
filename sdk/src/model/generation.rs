//! Generations: images and videos made by a model provider.

mod status;

use serde::{Deserialize, Serialize};

use crate::model::JobId;
use crate::model::open_enum::open_enum;
#[cfg(feature = "client")]
use crate::model::{Timestamp, VaultId};
pub use status::GenerationStatus;

open_enum! {
    /// The type of the output.
    #[derive(Default)]
    GenerationType {
        /// Images, the default.
        #[default]
        Image = "image",
        /// Videos.
        Video = "video",
    }
}

open_enum! {
    /// The state of a job. The specification names `completed`; the others are those of the
    /// reference server.
    GenerationState {
        /// Not started.
        Queued = "queued",
        /// Running.
        InProgress = "in_progress",
        /// Finished; the output is in the target vault.
        Completed = "completed",
        /// Failed; there is no output.
        Failed = "failed",
    }
}

impl GenerationState {
    /// Whether the job has ended. An unknown state is not final.
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

/// A queued generation. Its output appears in the target vault later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GenerationJob {
    /// The id of the job: the caller's own, or a UUID.
    pub client_job_id: JobId,
    /// The id of the request at the model provider, if the service returned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_request_id: Option<String>,
    /// Where the status of the job can be polled, if the service returned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_url: Option<String>,
    /// How to find the output if the status of the job does not name it.
    #[cfg(feature = "client")]
    #[serde(skip)]
    pub(crate) output: OutputHint,
}

/// What a client knows of the output of a job before the job has ended.
#[cfg(feature = "client")]
#[derive(Debug, Clone, Default)]
pub(crate) struct OutputHint {
    pub(crate) vault: Option<VaultId>,
    pub(crate) text: Option<String>,
    /// The number of outputs.
    pub(crate) outputs: Option<u32>,
    /// When the job was sent first, by the clock of the client.
    pub(crate) since: Option<Timestamp>,
}

/// It is no part of the response, so jobs that differ in nothing else are equal.
#[cfg(feature = "client")]
impl PartialEq for OutputHint {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(feature = "client")]
impl Eq for OutputHint {}

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
