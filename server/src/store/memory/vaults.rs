//! Vaults, forks and memberships.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use futures::{StreamExt, stream};
use promptarium::{PromptId, VaultId};

use super::MemoryStore;
use super::account::set;
use super::data::{StoredPrompt, later};
use crate::domain::{
    Caller, Membership, NewVault, PromptRecord, VaultPatch, VaultRecord, VaultVisibility,
};
use crate::store::{Contents, MembershipStore, Moved, Result, StoreError, VaultStore};

#[async_trait]
impl VaultStore for MemoryStore {
    async fn vaults(&self, caller: &Caller) -> Result<Vec<VaultRecord>> {
        let mut vaults = self.newest_vaults(caller, usize::MAX).await?;
        vaults.sort_unstable_by_key(|vault| Reverse((vault.created_at, vault.id)));
        Ok(vaults)
    }

    async fn newest_vaults(&self, caller: &Caller, limit: usize) -> Result<Vec<VaultRecord>> {
        self.read(caller, |own| Ok(own.vaults().rev().take(limit).cloned().collect())).await
    }

    async fn create_vault(&self, caller: &Caller, new: NewVault) -> Result<VaultRecord> {
        self.write(caller, |own| {
            own.check_room(1, 0)?;
            let record = new.record(own.data.now());
            Ok(own.insert_vault(record))
        })
        .await
    }

    async fn vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord> {
        self.read(caller, |own| own.vault(id).cloned()).await
    }

    async fn update_vault(
        &self,
        caller: &Caller,
        id: VaultId,
        patch: VaultPatch,
    ) -> Result<VaultRecord> {
        self.write(caller, |own| {
            let before = own.vault(id)?;
            let name = patch.name.as_ref().filter(|name| **name != before.name);
            if name.is_some() && before.system {
                return Err(StoreError::SystemVaultRename);
            }
            if patch == VaultPatch::default() {
                return Ok(before.clone());
            }
            let slug = name.map(|name| own.free_slug(name, Some(id)));
            let now = own.data.now();
            let record = own.vault_mut(id)?;
            set(&mut record.slug, slug);
            set(&mut record.name, patch.name);
            set(&mut record.description, patch.description);
            set(&mut record.visibility, patch.visibility);
            set(&mut record.cover_image, patch.cover_image);
            record.updated_at = later(now, record.updated_at);
            Ok(record.clone())
        })
        .await
    }

    async fn delete_vault(&self, caller: &Caller, id: VaultId) -> Result<()> {
        let _turn = self.long_step(caller).await?;
        self.write(caller, |own| {
            if own.vault(id)?.system {
                return Err(StoreError::SystemVaultDelete);
            }
            for member in own.members(id).map(|(id, _)| id).collect::<Vec<_>>() {
                own.remove_member(Membership { vault: id, id: member })?;
            }
            own.data.vaults.remove(&(own.id, id));
            Ok(())
        })
        .await
    }

    async fn fork_vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord> {
        let _turn = self.long_step(caller).await?;
        self.write(caller, |own| {
            let mut accounts = own.data.accounts.iter().map(|(id, _)| own.data.of(*id));
            let owner = accounts.find(|account| account.vault(id).is_ok());
            drop(accounts);
            let owner = owner.ok_or(StoreError::NotFound)?;
            let source = owner.vault(id)?.clone();
            if source.visibility == VaultVisibility::Private {
                let refused = StoreError::ForkOfPrivateVault;
                return Err(if owner.id == own.id { refused } else { StoreError::NotFound });
            }
            let prompts = owner.members(id).map(|(_, member)| owner.stored(member.prompt).cloned());
            let prompts = prompts.collect::<Result<Vec<_>>>()?;

            own.check_room(1, prompts.len())?;
            let now = own.data.now();
            let (created_at, updated_at) = (now, now);
            let visibility = VaultVisibility::Private;
            let copy = VaultRecord { visibility, system: false, created_at, updated_at, ..source };
            let id = own.insert_vault(copy).id;
            for StoredPrompt { shown, inputs } in prompts {
                let copy = PromptRecord { created_at, updated_at, ..Arc::unwrap_or_clone(shown) };
                let prompt = own.insert_prompt(copy, inputs);
                own.add_member(id, prompt);
            }
            own.vault(id).cloned()
        })
        .await
    }
}

#[async_trait]
impl MembershipStore for MemoryStore {
    async fn contents(&self, caller: &Caller, vault: VaultId) -> Result<Contents> {
        let snapshot = self.read(caller, |own| own.contents(vault)).await?;
        let entries = stream::iter(snapshot.into_iter().map(Ok)).boxed();
        // They are in the store anyway.
        Ok(Contents { bytes: 0, entries })
    }

    async fn add_prompts(
        &self,
        caller: &Caller,
        vault: VaultId,
        prompts: &[PromptId],
    ) -> Result<(usize, u64)> {
        self.write(caller, |own| {
            own.vault(vault)?;
            let mut seen = BTreeSet::new();
            let unknown = prompts.iter().filter(|id| own.stored(**id).is_err());
            let unknown: Vec<_> = unknown.filter(|id| seen.insert(**id)).copied().collect();
            if !unknown.is_empty() {
                return Err(StoreError::UnknownPrompts(unknown));
            }
            let added = prompts.iter().filter_map(|id| own.add_member(vault, *id)).count();
            Ok((added, own.vault(vault)?.prompt_count))
        })
        .await
    }

    async fn remove_membership(&self, caller: &Caller, at: Membership) -> Result<()> {
        self.write(caller, |own| own.remove_member(at).map(drop)).await
    }

    async fn move_membership(&self, caller: &Caller, at: Membership, to: VaultId) -> Result<Moved> {
        self.write(caller, |own| {
            own.member(at)?;
            own.vault(to).map_err(|_| StoreError::UnknownTargetVault)?;
            let prompt = own.remove_member(at)?;
            own.remove_prompt(to, prompt)?;
            let membership = own.add_member(to, prompt).ok_or(StoreError::NotFound)?;
            Ok(Moved { prompt, membership })
        })
        .await
    }

    async fn set_pinned(&self, caller: &Caller, at: Membership, pinned: bool) -> Result<()> {
        self.write(caller, |own| own.set_pinned(at, pinned)).await
    }
}
