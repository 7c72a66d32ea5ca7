//! The types of request and response bodies. All of them ignore unknown fields.

mod id;
mod open_enum;

mod generation;
mod page;
mod prompt;
mod upload;
mod vault;

use std::borrow::Cow;

use jiff::civil::DateTime;
use jiff::tz::Offset;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

#[doc(no_inline)]
pub use jiff::Timestamp;

pub use generation::{GenerationJob, GenerationState, GenerationStatus, GenerationType};
#[cfg(feature = "client")]
pub(crate) use generation::{OutputHint, message, text};
pub use id::{JobId, PromptId, VaultId, VaultPromptId};
pub use open_enum::UnknownValue;
pub use page::{Cursor, Page};
pub use prompt::{Prompt, PromptImage, PromptStatus, PromptType, VaultPrompt};
#[cfg(feature = "client")]
pub(crate) use upload::without_credentials;
pub use upload::{AssetUrl, ImageContentType, UploadSlot, UploadToken, UploadUrl};
pub use vault::{AddedPrompts, Deleted, MovedPrompt, PinState, RemovedPrompt, Vault, Visibility};

/// Reads a timestamp, which the specification calls only an ISO 8601 string: with any offset and
/// any number of fractional digits. A missing offset means UTC.
fn timestamp<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    let text = Cow::<'de, str>::deserialize(deserializer)?;
    let parsed = text.parse().or_else(|strict| {
        // The error is that of the strict form, which services should send.
        let civil: DateTime = text.parse().map_err(|_| strict)?;
        Offset::UTC.to_timestamp(civil)
    });
    parsed.map_err(|error| D::Error::custom(format!("not an ISO 8601 timestamp: {error}")))
}

/// STUB until merge.
#[cfg(feature = "client")]
pub(crate) fn without_bom(json: &[u8]) -> &[u8] {
    json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json)
}
#[cfg(feature = "client")]
pub(crate) fn repaired(_: &[u8]) -> Option<Vec<u8>> {
    None
}
