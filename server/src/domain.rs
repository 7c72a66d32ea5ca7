//! What the service is about: ids, records, generation requests, names and keys.
//!
//! It is the lowest module. It knows no HTTP, no store and no provider, and imports
//! nothing else of this crate.

#![allow(missing_docs, reason = "a field has a comment if its name does not say all")]

mod api_key;
mod asset;
mod deployment;
mod generation;
mod records;
mod search;
mod session;

pub use self::api_key::{AccountId, Caller, KeyId, KeyRecord, NewKey, Scopes};
pub(crate) use self::api_key::{GeneratedKey, KeyError, Vendor, account_name};
pub use self::asset::{AssetName, ImageRef, Media};
pub(crate) use self::deployment::SigningKey;
pub use self::deployment::{BASE_PATH, ModelNamespace, PublicUrl};
pub(crate) use self::generation::output_prompt;
pub use self::generation::{
    Claim, GenerationRequest, JobKey, JobRecord, JobState, Lease, NewJob, OutputKind,
    ProviderTicket, Release, Reserved, Turn,
};
pub(crate) use self::records::slug;
pub use self::records::{
    AccountData, ListedPrompt, Membership, NewPrompt, NewVault, PromptImage, PromptInputs,
    PromptKind, PromptPage, PromptPatch, PromptQuery, PromptRecord, SharedPrompt, VaultPatch,
    VaultRecord, VaultVisibility,
};
pub use self::search::{Place, PromptSearch};
pub(crate) use self::session::SecretToken;
pub use self::session::SessionRecord;
