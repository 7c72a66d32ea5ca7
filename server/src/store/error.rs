//! Errors of a store, in terms of the domain.

use promptarium::PromptId;

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
    /// The database is unreachable or overloaded. The change was not made, or it is
    /// unknown whether it was.
    #[error("the store is unavailable")]
    Unavailable(#[source] Cause),
    /// The database returned something unexpected; a bug.
    #[error("the store failed")]
    Broken(#[source] Cause),
    /// Another key has this public id.
    #[error("a different key with this public id exists")]
    KeyTaken,
}
