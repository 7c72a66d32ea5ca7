//! What the dashboard looks for beyond the API.

use async_trait::async_trait;
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::Result;
#[cfg(doc)]
use super::StoreError;
use crate::domain::{Caller, PromptKind, PromptPage, PromptSearch};

/// Finding prompts.
#[async_trait]
pub trait SearchStore: Send + Sync + 'static {
    /// One page of the prompts that match, newest (greatest id) first; at most 100. Case does not
    /// count. A vault that is not the caller's has no prompts. Following `after` from page to page
    /// returns each prompt that matches throughout exactly once. Of prompts in no vault, without
    /// words, it finds those among the 100,000 prompts that follow `after`.
    async fn search_prompts(&self, caller: &Caller, search: PromptSearch) -> Result<PromptPage>;

    /// How many prompts of this type there are, counted up to `most`.
    async fn count_prompts(
        &self,
        caller: &Caller,
        kind: Option<PromptKind>,
        most: usize,
    ) -> Result<usize>;

    /// The memberships of these prompts in a vault, ascending. Prompts that are not in it are left
    /// out, all of them if the vault is not the caller's.
    async fn memberships_of(
        &self,
        caller: &Caller,
        vault: VaultId,
        prompts: &[PromptId],
    ) -> Result<Vec<VaultPromptId>>;
}
