//! The in-memory store: needs no setup and loses everything at exit.
//!
//! Each account has one lock, which every method holds exactly once, so each method is
//! atomic. Records are shared snapshots (`Arc`): no lock is held while a response is
//! written, and a reader never sees a later change.
//!
//! Locks are taken in this order: keys, accounts, one account, vault owners and schedule.
//! Two accounts are never locked at once.

mod account;
mod jobs;
mod prompts;
mod schedule;
#[cfg(test)]
mod tests;
mod vaults;

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use async_trait::async_trait;
use jiff::Timestamp;
use promptarium::VaultId;

use self::account::Account;
use self::schedule::Schedule;
use super::{KeyStore, Result, Store, StoreError};
use crate::clock::Clock;
use crate::domain::{AccountId, Caller, KeyId, KeyRecord, NewKey, NewVault, VaultVisibility};

/// A [`Store`] in memory. Its futures are ready at once, except for
/// [`job_due`](super::JobQueue::job_due).
#[derive(Debug)]
pub struct MemoryStore {
    shared: Shared,
    keys: RwLock<Keys>,
    accounts: RwLock<HashMap<AccountId, Arc<RwLock<Account>>>>,
}

impl MemoryStore {
    /// An empty store that takes its times from `clock`.
    pub fn new(clock: Clock) -> Self {
        Self { shared: Shared::new(clock), keys: RwLock::default(), accounts: RwLock::default() }
    }

    fn account(&self, id: AccountId) -> Result<Arc<RwLock<Account>>> {
        read(&self.accounts).get(&id).cloned().ok_or(StoreError::NotFound)
    }

    /// Runs `step` under the account's read lock.
    fn read<T>(&self, id: AccountId, step: impl FnOnce(&Account) -> Result<T>) -> Result<T> {
        step(&read(&*self.account(id)?))
    }

    /// Runs `step` under the account's write lock.
    fn write<T>(
        &self,
        id: AccountId,
        step: impl FnOnce(&mut Account, &Shared) -> Result<T>,
    ) -> Result<T> {
        step(&mut write(&*self.account(id)?), &self.shared)
    }
}

#[async_trait]
impl Store for MemoryStore {
    fn name(&self) -> &'static str {
        "memory"
    }

    async fn check(&self) -> Result<()> {
        Ok(())
    }
}

#[derive(Debug, Default)]
struct Keys {
    by_public_id: HashMap<Box<str>, KeyRecord>,
    accounts: HashMap<Box<str>, AccountId>,
}

#[async_trait]
impl KeyStore for MemoryStore {
    async fn seed_key(&self, account: &str, key: NewKey) -> Result<()> {
        let mut keys = write(&self.keys);
        let existing = keys.accounts.get(account).copied();
        if let Some(known) = keys.by_public_id.get(&key.public_id) {
            let same = Some(known.account) == existing && known.key == key;
            return if same { Ok(()) } else { Err(StoreError::KeyTaken) };
        }
        let owner = existing.unwrap_or_else(|| {
            let id = self.create_account();
            keys.accounts.insert(account.into(), id);
            id
        });
        let id = KeyId(i64::try_from(keys.by_public_id.len()).unwrap_or(i64::MAX));
        let public_id = key.public_id.clone();
        keys.by_public_id.insert(public_id, KeyRecord { id, account: owner, key });
        Ok(())
    }

    async fn find_key(&self, public_id: &str) -> Result<Option<KeyRecord>> {
        Ok(read(&self.keys).by_public_id.get(public_id).cloned())
    }

    async fn confirm_key(&self, _: &Caller) -> Result<()> {
        // This store never revokes a key, so the result of `find_key` is never stale.
        Ok(())
    }
}

impl MemoryStore {
    /// Creates an account with its General vault.
    fn create_account(&self) -> AccountId {
        let mut account = Account::new(AccountId(self.shared.accounts.next()));
        let visibility = VaultVisibility::Private;
        let general = NewVault { name: "General".into(), description: None, visibility };
        account.insert_vault(general, &self.shared).record.system = true;
        let id = account.id;
        write(&self.accounts).insert(id, Arc::new(RwLock::new(account)));
        id
    }
}

/// What all accounts share. It may be used while an account is locked and never locks one.
#[derive(Debug)]
struct Shared {
    clock: Clock,
    accounts: Counter,
    prompts: Counter,
    vaults: Counter,
    memberships: Counter,
    pins: Counter,
    owners: RwLock<HashMap<VaultId, AccountId>>,
    schedule: Schedule,
}

impl Shared {
    fn new(clock: Clock) -> Self {
        Self {
            schedule: Schedule::new(clock.clone()),
            clock,
            accounts: Counter::default(),
            prompts: Counter::default(),
            vaults: Counter::default(),
            memberships: Counter::default(),
            pins: Counter::default(),
            owners: RwLock::default(),
        }
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Assigns the id of a new vault and registers its owner.
    fn register_vault(&self, owner: AccountId) -> VaultId {
        let vault = VaultId::new(self.vaults.next());
        write(&self.owners).insert(vault, owner);
        vault
    }
}

/// Assigns ids from 1. An id is taken under the lock of the account that gets the new
/// record, so ids increase within an account; pagination relies on that.
#[derive(Debug, Default)]
struct Counter(AtomicI64);

impl Counter {
    fn next(&self) -> i64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// Ignores poisoning: a request that panicked must not disable its account.
fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// Ignores poisoning, as [`read`] does.
fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
