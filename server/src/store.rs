//! What the service remembers, as one trait.
//!
//! Each method of [`Store`] is one atomic step of the domain: it happens whole
//! or not at all, and no other call ever sees it half done. Implementations
//! know nothing of HTTP: they speak of prompts, vaults and memberships, and
//! [`crate::http::error`] alone turns a [`StoreError`] into a status.
//!
//! Every method that takes a [`Caller`] works on that caller's account only. A
//! thing of another account is treated exactly like a thing that does not
//! exist, with one exception: [`Store::fork_vault`] reads public and unlisted
//! vaults of anyone.

#[cfg(test)]
pub(crate) mod differential;
mod error;
pub mod jobs;
pub mod memory;
pub mod postgres;
mod vaults;

use async_trait::async_trait;
use futures::stream::BoxStream;
use promptarium::{PromptId, VaultId, VaultPromptId};

use crate::domain::{
    Caller, KeyRecord, ListedPrompt, NewKey, NewPrompt, NewVault, PromptPage, PromptPatch,
    PromptQuery, SharedPrompt, VaultPatch, VaultRecord,
};

pub use self::error::{Cause, StoreError};
pub use self::jobs::{JobQueue, JobStore};
pub use self::vaults::{Vaults, VaultsMark};

/// A vault's contents, one at a time, so that a large vault is never gathered.
pub type Contents = BoxStream<'static, Result<ListedPrompt, StoreError>>;

/// The outcome of adding prompts to a vault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Added {
    /// How many were not in the vault before.
    pub added: usize,
    /// How many the vault holds now.
    pub prompt_count: u64,
}

/// The outcome of moving a membership.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The prompt that moved.
    pub prompt: PromptId,
    /// The membership it has in the target vault now.
    pub membership: VaultPromptId,
}

/// The service's memory. See the [module](self) for what all methods share.
///
/// Identifiers are positive, never used twice, and later ones are greater:
/// a prompt made after another one has a greater id in the same account, and
/// so have vaults and memberships.
#[async_trait]
pub trait Store: JobStore + JobQueue {
    /// A short name for logs and the ready line: `memory` or `postgres`.
    fn name(&self) -> &'static str;

    /// Makes the account `account` with its General vault unless it exists,
    /// and gives it `key`. The very same key again changes nothing.
    ///
    /// # Errors
    /// [`StoreError::KeyTaken`] if the public id is in use with another
    /// secret, account, scopes or state of revocation; nothing changes then.
    async fn seed_key(&self, account: &str, key: NewKey) -> Result<(), StoreError>;

    /// The key with this public id, revoked or not. Whether the presented
    /// secret is the right one is for the caller to compare.
    ///
    /// A store may answer from memory and miss that the key was revoked a moment
    /// ago. So every step with a [`Caller`] looks again and fails with
    /// [`StoreError::KeyRevoked`]; who answers without such a step asks
    /// [`Store::confirm_key`].
    async fn find_key(&self, public_id: &str) -> Result<Option<KeyRecord>, StoreError>;

    /// Makes sure that the caller's key is not revoked at this moment.
    ///
    /// # Errors
    /// [`StoreError::KeyRevoked`].
    async fn confirm_key(&self, caller: &Caller) -> Result<(), StoreError>;

    /// Makes sure that the store can work.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    async fn check(&self) -> Result<(), StoreError>;

    /// Makes a prompt, in `new.vault` too if that is given.
    ///
    /// # Errors
    /// [`StoreError::UnknownVault`]; no prompt is made then.
    async fn create_prompt(
        &self,
        caller: &Caller,
        new: NewPrompt,
    ) -> Result<SharedPrompt, StoreError>;

    /// One prompt.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    async fn prompt(&self, caller: &Caller, id: PromptId) -> Result<SharedPrompt, StoreError>;

    /// One page of prompts, newest (greatest id) first. Its cost depends on
    /// the page, not on the account: following `after` from page to page visits
    /// each prompt that was there from first page to last exactly once, whatever
    /// is created or deleted in between.
    ///
    /// # Errors
    /// [`StoreError::UnknownVault`].
    async fn list_prompts(
        &self,
        caller: &Caller,
        query: PromptQuery,
    ) -> Result<PromptPage, StoreError>;

