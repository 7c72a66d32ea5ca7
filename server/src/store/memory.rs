//! The store that keeps everything in memory: nothing to set up, nothing left
//! behind.
//!
//! Each account has one lock, and each step holds it once, so a step is atomic
//! by itself. What a step does is written in plain functions on `Account`;
//! here stand only the locks. Records leave as shared snapshots, so no lock is
//! held while an answer is written, and a reader never sees a later change.
//!
//! Locks are taken in this order: keys, accounts, one account, commons. Two
//! accounts are never locked at once.

mod account;
mod by_kind;
mod commons;
mod contents;
mod fork;
#[cfg(test)]
mod invariants;
mod jobs;
mod keys;
mod lock;
mod prompts;
mod schedule;
mod slugs;
#[cfg(test)]
mod tests;
mod vault;
mod vaults;

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use async_trait::async_trait;
use futures::StreamExt;
use promptarium::{PromptId, VaultId, VaultPromptId};

use self::account::Account;
use self::commons::Commons;
use self::keys::Keyring;
use super::{Added, Contents, Moved, Store, StoreError};
use crate::clock::Clock;
use crate::domain::{
    AccountId, Caller, KeyRecord, NewKey, NewPrompt, NewVault, PromptPage, PromptPatch,
    PromptQuery, SharedPrompt, VaultPatch, VaultRecord,
};

/// A [`Store`] in memory. All its futures are ready at once, but for the one that
/// waits for a job.
#[derive(Debug)]
pub struct MemoryStore {
    commons: Commons,
    keys: RwLock<Keyring>,
    accounts: RwLock<HashMap<AccountId, Arc<RwLock<Account>>>>,
}

impl MemoryStore {
    /// An empty store that takes its times from `clock`.
    pub fn new(clock: Clock) -> Self {
        let commons = Commons::new(clock);
        Self { commons, keys: RwLock::default(), accounts: RwLock::default() }
    }

    /// Makes an account, ready for use.
    fn open_account(&self) -> AccountId {
        let id = self.commons.next_account();
        let account = Account::open(id, &self.commons);
        lock::write(&self.accounts).insert(id, Arc::new(RwLock::new(account)));
        id
    }

    /// An account that does not exist has nothing.
    fn account(&self, id: AccountId) -> Result<Arc<RwLock<Account>>, StoreError> {
        lock::read(&self.accounts).get(&id).cloned().ok_or(StoreError::NotFound)
    }

    /// One step that only looks; others may look at the same time.
    fn read<T>(
        &self,
        id: AccountId,
        step: impl FnOnce(&Account) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        step(&lock::read(&*self.account(id)?))
    }

    /// One step that may change the account.
    fn write<T>(
        &self,
        id: AccountId,
        step: impl FnOnce(&mut Account, &Commons) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        step(&mut lock::write(&*self.account(id)?), &self.commons)
    }
}

#[async_trait]
impl Store for MemoryStore {
    fn name(&self) -> &'static str {
        "memory"
    }

    async fn seed_key(&self, account: &str, key: NewKey) -> Result<(), StoreError> {
        lock::write(&self.keys).seed(account, key, || self.open_account())
    }

    async fn find_key(&self, public_id: &str) -> Result<Option<KeyRecord>, StoreError> {
        Ok(lock::read(&self.keys).find(public_id).cloned())
    }

    async fn confirm_key(&self, _: &Caller) -> Result<(), StoreError> {
        // What `find_key` gave is never out of date here: no key is revoked later.
        Ok(())
    }

    async fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn create_prompt(
        &self,
        caller: &Caller,
        new: NewPrompt,
    ) -> Result<SharedPrompt, StoreError> {
        self.write(caller.account, |account, commons| account.create_prompt(new, commons))
    }

    async fn prompt(&self, caller: &Caller, id: PromptId) -> Result<SharedPrompt, StoreError> {
        self.read(caller.account, |account| account.prompt(id))
    }

    async fn list_prompts(
        &self,
        caller: &Caller,
        query: PromptQuery,
    ) -> Result<PromptPage, StoreError> {
        self.read(caller.account, |account| account.list_prompts(query))
    }

    async fn update_prompt(
        &self,
        caller: &Caller,
        id: PromptId,
        patch: PromptPatch,
    ) -> Result<SharedPrompt, StoreError> {
        self.write(caller.account, |account, commons| account.update_prompt(id, patch, commons))
    }

    async fn delete_prompt(&self, caller: &Caller, id: PromptId) -> Result<(), StoreError> {
        self.write(caller.account, |account, _| account.delete_prompt(id))
    }

    async fn save_prompt(
        &self,
        caller: &Caller,
        id: PromptId,
        vault: VaultId,
    ) -> Result<SharedPrompt, StoreError> {
        self.write(caller.account, |account, commons| account.save_prompt(id, vault, commons))
    }

    async fn vaults(&self, caller: &Caller) -> Result<Vec<VaultRecord>, StoreError> {
        self.read(caller.account, |account| Ok(account.list_vaults()))
    }

    async fn create_vault(
        &self,
        caller: &Caller,
        new: NewVault,
    ) -> Result<VaultRecord, StoreError> {
        self.write(caller.account, |account, commons| Ok(account.create_vault(new, commons)))
    }

    async fn vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord, StoreError> {
        self.read(caller.account, |account| account.vault(id))
    }

    async fn update_vault(
        &self,
        caller: &Caller,
        id: VaultId,
        patch: VaultPatch,
    ) -> Result<VaultRecord, StoreError> {
        self.write(caller.account, |account, commons| account.update_vault(id, patch, commons))
    }

    async fn delete_vault(&self, caller: &Caller, id: VaultId) -> Result<(), StoreError> {
        self.write(caller.account, |account, commons| account.delete_vault(id, commons))
    }

    async fn fork_vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord, StoreError> {
        let owner = self.commons.owner(id).ok_or(StoreError::NotFound)?;
        if owner == caller.account {
            return self.write(owner, |account, commons| {
                let original = account.original(id, owner)?;
                account.adopt(original, commons)
            });
        }
        let original = self.read(owner, |account| account.original(id, caller.account))?;
        self.write(caller.account, |account, commons| account.adopt(original, commons))
    }

    async fn contents(&self, caller: &Caller, vault: VaultId) -> Result<Contents, StoreError> {
        let snapshot = self.read(caller.account, |account| account.contents(vault))?;
        Ok(futures::stream::iter(snapshot.into_iter().map(Ok)).boxed())
    }

    async fn add_prompts(
        &self,
        caller: &Caller,
        vault: VaultId,
        prompts: &[PromptId],
    ) -> Result<Added, StoreError> {
        self.write(caller.account, |account, commons| account.add_prompts(vault, prompts, commons))
    }

    async fn remove_membership(
        &self,
        caller: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
    ) -> Result<(), StoreError> {
        self.write(caller.account, |account, _| account.remove_membership(vault, membership))
    }

    async fn move_membership(
        &self,
        caller: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
        target: VaultId,
    ) -> Result<Moved, StoreError> {
        self.write(caller.account, |account, commons| {
            account.move_membership(vault, membership, target, commons)
        })
    }

    async fn set_pinned(
        &self,
        caller: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
        pinned: bool,
    ) -> Result<(), StoreError> {
        self.write(caller.account, |account, _| account.set_pinned(vault, membership, pinned))
    }
}
