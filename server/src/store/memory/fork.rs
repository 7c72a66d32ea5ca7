//! Forking: the one step that may read another account.
//!
//! It has two halves, so that no two accounts are ever locked at once: one
//! takes a snapshot of the source, the other makes the copy from it.

use std::sync::Arc;

use promptarium::VaultId;

use super::account::Account;
use super::commons::Commons;
use crate::domain::{
    AccountId, NewVault, PromptRecord, SharedPrompt, VaultRecord, VaultVisibility,
};
use crate::store::StoreError;

/// A vault at one instant, as far as a fork takes it over.
#[derive(Debug)]
pub(super) struct Original {
    name: Arc<str>,
    description: Option<Arc<str>>,
    cover_image_url: Option<Arc<str>>,
    /// In the order they were added.
    prompts: Vec<SharedPrompt>,
}

impl Account {
    /// What `reader` may copy of this account's vault.
    pub(super) fn original(&self, id: VaultId, reader: AccountId) -> Result<Original, StoreError> {
        let vault = self.vaults.get(&id).ok_or(StoreError::NotFound)?;
        if vault.record.visibility == VaultVisibility::Private {
            let own = reader == self.id;
            return Err(if own { StoreError::ForkOfPrivateVault } else { StoreError::NotFound });
        }
        let prompts = vault.members.values().filter_map(|member| self.prompts.get(&member.prompt));
        Ok(Original {
            name: vault.record.name.clone(),
            description: vault.record.description.clone(),
            cover_image_url: vault.record.cover_image_url.clone(),
            prompts: prompts.cloned().collect(),
        })
    }

    /// Makes a copy that has nothing to do with the original any more.
    pub(super) fn adopt(
        &mut self,
        original: Original,
        commons: &Commons,
    ) -> Result<VaultRecord, StoreError> {
        let visibility = VaultVisibility::Private;
        let Original { name, description, cover_image_url, prompts } = original;
        let vault = self.insert_vault(NewVault { name, description, visibility }, commons);
        vault.record.cover_image_url = cover_image_url;
        let (id, now) = (vault.id(), vault.record.created_at);
        for prompt in prompts {
            let prompt = PromptRecord {
                id: commons.next_prompt(),
                vault_ids: Vec::new(),
                created_at: now,
                updated_at: now,
                ..PromptRecord::clone(&prompt)
            };
            let copy = prompt.id;
            self.insert_prompt(prompt);
            self.join(id, copy, commons);
        }
        self.vault(id)
    }
}
