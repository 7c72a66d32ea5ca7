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
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::store::job::Ticket;

/// What is to be made: a checked request, without what the service alone needs.
///
/// Its JSON is kept in databases and read by servers of other versions, so a field
/// keeps its name and its meaning, and one that is missing has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Order {
    /// The model's endpoint at the provider.
    pub model_id: Box<str>,
    /// At most 100000 characters.
    pub prompt: Box<str>,
    /// What comes out.
    pub kind: OutputKind,
    /// At most 100000 characters.
    pub negative_prompt: Option<Box<str>>,
    /// A source image.
    pub image_input: Option<Box<str>>,
    /// At most 7 source images.
    pub image_inputs: Vec<Box<str>>,
    /// Such as `16:9`.
    pub aspect_ratio: Box<str>,
    /// 1 to 4 outputs.
    pub batch_count: u32,
    /// Keys of the model, passed through.
    pub parameters: Option<Map<String, Value>>,
    /// At most 7 images to go by.
    pub reference_image_urls: Vec<Box<str>>,
    /// The endpoint of an editing model to be used on `image_input` instead.
    pub image_edit_endpoint_id: Option<Box<str>>,
}

/// What comes out of a generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputKind {
    /// `image`
    #[default]
    Image,
    /// `video`
    Video,
}

impl OutputKind {
    /// The value on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Video => "video",
        }
    }
}

/// Makes images and videos.
#[async_trait]
pub trait Provider: Send + Sync + 'static {
    /// Hands an order over.
    ///
    /// # Errors
    /// [`SubmitError`] says whether the order can have been taken.
    async fn submit(&self, order: &Order) -> Result<Ticket, SubmitError>;

    /// Asks how far an order is, and brings what came of it. Asking again
    /// changes nothing. Waits for no progress.
    ///
    /// # Errors
    /// If the provider could not be asked, or did not say. The order stands.
    async fn poll(&self, ticket: &Ticket, order: &Order) -> Result<Progress, PollError>;
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

/// The forms of file that are stored and served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// `image/png`
    Png,
    /// `image/jpeg`
    Jpeg,
    /// `image/webp`
    Webp,
    /// `image/gif`
    Gif,
    /// `video/mp4`
    Mp4,
    /// `video/webm`
    Webm,
}

impl Media {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Png, Self::Jpeg, Self::Webp, Self::Gif, Self::Mp4, Self::Webm];

    /// Its name in `Content-Type`.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Webp => "image/webp",
            Self::Gif => "image/gif",
            Self::Mp4 => "video/mp4",
            Self::Webm => "video/webm",
        }
    }

    /// The ending of its file names, without a dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
            Self::Webp => "webp",
            Self::Gif => "gif",
            Self::Mp4 => "mp4",
            Self::Webm => "webm",
        }
    }
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
