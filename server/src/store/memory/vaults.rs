//! Vaults, forks and memberships.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use futures::{StreamExt, stream};
use promptarium::{PromptId, VaultId};

use super::MemoryStore;
use super::account::{Account, StoredPrompt, Vault, later, set};
use crate::domain::{
    Caller, ListedPrompt, Membership, NewVault, PromptRecord, VaultPatch, VaultRecord,
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
        self.read(caller, |account| {
            Ok(account.vaults.values().rev().take(limit).map(Vault::shown).collect())
        })
    }

    async fn create_vault(&self, caller: &Caller, new: NewVault) -> Result<VaultRecord> {
        self.write(caller, |account| {
            account.check_room(1, 0)?;
            Ok(account.insert_vault(new.record(account.now())).shown())
        })
    }

    async fn vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord> {
        self.read(caller, |account| account.vault(id).map(Vault::shown))
    }

    async fn update_vault(
        &self,
        caller: &Caller,
        id: VaultId,
        patch: VaultPatch,
    ) -> Result<VaultRecord> {
        self.write(caller, |account| {
            let before = &account.vault(id)?.record;
            let name = patch.name.as_ref().filter(|name| **name != before.name);
            if name.is_some() && before.system {
                return Err(StoreError::SystemVaultRename);
            }
            let slug = name.map(|name| account.free_slug(name, Some(id)));
            let now = account.now();
            let vault = account.vault_mut(id)?;
            let record = &mut vault.record;
            if patch != VaultPatch::default() {
                set(&mut record.slug, slug);
                set(&mut record.name, patch.name);
                set(&mut record.description, patch.description);
                set(&mut record.visibility, patch.visibility);
                set(&mut record.cover_image, patch.cover_image);
                record.updated_at = later(now, record.updated_at);
            }
            Ok(vault.shown())
        })
    }

    async fn delete_vault(&self, caller: &Caller, id: VaultId) -> Result<()> {
        let _turn = self.long_step(caller).await?;
        self.write(caller, |account| {
            let vault = account.vault(id)?;
            if vault.record.system {
                return Err(StoreError::SystemVaultDelete);
            }
            for member in vault.members.keys().copied().collect::<Vec<_>>() {
                account.remove_member(Membership { vault: id, id: member })?;
            }
            account.vaults.remove(&id);
            Ok(())
        })
    }

    async fn fork_vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord> {
        let _turn = self.long_step(caller).await?;
        let mut data = self.locked(caller)?;
        let owner = data.accounts.values().find(|account| account.vaults.contains_key(&id));
        let owner = owner.ok_or(StoreError::NotFound)?;
        let source = owner.vault(id)?;
        if source.record.visibility == VaultVisibility::Private {
            let own = owner.id == caller.account;
            return Err(if own { StoreError::ForkOfPrivateVault } else { StoreError::NotFound });
        }
        let copy = source.record.clone();
        let prompts = source.members.values().map(|member| owner.stored(member.prompt).cloned());
        let prompts = prompts.collect::<Result<Vec<_>>>()?;

        let account = data.account_mut(caller.account)?;
        account.check_room(1, prompts.len())?;
        let now = account.now();
        let (created_at, updated_at) = (now, now);
        let visibility = VaultVisibility::Private;
        let copy = VaultRecord { visibility, system: false, created_at, updated_at, ..copy };
        let id = account.insert_vault(copy).record.id;
        for StoredPrompt { shown, inputs } in prompts {
            let copy = PromptRecord { created_at, updated_at, ..Arc::unwrap_or_clone(shown) };
            let prompt = account.insert_prompt(copy, inputs);
            account.add_member(id, prompt);
        }
        account.vault(id).map(Vault::shown)
    }
}

#[async_trait]
impl MembershipStore for MemoryStore {
    async fn contents(&self, caller: &Caller, vault: VaultId) -> Result<Contents> {
        let snapshot = self.read(caller, |account| listed(account, vault))?;
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
        self.write(caller, |account| {
            account.vault(vault)?;
            let mut seen = BTreeSet::new();
            let unknown = prompts.iter().filter(|id| !account.prompts.contains_key(id));
            let unknown: Vec<_> = unknown.filter(|id| seen.insert(**id)).copied().collect();
            if !unknown.is_empty() {
                return Err(StoreError::UnknownPrompts(unknown));
            }
            let added = prompts.iter().filter_map(|id| account.add_member(vault, *id));
            let added = added.count();
            Ok((added, account.vault(vault)?.members.len() as u64))
        })
    }

    async fn remove_membership(&self, caller: &Caller, at: Membership) -> Result<()> {
        self.write(caller, |account| account.remove_member(at).map(drop))
    }

    async fn move_membership(&self, caller: &Caller, at: Membership, to: VaultId) -> Result<Moved> {
        self.write(caller, |account| {
            account.member_mut(at)?;
            account.vault(to).map_err(|_| StoreError::UnknownTargetVault)?;
            let prompt = account.remove_member(at)?;
            account.remove_prompt(to, prompt)?;
            let membership = account.add_member(to, prompt);
            Ok(Moved { prompt, membership: membership.ok_or(StoreError::NotFound)? })
        })
    }

    async fn set_pinned(&self, caller: &Caller, at: Membership, pinned: bool) -> Result<()> {
        self.write(caller, |account| account.set_pinned(at, pinned))
    }
}

/// The contents of a vault in display order.
pub(super) fn listed(account: &Account, vault: VaultId) -> Result<Vec<ListedPrompt>> {
    let mut members: Vec<_> = account.vault(vault)?.members.iter().collect();
    members.sort_unstable_by_key(|(membership, member)| Reverse((member.pin, **membership)));
    let listed = members.into_iter().map(|(membership, member)| {
        let prompt = account.prompt(member.prompt)?;
        Ok(ListedPrompt { prompt, membership: *membership, pinned: member.pin.is_some() })
    });
    listed.collect()
}
