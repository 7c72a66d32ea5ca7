//! Generations: what is ordered, who makes it, and the work in between.
//!
//! A [`Provider`] is an outside service, or stands for one. It is asked to take
//! an order and later asked how far it is. It knows no store and no caller;
//! [`worker`] knows both and carries the outputs from one to the other.

pub mod digest;
pub mod intake;
pub mod local;
pub mod queue;
mod reason;
#[cfg(test)]
mod scripted;
pub mod setting;
pub mod worker;

use async_trait::async_trait;
use bytes::Bytes;

use crate::domain::{GenerationRequest, Media, ProviderTicket};

/// Makes images and videos.
#[async_trait]
pub trait Provider: Send + Sync + 'static {
    /// Hands an order over.
    ///
    /// # Errors
    /// [`SubmitError`] says whether the order can have been taken.
    async fn submit(&self, order: &GenerationRequest) -> Result<ProviderTicket, SubmitError>;

    /// Asks how far an order is, and brings what came of it. Asking again
    /// changes nothing. Waits for no progress.
    ///
    /// # Errors
    /// If the provider could not be asked, or did not say. The order stands.
    async fn poll(
        &self,
        ticket: &ProviderTicket,
        order: &GenerationRequest,
    ) -> Result<Progress, PollError>;
}

/// How far an order is.
#[derive(Clone, Debug)]
pub enum Progress {
    /// Waiting at the provider.
    Queued,
    /// Being worked on.
    AtWork,
    /// Done; at least one output.
    Completed(Vec<Output>),
    /// Ended without output; the reason, for a person.
    Failed(String),
}

/// One picture or video.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The file.
    pub bytes: Bytes,
    /// What it is.
    pub media: Media,
    /// In pixels; at least 1.
    pub width: u32,
    /// In pixels; at least 1.
    pub height: u32,
}

/// Why an order was not handed over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// The provider refused it; its reason, for a person.
    #[error("the provider refused the generation: {0}")]
    Refused(String),
    /// The provider certainly does not have it: it could not be reached, or
    /// said that it takes nothing now.
    #[error("the provider cannot be reached")]
    Unavailable(String),
    /// The provider may have it. It must not be handed over again.
    #[error("the provider did not say whether it took the generation")]
    Unknown(String),
}

/// Why a provider said nothing; for the log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the provider could not be asked: {0}")]
pub struct PollError(pub String);

#[cfg(test)]
mod tests;
