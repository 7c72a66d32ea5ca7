//! The persistence interface: one trait per resource.
//!
//! Each method is one atomic step: it takes effect completely or not at all, and no
//! other call sees an intermediate state. The traits know nothing of HTTP;
//! `http::error` maps a [`StoreError`] to a status.
//!
//! A method that takes a [`Caller`] reads and changes that caller's account only. A resource of
//! another account is treated exactly like one that does not exist. The one exception is
//! [`VaultStore::fork_vault`], which reads public and unlisted vaults of any account, as
//! [`AccountStore::shared_vault`] does.
//!
//! Ids are positive and never reused, and they increase: a prompt, vault or membership
//! has a greater id than those created before it in the same account.

mod accounts;
#[cfg(test)]
pub(crate) mod contract_tests;
#[cfg(test)]
mod differential;
mod jobs;
mod last_use;
pub(crate) mod memory;
#[cfg_attr(not(feature = "postgres"), path = "store/postgres/absent.rs")]
pub(crate) mod postgres;
mod prompts;
mod search;
mod sessions;
pub(crate) mod time_budget;
mod vaults;

use async_trait::async_trait;
use promptarium::PromptId;

pub use self::accounts::AccountStore;
pub use self::jobs::{JobQueue, JobStore};
pub use self::prompts::PromptStore;
pub use self::search::SearchStore;
pub use self::sessions::SessionStore;
pub use self::vaults::{Added, Contents, MembershipStore, Moved, VaultStore};
#[cfg_attr(
    not(feature = "test-support"),
    expect(unused_imports, reason = "for stores of tests, in other crates")
)]
pub use crate::domain::{
    AccountData, AccountId, ApiKeyRecord, Caller, Claim, ImageRef, JobKey, JobRecord, JobState,
    KeyId, KeyRecord, Lease, ListedPrompt, NamedKey, NewJob, NewKey, NewPrompt, NewVault, Place,
    PromptImage, PromptInputs, PromptKind, PromptPage, PromptPatch, PromptQuery, PromptRecord,
    PromptSearch, ProviderTicket, Release, Reserved, Scopes, SessionRecord, SharedPrompt, Turn,
    VaultPatch, VaultRecord, VaultVisibility,
};

/// Everything that the service persists except files.
#[async_trait]
pub trait Store:
    PromptStore
    + SearchStore
    + VaultStore
    + MembershipStore
    + AccountStore
    + KeyStore
    + SessionStore
    + JobStore
    + JobQueue
{
    /// A short name for logs and the ready line: `memory` or `postgres`.
    fn name(&self) -> &'static str;

    /// Checks that the store can serve requests.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    async fn check(&self) -> Result<()>;
}

/// API keys, and the accounts that are created with them.
#[async_trait]
pub trait KeyStore: Send + Sync + 'static {
    /// Creates the account named `account` with its General vault unless it exists,
    /// and adds `key` to it. Idempotent: the identical key again changes nothing.
    ///
    /// # Errors
    /// [`StoreError::KeyTaken`] if the public id is in use with another secret, account,
    /// scopes or revocation state. Nothing changes then.
    async fn seed_key(&self, account: &str, key: NewKey) -> Result<()>;

    /// The key with this public id, revoked or not, but never a session. The caller verifies the
    /// secret.
    ///
    /// If `digest` is that of the key, the result may come from a cache and be stale: the key may
    /// have been revoked since. Therefore every method with a [`Caller`] checks the key again and fails
    /// with [`StoreError::KeyRevoked`]. A request that calls no such method must call
    /// [`KeyStore::confirm_key`].
    ///
    /// The time it takes does not tell apart a wrong secret, a revoked key and none (S-53).
    async fn find_key(&self, public_id: &str, digest: &[u8; 32]) -> Result<Option<KeyRecord>>;

    /// Notes that a request has proved to have this key: the time of its last use, at most once per
    /// `LAST_USE_PRECISION`. Does not wait until that is stored.
    async fn record_use(&self, key: &KeyRecord) -> Result<()>;

    /// Checks that the caller's key is not revoked at this moment.
    ///
    /// # Errors
    /// [`StoreError::KeyRevoked`].
    async fn confirm_key(&self, caller: &Caller) -> Result<()>;

    /// Creates a key of the caller's account. Keys that the operator creates count toward the
    /// limit, but are not refused by it.
    ///
    /// # Errors
    /// [`StoreError::TooManyKeys`] if the account has
    /// `limits::API_KEYS_MAX` keys that are not revoked, and
    /// [`StoreError::KeyTaken`] if the public id is in use.
    async fn create_api_key(&self, caller: &Caller, new: NamedKey) -> Result<ApiKeyRecord>;

    /// The keys of the caller's account, revoked ones included, sessions not; newest first.
    async fn api_keys(&self, caller: &Caller) -> Result<Vec<ApiKeyRecord>>;

    /// Revokes a key of the caller's account, on all servers at once. Revoking again keeps the
    /// first time. A key that revokes itself may get
    /// [`StoreError::KeyRevoked`], as with
    /// [`SessionStore::end_session`].
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if the account has no such key;
    /// the id of a session is no such key.
    async fn revoke_api_key(&self, caller: &Caller, public_id: &str) -> Result<ApiKeyRecord>;
}

