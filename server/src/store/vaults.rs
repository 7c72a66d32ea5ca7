//! Vaults, without their contents.

use async_trait::async_trait;
use promptarium::VaultId;

use super::Result;
#[cfg(doc)]
use super::StoreError;
use crate::domain::{Caller, NewVault, VaultPatch, VaultRecord};

/// Vaults. See the [parent module](super) for the rules that all methods share.
#[async_trait]
pub trait VaultStore: Send + Sync + 'static {
    /// All vaults of the caller, newest first: by creation time, then by id.
    async fn vaults(&self, caller: &Caller) -> Result<Vec<VaultRecord>>;

    /// Creates a vault with a slug that no other vault of the account has
    /// (see `domain::slug`).
    async fn create_vault(&self, caller: &Caller, new: NewVault) -> Result<VaultRecord>;

    /// One vault.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    async fn vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord>;

    /// Sets the fields that `patch` names; an empty patch changes nothing. Otherwise
    /// `updated_at` increases. A different name brings a new slug; the same name keeps
    /// the slug.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::SystemVaultRename`] if a system vault
    /// would get another name. Nothing changes then.
    async fn update_vault(
        &self,
        caller: &Caller,
        id: VaultId,
        patch: VaultPatch,
    ) -> Result<VaultRecord>;

    /// Deletes a vault and its memberships; the prompts stay.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::SystemVaultDelete`].
    async fn delete_vault(&self, caller: &Caller, id: VaultId) -> Result<()>;

    /// Copies a public or unlisted vault of any account into the caller's account: name,
    /// description, cover, and every prompt as a new record, with its images and in the
    /// order of addition. The copy is private, not a system vault, and has no pins. It is
    /// a snapshot of the source at one instant.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if there is no such vault or it is a private one of
    /// another account; [`StoreError::ForkOfPrivateVault`] if it is the caller's own
    /// private vault.
    async fn fork_vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord>;
}
