//! Vaults and forks.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use async_trait::async_trait;
use promptarium::VaultId;

use super::account::{Account, later, remove_vault_id, set};
use super::{MemoryStore, Shared};
use crate::domain::{
    AccountId, Caller, NewVault, PromptRecord, SharedPrompt, VaultPatch, VaultRecord,
    VaultVisibility,
};
use crate::store::{Result, StoreError, VaultStore};

#[async_trait]
impl VaultStore for MemoryStore {
    async fn vaults(&self, caller: &Caller) -> Result<Vec<VaultRecord>> {
        self.read(caller.account, |account| {
            let vaults = account.vaults.values();
            let mut vaults: Vec<_> = vaults.map(|vault| vault.record.clone()).collect();
            vaults.sort_unstable_by_key(|vault| Reverse((vault.created_at, vault.id)));
            Ok(vaults)
        })
    }

    async fn create_vault(&self, caller: &Caller, new: NewVault) -> Result<VaultRecord> {
        self.write(caller.account, |account, shared| {
            Ok(account.insert_vault(new, shared).record.clone())
        })
    }

    async fn vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord> {
        self.read(caller.account, |account| Ok(account.vault(id)?.record.clone()))
    }

    async fn update_vault(
        &self,
        caller: &Caller,
        id: VaultId,
        patch: VaultPatch,
    ) -> Result<VaultRecord> {
        self.write(caller.account, |account, shared| {
            let before = account.vault(id)?.record.clone();
            let renamed = patch.name.as_ref().is_some_and(|name| *name != before.name);
            if renamed && before.system {
                return Err(StoreError::SystemVaultRename);
            }
            if patch.is_empty() {
                return Ok(before);
            }
            let mut record = before;
            set(&mut record.name, patch.name);
            set(&mut record.description, patch.description);
            set(&mut record.visibility, patch.visibility);
            record.updated_at = later(shared.now(), record.updated_at);
            if renamed {
                // The old slug of this vault is free for its new name.
                account.slugs.remove(&record.slug);
                record.slug = account.take_slug(&record.name);
            }
            if let Some(vault) = account.vaults.get_mut(&id) {
                vault.record = record.clone();
            }
            Ok(record)
        })
    }

    async fn delete_vault(&self, caller: &Caller, id: VaultId) -> Result<()> {
        self.write(caller.account, |account, shared| {
            let Entry::Occupied(vault) = account.vaults.entry(id) else {
                return Err(StoreError::NotFound);
            };
            if vault.get().record.system {
                return Err(StoreError::SystemVaultDelete);
            }
            let vault = vault.remove();
            shared.unregister_vault(id);
            account.slugs.remove(&vault.record.slug);
            for id_of_prompt in vault.by_prompt.keys() {
                if let Some(prompt) = account.prompts.get_mut(id_of_prompt) {
                    remove_vault_id(prompt, id);
                    account.index.remove(Some(id), prompt.kind, prompt.id);
                }
            }
            Ok(())
        })
    }

    /// Reads the source and writes the copy in two steps, so that two accounts are never
    /// locked at once. Within one account both happen under one lock.
    async fn fork_vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord> {
        let owner = self.shared.owner(id).ok_or(StoreError::NotFound)?;
        if owner == caller.account {
            return self.write(owner, |account, shared| {
                let source = Source::read(account, id, owner)?;
                Ok(source.copy_into(account, shared))
            });
        }
        let source = self.read(owner, |account| Source::read(account, id, caller.account))?;
        self.write(caller.account, |account, shared| Ok(source.copy_into(account, shared)))
    }
}

/// A snapshot of what a fork copies.
struct Source {
    record: VaultRecord,
    /// In the order of addition.
    prompts: Vec<SharedPrompt>,
}

impl Source {
    fn read(account: &Account, id: VaultId, reader: AccountId) -> Result<Self> {
        let vault = account.vault(id)?;
        if vault.record.visibility == VaultVisibility::Private {
            let own = reader == account.id;
            return Err(if own { StoreError::ForkOfPrivateVault } else { StoreError::NotFound });
        }
        let prompts = vault.members.values();
        let prompts = prompts.filter_map(|member| account.prompts.get(&member.prompt).cloned());
        Ok(Self { record: vault.record.clone(), prompts: prompts.collect() })
    }

    fn copy_into(self, account: &mut Account, shared: &Shared) -> VaultRecord {
        let VaultRecord { name, description, cover_image_url, .. } = self.record;
        let new = NewVault { name, description, visibility: VaultVisibility::Private };
        let vault = account.insert_vault(new, shared);
        vault.record.cover_image_url = cover_image_url;
        let mut copy = vault.record.clone();
        for prompt in self.prompts {
            let prompt = PromptRecord {
                id: shared.next_prompt(),
                vault_ids: Vec::new(),
                created_at: copy.created_at,
                updated_at: copy.created_at,
                ..Arc::unwrap_or_clone(prompt)
            };
            let id = prompt.id;
            account.insert_prompt(prompt);
            account.add_member(copy.id, id, shared);
            copy.prompt_count += 1;
        }
        copy
    }
}
