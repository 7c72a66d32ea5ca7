//! What travels in bodies: typed, tolerant on reading, exact on writing.
//!
//! Serde and a date-time type, nothing else. No model knows how it is sent. All
//! of them tolerate fields they do not know, so that the service may grow.

mod id;
mod open_enum;
mod time;

mod page;
mod problem;

mod generation;
mod key;
mod prompt;
mod upload;
mod vault;

#[cfg(feature = "client")]
pub(crate) use generation::OutputHint;
pub use generation::{GenerationJob, GenerationState, GenerationStatus, GenerationType};
pub use id::{JobId, ParseIdError, PromptId, VaultId, VaultPromptId};
pub use key::Scope;
pub use open_enum::UnknownValue;
pub use page::{Cursor, Page};
pub use problem::{FieldErrors, Problem};
pub use prompt::{Prompt, PromptImage, PromptStatus, PromptType, VaultPrompt};
pub use time::Timestamp;
pub use upload::{AssetUrl, ImageContentType, UploadSlot, UploadToken, UploadUrl};
pub use vault::{AddedPrompts, Deleted, MovedPrompt, PinState, RemovedPrompt, Vault, Visibility};
