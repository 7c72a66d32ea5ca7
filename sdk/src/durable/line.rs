//! The lines of the file.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::step::Kind;
use crate::model::{JobId, Timestamp};
use crate::resources::uploads::UploadedImage;

/// The first line, by which another file is recognized.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Header {
    /// The version of the format.
    pub(super) promptarium_journal: u32,
    pub(super) base_url: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Line {
    /// The call will be sent.
    Begin {
        key: String,
        kind: Kind,
        /// What the call sends, without URLs.
        content: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        job: Option<JobId>,
        at: Timestamp,
    },
    /// The bytes will be sent to the slot of this image.
    Slot { key: String, image: UploadedImage },
    /// The service carried it out, with this result.
    Done { key: String, value: Value },
    /// The service did not carry it out.
    NotDone { key: String },
}