/// The underlying error of a store failure; for the log only.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// The result of a store method.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Why a store method failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The addressed resource does not exist for this caller.
    #[error("the resource does not exist for this caller")]
    NotFound,
    /// A vault that the request refers to does not exist for this caller.
    #[error("the vault referred to does not exist for this caller")]
    UnknownVault,
    /// The vault to move into does not exist for this caller.
    #[error("the target vault does not exist for this caller")]
    UnknownTargetVault,
    /// Prompts that the request refers to do not exist for this caller; in the
    /// order given, without duplicates.
    #[error("prompts referred to do not exist for this caller: {0:?}")]
    UnknownPrompts(Vec<PromptId>),
    /// The prompt would become an image or video prompt without a model.
    #[error("a prompt of this type needs a model")]
    ModelRequired,
    /// A system vault cannot be renamed.
    #[error("a system vault cannot be renamed")]
    SystemVaultRename,
    /// A system vault cannot be deleted.
    #[error("a system vault cannot be deleted")]
    SystemVaultDelete,
    /// The vault is the caller's own private vault; private vaults cannot be forked.
    #[error("a private vault cannot be forked")]
    ForkOfPrivateVault,
    /// A job with this client id exists and was created by a different request.
    #[error("a different job with this client id exists")]
    JobConflict,
    /// The lease has expired and another worker holds the job, or the job has ended.
    #[error("the lease on the job is lost")]
    LeaseLost,
    /// The caller's key was revoked after it was authenticated.
    #[error("the caller's key has been revoked")]
    KeyRevoked,
    /// The database is unreachable or overloaded. Nothing was changed.
    #[error("the store is unavailable")]
    Unavailable(#[source] Cause),
    /// The database broke off or fell silent. It is unknown whether the change was made.
    #[error("the store did not confirm a change")]
    OutcomeUnknown(#[source] Cause),
    /// A vault has too many prompts for the time limit of this change. Nothing was changed, and
    /// another attempt would fail too.
    #[error("the change takes too long")]
    TooLarge,
    /// A fork would give an account more prompts than this store takes. Nothing was changed.
    #[error("the account would have too many prompts for a store in memory")]
    TooManyPrompts,
    /// The database returned something unexpected; a bug.
    #[error("the store failed")]
    Internal(#[source] Cause),
    /// The account has as many keys as it may have.
    #[error("the account has as many API keys as it may have")]
    TooManyKeys,
    /// The account has as many vaults as it may have.
    #[error("the account has as many vaults as it may have")]
    TooManyVaults,
    /// Another account has this name.
    #[error("another account has this name")]
    AccountTaken,
    /// The prompt has as many pictures as it may have.
    #[error("the prompt has as many pictures as it may have")]
    TooManyImages,
    /// Another key has this public id.
    #[error("a different key with this public id exists")]
    KeyTaken,
}

/// The traits of all resources, for tests that work with a concrete store.
#[cfg(test)]
pub(crate) mod prelude {
    pub(crate) use super::{
        JobQueue as _, JobStore as _, KeyStore as _, MembershipStore as _, PromptStore as _,
        SearchStore as _, SessionStore as _, Store as _, VaultStore as _,
    };
}
