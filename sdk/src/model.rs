//! The types of request and response bodies. Models keep unknown fields.

mod declare;
mod id;
mod lenient;
#[cfg(feature = "client")]
mod repair;

mod generation;
mod prompt;
mod status;
mod upload;
mod variable;
mod vault;
#[cfg(feature = "webhook")]
mod webhook;

#[doc(no_inline)]
pub use jiff::Timestamp;

pub use declare::{ExtraFields, UnknownValue};
#[cfg(feature = "client")]
pub(crate) use generation::OutputHint;
pub use generation::{GenerationJob, GenerationState, GenerationType};
pub use id::{Cursor, JobId, Page, PromptId, VaultId, VaultPromptId, WebhookId};
pub use prompt::{Prompt, PromptImage, PromptStatus, PromptType, VaultPrompt};
#[cfg(feature = "client")]
pub(crate) use repair::parse;
pub use status::GenerationStatus;
#[cfg(feature = "client")]
pub(crate) use status::{letters, message, text};
#[cfg(feature = "client")]
pub(crate) use upload::without_credentials;
pub use upload::{AssetUrl, ImageContentType, UploadSlot, UploadToken, UploadUrl};
pub use variable::Variable;
pub use vault::{AddedPrompts, Deleted, MovedPrompt, PinState, RemovedPrompt, Vault, Visibility};
#[cfg(feature = "webhook")]
pub use webhook::{
    Webhook, WebhookAttempt, WebhookDelivery, WebhookDeliveryId, WebhookError, WebhookEvent,
    WebhookEventType, WebhookSecret,
};
