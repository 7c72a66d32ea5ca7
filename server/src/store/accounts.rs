//! The interface of what the owner of an account does beside the API.

use async_trait::async_trait;
use promptarium::{PromptId, VaultId};

use super::Result;
#[cfg(doc)]
use super::StoreError;
use crate::domain::{AccountData, AccountId, Caller, ListedPrompt, PromptImage, VaultRecord};

/// Accounts as a whole, pictures that their owner uploads, and vaults that anybody may read.
#[async_trait]
pub trait AccountStore: Send + Sync + 'static {
    /// Gives the caller's account another name. Keys and sessions stay valid. Fails with
    /// [`StoreError::AccountTaken`] if another account has the name.
    async fn rename_account(&self, caller: &Caller, name: &str) -> Result<()>;

    /// Deletes the caller's account: jobs, prompts, vaults, keys, sessions and codes. Files stay:
    /// forks in other accounts may refer to them.
    ///
    /// It is several steps. The first one revokes all keys and sessions but the caller's. After a
    /// failure the account has the rest, and another call deletes it.
    async fn delete_account(&self, caller: &Caller) -> Result<()>;

    /// Adds these vaults and prompts to the caller's account. The contents of a system vault go to the
    /// system vault of the account. Fails with [`StoreError::TooManyVaults`],
    /// [`StoreError::TooManyPrompts`] or [`StoreError::TooLarge`].
    async fn import(&self, caller: &Caller, data: AccountData) -> Result<()>;

    /// Adds a picture to a prompt, or fails with [`StoreError::TooManyImages`] if it has
    /// `limits::PROMPT_IMAGES_MAX` pictures.
    async fn add_image(&self, caller: &Caller, prompt: PromptId, image: PromptImage) -> Result<()>;

    /// The public or unlisted vault with this slug of the account with this name, for anybody.
    async fn shared_vault(&self, account: &str, slug: &str) -> Result<(AccountId, VaultRecord)>;

    /// A part of the contents of a vault, in display order. It checks no caller and no visibility:
    /// the request has just read the vault.
    async fn vault_page(
        &self,
        account: AccountId,
        vault: VaultId,
        offset: usize,
        limit: usize,
    ) -> Result<Vec<ListedPrompt>>;
}
