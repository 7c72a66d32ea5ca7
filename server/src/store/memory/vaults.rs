//! Vaults, forks and memberships.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use futures::{StreamExt, stream};
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::account::{Account, StoredPrompt, later, set};
use super::{MemoryStore, Shared, next, read, write};
use crate::domain::{
    AccountId, Caller, ListedPrompt, NewPrompt, NewVault, PromptRecord, VaultPatch, VaultRecord,
    VaultVisibility,
};
use crate::limits::MEMORY_FORK_PROMPTS_MAX;
use crate::store::{Added, Contents, MembershipStore, Moved, Result, StoreError, VaultStore};

#[async_trait]
impl VaultStore for MemoryStore {
    async fn vaults(&self, caller: &Caller) -> Result<Vec<VaultRecord>> {
        self.read(caller, |account| {
            let vaults = account.vaults.values();
            let mut vaults: Vec<_> = vaults.map(|vault| vault.record.clone()).collect();
            vaults.sort_unstable_by_key(|vault| Reverse((vault.created_at, vault.id)));
            Ok(vaults)
        })
    }

    async fn newest_vaults(&self, caller: &Caller, limit: usize) -> Result<Vec<VaultRecord>> {
        self.read(caller, |account| {
            let newest = account.vaults.values().rev().take(limit);
            Ok(newest.map(|vault| vault.record.clone()).collect())
        })
    }

    async fn create_vault(&self, caller: &Caller, new: NewVault) -> Result<VaultRecord> {
        self.write(caller, |account, shared| {
            account.check_vault_count(shared)?;
            Ok(account.insert_vault(new, shared).record.clone())
        })
    }

    async fn vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord> {
        self.read(caller, |account| Ok(account.vault(id)?.record.clone()))
    }

    async fn update_vault(
        &self,
        caller: &Caller,
        id: VaultId,
        patch: VaultPatch,
    ) -> Result<VaultRecord> {
        self.write(caller, |account, shared| {
            let before = &account.vault(id)?.record;
            let name = patch.name.as_ref().filter(|name| **name != before.name);
            if name.is_some() && before.system {
                return Err(StoreError::SystemVaultRename);
            }
            let slug = name.map(|name| account.free_slug(name, Some(id)));
            let record = &mut account.vault_mut(id)?.record;
            if !patch.is_empty() {
                set(&mut record.slug, slug);
                set(&mut record.name, patch.name);
                set(&mut record.description, patch.description);
                set(&mut record.visibility, patch.visibility);
                record.updated_at = later(shared.now(), record.updated_at);
            }
            Ok(record.clone())
        })
    }

    async fn delete_vault(&self, caller: &Caller, id: VaultId) -> Result<()> {
        let _permit = self.long_step(caller.account).await?;
        self.write(caller, |account, shared| {
            let vault = account.vault(id)?;
            if vault.record.system {
                return Err(StoreError::SystemVaultDelete);
            }
            for prompt in vault.by_prompt.clone().into_keys() {
                account.remove_member(id, prompt);
            }
            account.vaults.remove(&id);
            write(&shared.owners).remove(&id);
            Ok(())
        })
    }

    /// Reads the source and writes the copy in two steps, so that two accounts are never
    /// locked at once. Within one account both happen under one lock.
    async fn fork_vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord> {
        read(&self.keys).check(caller)?;
        let _permit = self.long_step(caller.account).await?;
        let owner = read(&self.shared.owners).get(&id).copied().ok_or(StoreError::NotFound)?;
        if owner == caller.account {
            return self.write(caller, |account, shared| {
                let source = Source::read(account, id, owner)?;
                source.copy_into(account, shared)
            });
        }
        let source = Source::read(&read(&*self.account(owner)?), id, caller.account)?;
        self.write(caller, |account, shared| source.copy_into(account, shared))
    }
}

#[async_trait]
impl MembershipStore for MemoryStore {
    async fn contents(&self, caller: &Caller, vault: VaultId) -> Result<Contents> {
        let snapshot: BTreeMap<_, _> = self.read(caller, |account| {
            let members = account.vault(vault)?.members.iter();
            let listed = members.filter_map(|(membership, member)| {
                let prompt = account.prompt(member.prompt).ok()?;
                let pinned = member.pin.is_some();
                let listed = ListedPrompt { prompt, membership: *membership, pinned };
                Some((Reverse((member.pin, *membership)), listed))
            });
            Ok(listed.collect())
        })?;
        let entries = stream::iter(snapshot.into_values().map(Ok)).boxed();
        // They are in the store anyway.
        Ok(Contents { bytes: 0, entries })
    }

    async fn add_prompts(
        &self,
        caller: &Caller,
        vault: VaultId,
        prompts: &[PromptId],
    ) -> Result<Added> {
        self.write(caller, |account, shared| {
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
        self.write(caller, |account, _| {
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
        self.write(caller, |account, shared| {
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
        self.write(caller, |account, shared| {
            let member = account.vault_mut(vault)?.members.get_mut(&membership);
            let member = member.ok_or(StoreError::NotFound)?;
            if member.pin.is_some() != pinned {
                member.pin = pinned.then(|| next(&shared.others));
            }
            Ok(())
        })
    }
}

/// A snapshot of what a fork copies.
struct Source {
    record: VaultRecord,
    /// In the order of addition.
    prompts: Vec<StoredPrompt>,
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

    fn copy_into(self, account: &mut Account, shared: &Shared) -> Result<VaultRecord> {
        account.check_vault_count(shared)?;
        // One request may copy as many prompts as a vault has, so a few could use up the memory.
        if account.prompts.len() + self.prompts.len() > MEMORY_FORK_PROMPTS_MAX {
            return Err(StoreError::TooManyPrompts);
        }
        let VaultRecord { name, description, cover_image, .. } = self.record;
        let new = NewVault { name, description, visibility: VaultVisibility::Private };
        let copy = &mut account.insert_vault(new, shared).record;
        copy.cover_image = cover_image;
        let (id, now, vault) = (copy.id, copy.created_at, Some(copy.id));
        for StoredPrompt { shown, inputs } in self.prompts {
            let PromptRecord { title, text, kind, platform, images, .. } =
                Arc::unwrap_or_clone(shown);
            let new = NewPrompt { title, text, kind, platform, inputs, vault };
            account.create_prompt(new, images, now, shared)?;
        }
        Ok(account.vault(id)?.record.clone())
    }
}
