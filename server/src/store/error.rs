//! Why a step of a store did not happen, in words of the domain.

use promptarium::PromptId;

/// What lies behind a failure of a store; for the log.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why a step did not happen.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The thing addressed does not exist for this caller.
    #[error("no such thing for this caller")]
    NotFound,
    /// A vault that the step refers to does not exist for this caller.
    #[error("the vault referred to does not exist for this caller")]
    UnknownVault,
    /// The vault to move into does not exist for this caller.
    #[error("the target vault does not exist for this caller")]
    UnknownTargetVault,
    /// Prompts that the step refers to do not exist for this caller; in the
    /// order they were given, each once.
    #[error("prompts referred to do not exist for this caller: {0:?}")]
    UnknownPrompts(Vec<PromptId>),
    /// The prompt would become an image or video prompt without a model.
    #[error("a prompt of this type needs a model")]
    ModelRequired,
    /// A system vault keeps its name.
    #[error("a system vault cannot be renamed")]
    SystemVaultRename,
    /// A system vault stays.
    #[error("a system vault cannot be deleted")]
    SystemVaultDelete,
    /// The caller's own vault is private, and a private vault is not forked.
    #[error("a private vault cannot be forked")]
    ForkOfPrivateVault,
    /// A job of this name exists, and it was asked for with another request.
    #[error("another job of this account has this name")]
    JobConflict,
    /// The lease has run out and the job is somebody else's, or has ended.
    #[error("the lease on the job is lost")]
    LeaseLost,
    /// The key that proved who is asking has been revoked since.
    #[error("the caller's key has been revoked")]
    KeyRevoked,
    /// The step did not happen, or nobody knows whether it did: what the store
    /// is kept in cannot be reached, or is too busy.
    #[error("the store cannot be reached")]
    Unavailable(#[source] Cause),
    /// What the store is kept in answered what it never should.
    #[error("the store failed")]
    Broken(#[source] Cause),
    /// Another key has this public id already.
    #[error("a different key with this public id exists")]
    KeyTaken,
}
