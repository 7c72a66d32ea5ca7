//! Prompts, vaults, which prompts are in which vaults and in which order, and what searches read.

use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::BoxStream;
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::Result;
#[cfg(doc)]
use super::StoreError;
use crate::domain::{
    Caller, ListedPrompt, Membership, NewPrompt, NewVault, PromptInputs, PromptKind, PromptPage,
    PromptPatch, PromptQuery, SharedPrompt, VaultPatch, VaultRecord,
};

#[async_trait]
pub trait PromptStore: Send + Sync + 'static {
    /// Creates a prompt, in `new.vault` if it is set, or fails with [`StoreError::UnknownVault`].
    async fn create_prompt(&self, caller: &Caller, new: NewPrompt) -> Result<SharedPrompt>;

    async fn prompt(&self, caller: &Caller, id: PromptId) -> Result<SharedPrompt>;

    /// What is stored with a prompt and not returned by the API.
    async fn prompt_inputs(&self, caller: &Caller, id: PromptId) -> Result<PromptInputs>;

    /// One page of prompts, newest (greatest id) first, or [`StoreError::UnknownVault`]. In a
    /// database the cost depends on the page size only. Following `after` returns each prompt that
    /// exists throughout exactly once, whatever is created or deleted meanwhile.
    async fn list_prompts(&self, caller: &Caller, query: PromptQuery) -> Result<PromptPage>;

    /// Sets the fields that `patch` names; an empty patch changes nothing. Otherwise `updated_at`
    /// increases, by at least a microsecond even if the clock stands still. `patch.vault` adds the
    /// prompt to that vault as [`PromptStore::save_prompt`] does. Fails with
    /// [`StoreError::UnknownVault`], then [`StoreError::ModelRequired`] if the patch changes the
    /// type to image or video and neither patch nor prompt names a model, then
    /// [`StoreError::TooManyImages`] if the patch adds a picture to `limits::PROMPT_IMAGES_MAX`.
    async fn update_prompt(
        &self,
        caller: &Caller,
        id: PromptId,
        patch: PromptPatch,
    ) -> Result<SharedPrompt>;

    async fn delete_prompt(&self, caller: &Caller, id: PromptId) -> Result<()>;

    /// Adds a prompt to one more vault, or fails with [`StoreError::UnknownVault`] if only that
    /// does not exist. A membership that exists stays as it is.
    async fn save_prompt(&self, caller: &Caller, id: PromptId, to: VaultId)
    -> Result<SharedPrompt>;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Place {
    #[default]
    Anywhere,
    /// In this vault, which must be the caller's.
    Vault(VaultId),
    /// In the prompts that are in no vault.
    NoVault,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptTexts {
    pub id: PromptId,
    pub title: Arc<str>,
    pub text: Arc<str>,
    pub platform: Option<Arc<str>>,
}

/// Prompts in listing order, as a search reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextChunk {
    pub texts: Vec<PromptTexts>,
    /// How many prompts were read for them.
    pub read: usize,
    /// The last prompt that was read, if more may follow.
    pub next: Option<PromptId>,
}

/// What searches read, and what the dashboard counts.
#[async_trait]
pub trait SearchStore: Send + Sync + 'static {
    /// The texts of the next prompts of this type after `after` in listing order: at most
    /// `limits::SEARCH_CHUNK`, and fewer if they are large. Fails with [`StoreError::UnknownVault`].
    async fn prompt_texts(
        &self,
        caller: &Caller,
        place: Place,
        kind: Option<PromptKind>,
        after: Option<PromptId>,
    ) -> Result<TextChunk>;

    /// How many prompts of this type there are, counted up to `most`.
    async fn count_prompts(
        &self,
        caller: &Caller,
        kind: Option<PromptKind>,
        most: usize,
    ) -> Result<usize>;

    /// The memberships of these prompts in a vault of the caller, ascending.
    async fn memberships_of(
        &self,
        caller: &Caller,
        vault: VaultId,
        prompts: &[PromptId],
    ) -> Result<Vec<VaultPromptId>>;
}

#[async_trait]
pub trait VaultStore: Send + Sync + 'static {
    /// All vaults of the caller, newest first: by creation time, then by id.
    async fn vaults(&self, caller: &Caller) -> Result<Vec<VaultRecord>>;

    /// At most so many vaults of the account, the latest ids first. It reads no others.
    async fn newest_vaults(&self, caller: &Caller, limit: usize) -> Result<Vec<VaultRecord>>;

    /// Creates a vault with a free slug (see `domain::slug`), or fails with
    /// [`StoreError::TooManyVaults`].
    async fn create_vault(&self, caller: &Caller, new: NewVault) -> Result<VaultRecord>;

    async fn vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord>;

    /// Sets the fields that `patch` names; an empty patch changes nothing. Otherwise `updated_at`
    /// increases. A new name brings a new slug, and [`StoreError::SystemVaultRename`] for a system
    /// vault.
    async fn update_vault(
        &self,
        caller: &Caller,
        id: VaultId,
        patch: VaultPatch,
    ) -> Result<VaultRecord>;

    /// Deletes a vault but not its prompts, or fails with [`StoreError::SystemVaultDelete`].
    async fn delete_vault(&self, caller: &Caller, id: VaultId) -> Result<()>;

    /// Copies a public or unlisted vault of any account into the caller's account: name,
    /// description, cover, and every prompt as a new record, with its images and in the order of
    /// addition. The copy is private, not a system vault, and has no pins. It is a snapshot of the
    /// source at one instant. Fails with [`StoreError::ForkOfPrivateVault`] for the caller's own
    /// private vault, and with [`StoreError::TooManyVaults`], [`StoreError::TooManyPrompts`] or
    /// [`StoreError::TooLarge`].
    async fn fork_vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord>;
}

/// The contents of a vault as a stream, so that a large vault is never in memory as a whole.
pub struct Contents {
    /// Memory that it takes until it was read.
    pub(crate) bytes: usize,
    pub(crate) entries: BoxStream<'static, Result<ListedPrompt>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    pub prompt: PromptId,
    pub membership: VaultPromptId,
}

#[async_trait]
pub trait MembershipStore: Send + Sync + 'static {
    /// The prompts that are in a vault at one instant: pinned ones first, the last pinned on top,
    /// then the others, the last added on top. Of a vault with more than 64 prompts each prompt is
    /// as it is when it is read, and may be left out if it was deleted by then.
    async fn contents(&self, caller: &Caller, vault: VaultId) -> Result<Contents>;

    /// Adds prompts in the order given, so that the last one ends up on top. Prompts that are in
    /// the vault already keep their position; a repeated id counts once. Returns how many were
    /// added, and how many the vault has now. Fails with [`StoreError::UnknownPrompts`].
    async fn add_prompts(
        &self,
        caller: &Caller,
        vault: VaultId,
        prompts: &[PromptId],
    ) -> Result<(usize, u64)>;

    async fn remove_membership(&self, caller: &Caller, at: Membership) -> Result<()>;

    /// Replaces one membership by a new, unpinned one in the vault `to`, on top of the unpinned
    /// prompts there. If that vault has the prompt already, that membership is replaced too; it may
    /// be the source itself. Of two concurrent moves of one membership exactly one succeeds. Fails
    /// with [`StoreError::UnknownTargetVault`] if only `to` does not exist.
    async fn move_membership(&self, caller: &Caller, at: Membership, to: VaultId) -> Result<Moved>;

    /// Pins or unpins one membership. Pinning a pinned one keeps its position.
    async fn set_pinned(&self, caller: &Caller, at: Membership, pinned: bool) -> Result<()>;
}
