//! Memberships.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use futures::{StreamExt, stream};
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::MemoryStore;
use crate::domain::{Caller, ListedPrompt};
use crate::store::{Added, Contents, MembershipStore, Moved, Result, StoreError};

#[async_trait]
impl MembershipStore for MemoryStore {
    async fn contents(&self, caller: &Caller, vault: VaultId) -> Result<Contents> {
        let snapshot = self.read(caller.account, |account| {
            let order = &account.vault(vault)?.order;
            let mut snapshot = Vec::with_capacity(order.len());
            snapshot.extend(order.iter().rev().filter_map(|((pin, membership), prompt)| {
                let prompt = Arc::clone(account.prompts.get(prompt)?);
                Some(ListedPrompt { prompt, membership: *membership, pinned: pin.is_some() })
            }));
            Ok(snapshot)
        })?;
        Ok(stream::iter(snapshot).map(Ok).boxed())
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
        self.write(caller.account, |account, _| {
            let vault = account.vaults.get_mut(&vault).ok_or(StoreError::NotFound)?;
            let member = vault.members.get_mut(&membership).ok_or(StoreError::NotFound)?;
            if member.pin.is_some() != pinned {
                vault.order.remove(&(member.pin, membership));
                vault.last_pin += 1;
                member.pin = pinned.then_some(vault.last_pin);
                vault.order.insert((member.pin, membership), member.prompt);
            }
            Ok(())
        })
    }
}
