//! The persistence interface: one trait per resource.
//!
//! Each method is one atomic step: it takes effect completely or not at all, and no other call sees
//! an intermediate state. `http::error` maps a [`StoreError`] to a status.
//!
//! A method that takes a `Caller` reads and changes that caller's account only, and fails with
//! [`StoreError::KeyRevoked`] if the key or session does not exist any more. A resource of another
//! account is treated like one that does not exist, except that [`VaultStore::fork_vault`] and
//! [`AccountStore::shared_vault`] read public and unlisted vaults of any account.
//!
//! A method that fails has changed nothing, except with [`StoreError::OutcomeUnknown`]. It fails
//! with [`StoreError::NotFound`], before any other error of its own, if what its path names does
//! not exist: the prompt, the vault, or the membership in this vault.
//!
//! Ids are positive and never reused, and they increase in an account.

#![allow(missing_docs, reason = "a method has a comment if its name does not say all")]

mod accounts;
#[cfg(test)]
pub(crate) mod contract_tests;
#[cfg(test)]
mod differential;
#[cfg(feature = "folder")]
pub(crate) mod folder;
mod jobs;
pub(crate) mod memory;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;
mod prompts;
pub(crate) mod time_budget;
#[cfg(feature = "webhooks")]
pub(crate) mod webhooks;

use std::any::Any;

use async_trait::async_trait;
use promptarium::PromptId;

use crate::limits::LONG_WRITE_TIMEOUT;
use crate::quota::{OverQuota, Quota};

pub use self::{accounts::*, jobs::*, prompts::*};
/// For stores of tests, in other crates.
#[cfg(feature = "test-support")]
pub use crate::domain::*;

#[async_trait]
pub trait Store:
    Any
    + PromptStore
    + SearchStore
    + VaultStore
    + MembershipStore
    + AccountStore
    + KeyStore
    + SessionStore
    + JobStore
    + JobQueue
    + AdminStore
{
    /// A short name for logs and the ready line: `memory`, `folder` or `postgres`.
    fn name(&self) -> &'static str;

    async fn check(&self) -> Result<()>;

    /// What bounds the use of the store, for metrics.
    fn quotas(&self) -> Vec<Quota> {
        Vec::new()
    }

    /// What the store is doing, for metrics.
    fn gauges(&self) -> Vec<Gauge> {
        Vec::new()
    }
}

/// A metric: each value with its label, and one value where it has no label.
#[derive(Clone, Debug)]
pub struct Gauge {
    pub name: &'static str,
    pub meaning: &'static str,
    pub label: &'static str,
    pub values: Vec<(&'static str, usize)>,
}

/// The underlying error of a store failure; for the log only.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Why a store method failed. For callers, `http::error` has the texts.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the resource does not exist for this caller")]
    NotFound,
    #[error("the vault referred to does not exist for this caller")]
    UnknownVault,
    #[error("the target vault does not exist for this caller")]
    UnknownTargetVault,
    /// In the order given, without duplicates.
    #[error("prompts referred to do not exist for this caller: {0:?}")]
    UnknownPrompts(Vec<PromptId>),
    #[error("a prompt of this type needs a model")]
    ModelRequired,
    #[error("a system vault cannot be renamed")]
    SystemVaultRename,
    #[error("a system vault cannot be deleted")]
    SystemVaultDelete,
    #[error("a private vault cannot be forked; set its visibility to unlisted or public first")]
    ForkOfPrivateVault,
    #[error("a different job with this client id exists")]
    JobConflict,
    /// The lease has expired and another worker holds the job, or the job has ended.
    #[error("the lease on the job is lost")]
    LeaseLost,
    /// After it was authenticated.
    #[error("the caller's key has been revoked")]
    KeyRevoked,
    /// The database is unreachable or overloaded.
    #[error("the store is unavailable")]
    Unavailable(#[source] Cause),
    /// No space is left: reads work, writes do not.
    #[error("the store has no space left")]
    Full(#[source] Cause),
    /// Too much of it is in use at the moment.
    #[error(transparent)]
    Busy(OverQuota),
    /// The database broke off or fell silent. It is unknown whether the change was made.
    #[error("the store did not confirm a change")]
    OutcomeUnknown(#[source] Cause),
    /// The change could not be written to the data folder, and is undone.
    #[error("the data folder {}", if *is_full { "has no space left" } else { "cannot be written" })]
    NotDurable {
        is_full: bool,
        #[source]
        cause: Cause,
    },
    /// Another attempt would fail too.
    #[error(
        "the vault has too many prompts: this would take longer than {} seconds; nothing was \
         changed",
        LONG_WRITE_TIMEOUT.as_secs()
    )]
    TooLarge,
    /// Only a store in memory has this limit.
    #[error("the account would have too many prompts for a store in memory; nothing was changed")]
    TooManyPrompts,
    /// The database returned something unexpected; a bug.
    #[error("the store failed")]
    Internal(#[source] Cause),
    #[error("the account has as many API keys as it may have; revoke one first")]
    TooManyKeys,
    #[error("the account has as many vaults as it may have; delete one first")]
    TooManyVaults,
    #[error("another account has this name")]
    AccountTaken,
    #[error("the prompt has as many pictures as it may have")]
    TooManyImages,
    #[error("a different key with this public id exists")]
    KeyTaken,
}

impl StoreError {
    pub(crate) fn is_temporary(&self) -> bool {
        use StoreError as E;
        matches!(self, E::Unavailable(_) | E::Full(_) | E::Busy(_) | E::OutcomeUnknown(_))
    }
}

/// The traits of all resources, for tests that work with a concrete store.
#[cfg(test)]
pub(crate) mod prelude {
    pub(crate) use super::{
        AdminStore as _, JobQueue as _, JobStore as _, KeyStore as _, MembershipStore as _,
        PromptStore as _, SearchStore as _, SessionStore as _, VaultStore as _,
    };
}
