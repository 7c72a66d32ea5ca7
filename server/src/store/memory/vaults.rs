//! Vaults, forks and memberships.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use futures::{StreamExt, stream};
use promptarium::{PromptId, VaultId};

use super::MemoryStore;
use super::account::set;
use super::data::Data;
use super::rows::{StoredPrompt, later};
use crate::domain::{
    AccountId, Caller, ListedPrompt, Membership, NewVault, PromptRecord, VaultPatch, VaultRecord,
    VaultVisibility,
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
        let own = caller.account;
        self.read(caller, |data| Ok(data.vaults_of(own).rev().take(limit).cloned().collect())).await
    }

    async fn create_vault(&self, caller: &Caller, new: NewVault) -> Result<VaultRecord> {
        self.write(caller, |data| {
            data.check_room(caller.account, 1, 0)?;
            let record = new.record(data.now());
            Ok(data.insert_vault(caller.account, record))
        })
        .await
    }

    async fn vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord> {
        self.read(caller, |data| data.vault(caller.account, id).cloned()).await
    }

    async fn update_vault(
        &self,
        caller: &Caller,
        id: VaultId,
        patch: VaultPatch,
    ) -> Result<VaultRecord> {
        let own = caller.account;
        self.write(caller, |data| {
            let before = data.vault(own, id)?;
            let name = patch.name.as_ref().filter(|name| **name != before.name);
            if name.is_some() && before.system {
                return Err(StoreError::SystemVaultRename);
            }
            if patch == VaultPatch::default() {
                return Ok(before.clone());
            }
            let slug = name.map(|name| data.free_slug(own, name, Some(id)));
            let now = data.now();
            let record = data.vault_mut(own, id)?;
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
        let own = caller.account;
        self.write(caller, |data| {
            if data.vault(own, id)?.system {
                return Err(StoreError::SystemVaultDelete);
            }
            for member in data.members_of(own, id).map(|(id, _)| id).collect::<Vec<_>>() {
                data.remove_member(own, Membership { vault: id, id: member })?;
            }
            data.vaults.remove(&(own, id));
            Ok(())
        })
        .await
    }

    async fn fork_vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord> {
        let _turn = self.long_step(caller).await?;
        let own = caller.account;
        self.write(caller, |data| {
            let owner = data.owner_of(id)?;
            let source = data.vault(owner, id)?.clone();
            if source.visibility == VaultVisibility::Private {
                let refused = StoreError::ForkOfPrivateVault;
                return Err(if owner == own { refused } else { StoreError::NotFound });
            }
            let prompts = data.members_of(owner, id);
            let prompts = prompts.map(|(_, member)| data.stored(owner, member.prompt).cloned());
            let prompts = prompts.collect::<Result<Vec<_>>>()?;

            data.check_room(own, 1, prompts.len())?;
            let now = data.now();
            let (created_at, updated_at) = (now, now);
            let visibility = VaultVisibility::Private;
            let copy = VaultRecord { visibility, system: false, created_at, updated_at, ..source };
            let id = data.insert_vault(own, copy).id;
            for StoredPrompt { shown, inputs } in prompts {
                let copy = PromptRecord { created_at, updated_at, ..Arc::unwrap_or_clone(shown) };
                let prompt = data.insert_prompt(own, copy, inputs);
                data.add_member(own, id, prompt);
            }
            data.vault(own, id).cloned()
        })
        .await
    }
}

#[async_trait]
impl MembershipStore for MemoryStore {
    async fn contents(&self, caller: &Caller, vault: VaultId) -> Result<Contents> {
        let snapshot = self.read(caller, |data| listed(data, caller.account, vault)).await?;
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
        let own = caller.account;
        self.write(caller, |data| {
            data.vault(own, vault)?;
            let mut seen = BTreeSet::new();
            let unknown = prompts.iter().filter(|id| !data.prompts.contains(&(own, **id)));
            let unknown: Vec<_> = unknown.filter(|id| seen.insert(**id)).copied().collect();
            if !unknown.is_empty() {
                return Err(StoreError::UnknownPrompts(unknown));
            }
            let added = prompts.iter().filter_map(|id| data.add_member(own, vault, *id)).count();
            Ok((added, data.vault(own, vault)?.prompt_count))
        })
        .await
    }

    async fn remove_membership(&self, caller: &Caller, at: Membership) -> Result<()> {
        self.write(caller, |data| data.remove_member(caller.account, at).map(drop)).await
    }

    async fn move_membership(&self, caller: &Caller, at: Membership, to: VaultId) -> Result<Moved> {
        let own = caller.account;
        self.write(caller, |data| {
            data.member(own, at)?;
            data.vault(own, to).map_err(|_| StoreError::UnknownTargetVault)?;
            let prompt = data.remove_member(own, at)?;
            data.remove_prompt(own, to, prompt)?;
            let membership = data.add_member(own, to, prompt);
            Ok(Moved { prompt, membership: membership.ok_or(StoreError::NotFound)? })
        })
        .await
    }

    async fn set_pinned(&self, caller: &Caller, at: Membership, pinned: bool) -> Result<()> {
        self.write(caller, |data| data.set_pinned(caller.account, at, pinned)).await
    }
}

/// The contents of a vault in display order.
pub(super) fn listed(data: &Data, own: AccountId, vault: VaultId) -> Result<Vec<ListedPrompt>> {
    data.vault(own, vault)?;
    let mut members: Vec<_> = data.members_of(own, vault).collect();
    members.sort_unstable_by_key(|(membership, member)| Reverse((member.pin, *membership)));
    let listed = members.into_iter().map(|(membership, member)| {
        let prompt = data.prompt(own, member.prompt)?;
        Ok(ListedPrompt { prompt, membership, pinned: member.pin.is_some() })
    });
    listed.collect()
}
