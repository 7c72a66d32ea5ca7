//! Searches, which read prompt after prompt.

use async_trait::async_trait;
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::MemoryStore;
use crate::domain::{Caller, Place, PromptKind, PromptPage, PromptSearch};
use crate::store::{Result, SearchStore};

/// Prompts that are read at a time, so that neither the account is locked for long nor a thread of
/// the runtime taken.
const STEP: usize = 1_000;

#[async_trait]
impl SearchStore for MemoryStore {
    async fn search_prompts(&self, caller: &Caller, search: PromptSearch) -> Result<PromptPage> {
        let (vault, no_vault) = match search.place {
            Place::Anywhere => (None, false),
            Place::Vault(vault) => (Some(vault), false),
            Place::NoVault => (None, true),
        };
        let (mut prompts, mut after) = (Vec::new(), search.after);
        loop {
            let read = self.read(caller, |account| {
                let Ok(ids) = account.page(vault, search.kind, after) else {
                    return Ok(Vec::new());
                };
                Ok(ids.take(STEP).filter_map(|id| account.prompt(id).ok()).collect::<Vec<_>>())
            })?;
            let is_end = read.len() < STEP;
            after = read.last().map(|prompt| prompt.id);
            let in_place = read.iter().filter(|prompt| !no_vault || prompt.vault_ids.is_empty());
            let found = in_place.filter(|prompt| search.finds(prompt)).cloned();
            prompts.extend(found.take(search.limit + 1 - prompts.len()));
            if is_end || prompts.len() > search.limit {
                break;
            }
            tokio::task::yield_now().await;
        }
        let more = prompts.len() > search.limit;
        prompts.truncate(search.limit);
        Ok(PromptPage { prompts, more })
    }

    async fn count_prompts(
        &self,
        caller: &Caller,
        kind: Option<PromptKind>,
        most: usize,
    ) -> Result<usize> {
        self.read(caller, |account| Ok(account.page(None, kind, None)?.take(most).count()))
    }

    async fn memberships_of(
        &self,
        caller: &Caller,
        vault: VaultId,
        prompts: &[PromptId],
    ) -> Result<Vec<VaultPromptId>> {
        self.read(caller, |account| {
            let vault = account.vaults.get(&vault);
            let of_prompt = |id| vault.and_then(|vault| vault.by_prompt.get(id)).copied();
            let mut memberships: Vec<_> = prompts.iter().filter_map(of_prompt).collect();
            memberships.sort_unstable();
            memberships.dedup();
            Ok(memberships)
        })
    }
}
