//! The persistence interface: one trait per resource.
//!
//! Each method is one atomic step: it takes effect completely or not at all, and no
//! other call sees an intermediate state. The traits know nothing of HTTP;
//! [`crate::http::error`] maps a [`StoreError`] to a status.
//!
//! A method that takes a [`Caller`] reads and changes that caller's account only. A
//! resource of another account is treated exactly like one that does not exist. The one
//! exception is [`VaultStore::fork_vault`], which reads public and unlisted vaults of
//! any account.
//!
//! Ids are positive and never reused, and they increase: a prompt, vault or membership
//! has a greater id than those created before it in the same account.

#[cfg(test)]
mod contract_tests;
#[cfg(test)]
pub(crate) mod differential;
mod error;
pub(crate) mod jobs;
mod keys;
mod memberships;
pub(crate) mod memory;
pub(crate) mod postgres;
mod prompts;
mod vaults;

use async_trait::async_trait;

pub use self::error::{Cause, Result, StoreError};
pub use self::jobs::{JobQueue, JobStore};
pub use self::keys::KeyStore;
pub use self::memberships::{Added, Contents, MembershipStore, Moved};
pub use self::prompts::PromptStore;
pub use self::vaults::VaultStore;
pub use crate::domain::{
    AccountId, Caller, Claim, JobKey, JobRecord, JobState, KeyId, KeyRecord, Lease, ListedPrompt,
    NewJob, NewKey, NewPrompt, NewVault, PromptImage, PromptInputs, PromptKind, PromptPage,
    PromptPatch, PromptQuery, PromptRecord, ProviderTicket, Release, Reserved, Scopes,
    SharedPrompt, VaultPatch, VaultRecord, VaultVisibility,
};

/// Everything that the service persists except files. See the [module](self) for the
/// rules that all methods share.
#[async_trait]
pub trait Store:
    PromptStore + VaultStore + MembershipStore + KeyStore + JobStore + JobQueue
{
    /// A short name for logs and the ready line: `memory` or `postgres`.
    fn name(&self) -> &'static str;

    /// Checks that the store can serve requests.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    async fn check(&self) -> Result<()>;
}

/// The traits of all resources, for tests that work with a concrete store.
#[cfg(test)]
pub(crate) mod prelude {
    pub(crate) use super::{
        JobQueue as _, JobStore as _, KeyStore as _, MembershipStore as _, PromptStore as _,
        Store as _, VaultStore as _,
    };
}
