//! Vaults, forks and memberships.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use async_trait::async_trait;
use futures::{StreamExt, stream};
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::account::{Account, later, remove_vault_id, set};
use super::{MemoryStore, Shared, read, write};
use crate::domain::{
    AccountId, Caller, ListedPrompt, NewVault, PromptRecord, SharedPrompt, VaultPatch, VaultRecord,
    VaultVisibility,
};
use crate::store::{Added, Contents, MembershipStore, Moved, Result, StoreError, VaultStore};

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
            write(&shared.owners).remove(&id);
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
        let owner = read(&self.shared.owners).get(&id).copied().ok_or(StoreError::NotFound)?;
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

#[async_trait]
impl MembershipStore for MemoryStore {
    async fn contents(&self, caller: &Caller, vault: VaultId) -> Result<Contents> {
        let snapshot = self.read(caller.account, |account| {
            let members = &account.vault(vault)?.members;
            let mut snapshot = Vec::with_capacity(members.len());
            snapshot.extend(members.iter().filter_map(|(membership, member)| {
                let prompt = Arc::clone(account.prompts.get(&member.prompt)?);
                Some((
                    member.pin,
                    ListedPrompt { prompt, membership: *membership, pinned: member.pin.is_some() },
                ))
            }));
            snapshot.sort_unstable_by_key(|(pin, listed)| Reverse((*pin, listed.membership)));
            Ok(snapshot)
        })?;
        Ok(stream::iter(snapshot).map(|(_, listed)| Ok(listed)).boxed())
    }

    async fn add_prompts(
        &self,
        caller: &Caller,
        vault: VaultId,
        prompts: &[PromptId],
    ) -> Result<Added> {
        self.write(caller.account, |account, shared| {
            account.vault(vault)?;
            let mut seen = BTreeSet::new();
            let unknown = prompts.iter().filter(|id| !account.prompts.contains_key(id));
            let unknown: Vec<_> = unknown.filter(|id| seen.insert(**id)).copied().collect();
            if !unknown.is_empty() {
                return Err(StoreError::UnknownPrompts(unknown));
            }
            let added = prompts.iter().filter_map(|id| account.add_member(vault, *id, shared));
            let added = added.count();
            Ok(Added { added, prompt_count: account.vault(vault)?.record.prompt_count })
        })
    }

    async fn remove_membership(
        &self,
        caller: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
    ) -> Result<()> {
        self.write(caller.account, |account, _| {
            let prompt = account.vault(vault)?.prompt_of(membership)?;
            account.remove_member(vault, prompt);
            Ok(())
        })
    }

    async fn move_membership(
        &self,
        caller: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
        target: VaultId,
    ) -> Result<Moved> {
        self.write(caller.account, |account, shared| {
            let prompt = account.vault(vault)?.prompt_of(membership)?;
            account.vault(target).map_err(|_| StoreError::UnknownTargetVault)?;
            account.remove_member(vault, prompt);
            account.remove_member(target, prompt);
            let membership = account.add_member(target, prompt, shared);
            Ok(Moved { prompt, membership: membership.ok_or(StoreError::NotFound)? })
        })
    }

    async fn set_pinned(
        &self,
        caller: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
        pinned: bool,
    ) -> Result<()> {
        self.write(caller.account, |account, shared| {
            let vault = account.vaults.get_mut(&vault);
            let member = vault.and_then(|vault| vault.members.get_mut(&membership));
            let member = member.ok_or(StoreError::NotFound)?;
            if member.pin.is_some() != pinned {
                member.pin = pinned.then(|| shared.pins.next());
            }
            Ok(())
        })
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
                id: PromptId::new(shared.prompts.next()),
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
