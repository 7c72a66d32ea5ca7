//! The steps on what a vault holds.

use std::collections::BTreeSet;
use std::sync::Arc;

use promptarium::{PromptId, VaultId, VaultPromptId};

use super::account::Account;
use super::commons::Commons;
use super::vault::Vault;
use crate::domain::ListedPrompt;
use crate::store::{Added, Moved, StoreError};

impl Account {
    /// The prompts as they are now, in the order they are shown in.
    pub(super) fn contents(&self, vault: VaultId) -> Result<Vec<ListedPrompt>, StoreError> {
        let vault = self.vaults.get(&vault).ok_or(StoreError::NotFound)?;
        let mut listed = Vec::with_capacity(vault.places.len());
        listed.extend(vault.places.iter().rev().filter_map(|(place, prompt)| {
            let prompt = Arc::clone(self.prompts.get(prompt)?);
            let (membership, pinned) = (place.membership(), place.is_pinned());
            Some(ListedPrompt { prompt, membership, pinned })
        }));
        Ok(listed)
    }

    pub(super) fn add_prompts(
        &mut self,
        vault: VaultId,
        prompts: &[PromptId],
        commons: &Commons,
    ) -> Result<Added, StoreError> {
        if !self.vaults.contains_key(&vault) {
            return Err(StoreError::NotFound);
        }
        let mut seen = BTreeSet::new();
        let unknown = prompts.iter().filter(|id| !self.prompts.contains_key(id));
        let unknown: Vec<_> = unknown.filter(|id| seen.insert(**id)).copied().collect();
        if !unknown.is_empty() {
            return Err(StoreError::UnknownPrompts(unknown));
        }
        let joined = prompts.iter().filter_map(|prompt| self.join(vault, *prompt, commons));
        let added = joined.count();
        let prompt_count = self.vault(vault)?.prompt_count;
        Ok(Added { added, prompt_count })
    }

    pub(super) fn remove_membership(
        &mut self,
        vault: VaultId,
        membership: VaultPromptId,
    ) -> Result<(), StoreError> {
        let prompt = self.member(vault, membership)?;
        self.part(vault, prompt);
        Ok(())
    }

    pub(super) fn move_membership(
        &mut self,
        vault: VaultId,
        membership: VaultPromptId,
        target: VaultId,
        commons: &Commons,
    ) -> Result<Moved, StoreError> {
        let prompt = self.member(vault, membership)?;
        if !self.vaults.contains_key(&target) {
            return Err(StoreError::UnknownTargetVault);
        }
        self.part(vault, prompt);
        self.part(target, prompt);
        let membership = self.join(target, prompt, commons).ok_or(StoreError::NotFound)?;
        Ok(Moved { prompt, membership })
    }

    pub(super) fn set_pinned(
        &mut self,
        vault: VaultId,
        membership: VaultPromptId,
        pinned: bool,
    ) -> Result<(), StoreError> {
        let vault = self.vaults.get_mut(&vault).ok_or(StoreError::NotFound)?;
        vault.set_pinned(membership, pinned).ok_or(StoreError::NotFound)
    }

    /// The prompt that a membership of this vault links.
    fn member(&self, vault: VaultId, membership: VaultPromptId) -> Result<PromptId, StoreError> {
        let members = |vault: &Vault| vault.members.get(&membership).map(|member| member.prompt);
        self.vaults.get(&vault).and_then(members).ok_or(StoreError::NotFound)
    }
}
