//! The types of request and response bodies. All of them ignore unknown fields.

mod id;
mod open_enum;
mod time;

mod page;
#[cfg_attr(not(feature = "client"), allow(dead_code, reason = "only the client reads errors"))]
mod problem;

mod generation;
mod prompt;
mod upload;
mod vault;

#[cfg(feature = "client")]
pub(crate) use generation::OutputHint;
pub use generation::{GenerationJob, GenerationState, GenerationStatus, GenerationType};
pub use id::{JobId, PromptId, VaultId, VaultPromptId};
pub use open_enum::UnknownValue;
pub use page::{Cursor, Page};
#[cfg(feature = "client")]
pub(crate) use problem::Problem;
pub use prompt::{Prompt, PromptImage, PromptStatus, PromptType, VaultPrompt};
pub use time::Timestamp;
#[cfg(feature = "client")]
pub(crate) use upload::without_credentials;
pub use upload::{AssetUrl, ImageContentType, UploadSlot, UploadToken, UploadUrl};
pub use vault::{AddedPrompts, Deleted, MovedPrompt, PinState, RemovedPrompt, Vault, Visibility};
