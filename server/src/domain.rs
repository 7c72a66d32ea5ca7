//! What the service is about: ids, records, generation requests, names and keys.
//!
//! It is the lowest module. It knows no HTTP, no store and no provider, and imports
//! nothing else of this crate.

mod account;
mod api_key;
mod generation;
mod job;
mod prompt;
mod public_url;
mod signing_key;
mod vault;

pub use self::account::{AccountId, Caller, KeyId, KeyRecord, NewKey, Scopes};
pub use self::api_key::Vendor;
pub(crate) use self::api_key::{GeneratedKey, KeyError};
pub(crate) use self::generation::output_prompt;
pub use self::generation::{GenerationRequest, Media, ModelNamespace, OutputKind};
pub use self::job::{
    Claim, JobKey, JobRecord, JobState, Lease, NewJob, ProviderTicket, Release, Reserved,
};
pub use self::prompt::{
    ListedPrompt, NewPrompt, PromptImage, PromptInputs, PromptKind, PromptPage, PromptPatch,
    PromptQuery, PromptRecord, SharedPrompt,
};
pub use self::public_url::{BASE_PATH, PublicUrl};
pub(crate) use self::signing_key::SigningKey;
pub(crate) use self::vault::slug;
pub use self::vault::{NewVault, VaultPatch, VaultRecord, VaultVisibility};
