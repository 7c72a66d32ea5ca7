//! Prompts.

use async_trait::async_trait;
use promptarium::{PromptId, VaultId};

use super::Result;
#[cfg(doc)]
use super::StoreError;
use crate::domain::{
    Caller, NewPrompt, PromptInputs, PromptPage, PromptPatch, PromptQuery, SharedPrompt,
};

/// Prompts.
#[async_trait]
pub trait PromptStore: Send + Sync + 'static {
    /// Creates a prompt and, if `new.vault` is set, adds it to that vault.
    ///
    /// # Errors
    /// [`StoreError::UnknownVault`]; no prompt is created then.
    async fn create_prompt(&self, caller: &Caller, new: NewPrompt) -> Result<SharedPrompt>;

    /// One prompt.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    async fn prompt(&self, caller: &Caller, id: PromptId) -> Result<SharedPrompt>;

    /// What is stored with a prompt and not returned by the API.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    async fn prompt_inputs(&self, caller: &Caller, id: PromptId) -> Result<PromptInputs>;

    /// One page of prompts, newest (greatest id) first. The cost depends on the page size, not on
    /// the size of the account. Following `after` from page to page returns each prompt that
    /// exists throughout exactly once, whatever is created or deleted meanwhile.
    ///
    /// # Errors
    /// [`StoreError::UnknownVault`].
    async fn list_prompts(&self, caller: &Caller, query: PromptQuery) -> Result<PromptPage>;

    /// Sets the fields that `patch` names; an empty patch changes nothing. Otherwise
    /// `updated_at` increases, by at least a microsecond even if the clock stands still.
    /// `patch.vault` adds the prompt to that vault as [`PromptStore::save_prompt`] does.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], then [`StoreError::UnknownVault`], then
    /// [`StoreError::ModelRequired`] if the patch changes the type to image or video and
    /// neither patch nor prompt names a model. Nothing changes then.
    async fn update_prompt(
        &self,
        caller: &Caller,
        id: PromptId,
        patch: PromptPatch,
    ) -> Result<SharedPrompt>;

    /// Deletes a prompt and all its memberships.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    async fn delete_prompt(&self, caller: &Caller, id: PromptId) -> Result<()>;

    /// Adds a prompt to one more vault. If it is in the vault already, its membership and
    /// position stay as they are.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for the prompt, then [`StoreError::UnknownVault`].
    async fn save_prompt(
        &self,
        caller: &Caller,
        id: PromptId,
        vault: VaultId,
    ) -> Result<SharedPrompt>;
}
