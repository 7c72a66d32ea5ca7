//! Generations: images and videos made by a model provider.

use serde::{Deserialize, Serialize};

use crate::model::declare::{model, open_enum};
use crate::model::{JobId, Timestamp, VaultId};

open_enum! {
    /// The type of the output.
    GenerationType {
        /// Images, the default.
        Image = "image",
        /// Videos.
        Video = "video",
    }
}

open_enum! {
    /// The state of a job. The specification names `completed`; the others are those of the
    /// reference server. In a [`GenerationStatus`](crate::GenerationStatus) they are matched
    /// whatever their case and separators.
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
    pub const fn is_final(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }

    /// Whether the output is in the target vault.
    pub const fn is_success(&self) -> bool {
        matches!(self, Self::Completed)
    }
}

model! {
    /// A queued generation. Its output appears in the target vault later.
    ///
    /// It can be stored as JSON and waited for in another process.
    pub struct GenerationJob {
        /// The id of the job: the caller's own, or a UUID.
        pub client_job_id: JobId,
        /// The id of the request at the model provider, if the service returned it.
        pub provider_request_id: Option<String>,
        /// Where the status of the job can be polled, if the service returned it.
        pub status_url: Option<String>,
        /// How to find the output if the status of the job does not name it, for the client.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub(crate) output_hint: Option<OutputHint>,
    }
}

/// What a client knows of the output of a job before the job has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OutputHint {
    pub(crate) vault_id: Option<VaultId>,
    pub(crate) prompt: Option<String>,
    pub(crate) batch_count: Option<u32>,
    /// The job was queued at this time at the earliest.
    pub(crate) earliest: Option<Timestamp>,
    /// The job was queued at this time at the latest.
    pub(crate) latest: Option<Timestamp>,
}

/// The clocks of client and service may differ by this much, if the service does not tell its time.
#[cfg(feature = "client")]
const CLOCK_SKEW: jiff::SignedDuration = jiff::SignedDuration::from_mins(5);

#[cfg(feature = "client")]
impl OutputHint {
    /// For a job that was sent at this time by the clock of this machine.
    pub(crate) fn sent_at(mut self, at: Timestamp) -> Self {
        self.earliest = at.checked_sub(CLOCK_SKEW).ok();
        self.latest = at.checked_add(CLOCK_SKEW).ok();
        self
    }
}
