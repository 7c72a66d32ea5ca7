//! Prompts, and what searches read of them.

use std::sync::Arc;

use async_trait::async_trait;
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::Result;
#[cfg(doc)]
use super::StoreError;
use crate::domain::{
    Caller, NewPrompt, PromptInputs, PromptKind, PromptPage, PromptPatch, PromptQuery, SharedPrompt,
};
#[cfg(doc)]
use crate::limits::SEARCH_CHUNK;

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
    async fn save_prompt(
        &self,
        caller: &Caller,
        id: PromptId,
        vault: VaultId,
    ) -> Result<SharedPrompt>;
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
    /// [`SEARCH_CHUNK`], and fewer if they are large. Fails with [`StoreError::UnknownVault`].
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