    /// Changes what `patch` names; a patch that names nothing changes nothing.
    /// Otherwise `updated_at` becomes later than it was, also within one tick
    /// of the clock. `patch.vault` adds the prompt to that vault as
    /// [`Store::save_prompt`] does.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], then [`StoreError::UnknownVault`], then
    /// [`StoreError::ModelRequired`] if the patch changes the type to image or
    /// video and neither patch nor prompt names a model. Nothing changes then.
    async fn update_prompt(
        &self,
        caller: &Caller,
        id: PromptId,
        patch: PromptPatch,
    ) -> Result<SharedPrompt, StoreError>;

    /// Deletes a prompt and all its memberships.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    async fn delete_prompt(&self, caller: &Caller, id: PromptId) -> Result<(), StoreError>;

    /// Adds a prompt to one vault more; already there, it keeps its place.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for the prompt, then [`StoreError::UnknownVault`].
    async fn save_prompt(
        &self,
        caller: &Caller,
        id: PromptId,
        vault: VaultId,
    ) -> Result<SharedPrompt, StoreError>;

    /// All vaults of the caller, newest first: by the time they were made, and by
    /// their ids where that is the same.
    async fn vaults(&self, caller: &Caller) -> Result<Vec<VaultRecord>, StoreError>;

    /// As [`Store::vaults`], unless they are what they were when they had this mark. A
    /// store whose vaults have no marks always gives them.
    async fn vaults_unless(
        &self,
        caller: &Caller,
        _known: Option<VaultsMark>,
    ) -> Result<Vaults, StoreError> {
        let vaults = self.vaults(caller).await?;
        Ok(Vaults::Listed { vaults, mark: None })
    }

    /// Makes a vault with a slug no other vault of the account has
    /// (see [`slug`]).
    async fn create_vault(&self, caller: &Caller, new: NewVault)
    -> Result<VaultRecord, StoreError>;

    /// One vault.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    async fn vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord, StoreError>;

    /// Changes what `patch` names; a patch that names nothing changes nothing.
    /// Otherwise `updated_at` becomes later than it was. A new name brings a new
    /// slug; the same name leaves the slug alone.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::SystemVaultRename`] if a system
    /// vault would get another name. Nothing changes then.
    async fn update_vault(
        &self,
        caller: &Caller,
        id: VaultId,
        patch: VaultPatch,
    ) -> Result<VaultRecord, StoreError>;

    /// Deletes a vault and its memberships; the prompts stay.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::SystemVaultDelete`].
    async fn delete_vault(&self, caller: &Caller, id: VaultId) -> Result<(), StoreError>;

    /// Copies a public or unlisted vault of anyone into the caller's account:
    /// name, description, cover, and every prompt as a new record, with images
    /// and in the order they were added. The copy is private, not a system
    /// vault, and has no pins. What is copied is the source at one instant.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if there is no such vault or it is somebody
    /// else's private one; [`StoreError::ForkOfPrivateVault`] if it is the
    /// caller's own private one.
    async fn fork_vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord, StoreError>;

    /// A vault's prompts as they are at one instant: pinned ones first, the
    /// latest pinned on top, then the others, the latest added on top.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    async fn contents(&self, caller: &Caller, vault: VaultId) -> Result<Contents, StoreError>;

    /// Adds prompts in the order given, so that the last one ends on top.
    /// Those already there keep their place; one id twice counts once.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for the vault, then
    /// [`StoreError::UnknownPrompts`] with every id that is not the caller's.
    /// Nothing is added then.
    async fn add_prompts(
        &self,
        caller: &Caller,
        vault: VaultId,
        prompts: &[PromptId],
    ) -> Result<Added, StoreError>;

    /// Removes one membership; the prompt stays.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if the vault is not the caller's or does not
    /// hold this membership.
    async fn remove_membership(
        &self,
        caller: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
    ) -> Result<(), StoreError>;

    /// Replaces one membership by a new, unpinned one in `target`, on top of
    /// its unpinned part. If `target` holds the prompt already, that membership
    /// is replaced too; `target` may be the source vault itself. Of two moves
    /// of one membership at once exactly one succeeds.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] as for [`Store::remove_membership`], then
    /// [`StoreError::UnknownTargetVault`]. Nothing changes then.
    async fn move_membership(
        &self,
        caller: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
        target: VaultId,
    ) -> Result<Moved, StoreError>;

    /// Pins or unpins one membership. Pinning a pinned one keeps its place.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] as for [`Store::remove_membership`].
    async fn set_pinned(
        &self,
        caller: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
        pinned: bool,
    ) -> Result<(), StoreError>;
}
