//! The in-memory store: needs no setup and loses everything at exit.
//!
//! Each account has one lock, and the jobs of all accounts have one. A method takes each at
//! most once, so it is atomic. Records are shared snapshots (`Arc`): no lock is held while a
//! response is written, and a reader never sees a later change.
//!
//! Locks are taken in this order: keys, accounts, one account, vault owners, jobs.
//! Two accounts are never locked at once.

mod account;
mod job_queue;
mod jobs;
mod keys;
mod prompts;
mod sessions;
#[cfg(test)]
mod tests;
mod vaults;

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use promptarium::VaultId;
use tokio::sync::Notify;
use tokio::time::Instant;

use self::account::Account;
use self::jobs::Jobs;
use self::keys::Keys;
use super::{Result, Store, StoreError};
use crate::clock::Clock;
use crate::domain::{AccountId, Caller, NewVault, VaultVisibility};
use crate::limits::VAULTS_MAX;
use crate::quota::{Permit, Quota};

type SharedAccount = Arc<RwLock<Account>>;

/// A [`Store`] in memory. Its futures are ready at once, except for
/// [`job_due`](super::JobQueue::job_due), and for forks and deletions of vaults while the account
/// has another one.
#[derive(Debug)]
pub struct MemoryStore {
    shared: Shared,
    keys: RwLock<Keys>,
    accounts: RwLock<HashMap<AccountId, SharedAccount>>,
    /// For steps that take long, one for each account; acquired before the account is locked.
    long_steps: Quota,
}

impl MemoryStore {
    /// An empty store that takes its times from `clock`.
    pub fn new(clock: Clock) -> Self {
        let shared = Shared {
            start: (Instant::now(), clock.now()),
            clock,
            prompts: AtomicI64::default(),
            vaults: AtomicI64::default(),
            memberships: AtomicI64::default(),
            others: AtomicI64::default(),
            owners: RwLock::default(),
            jobs: Mutex::default(),
            jobs_changed: Notify::new(),
            vaults_max: VAULTS_MAX,
        };
        let (keys, accounts) = Default::default();
        let long_steps =
            Quota::new("memory_long_steps", "the changes of large vaults", usize::MAX, 1);
        Self { shared, keys, accounts, long_steps }
    }

    /// The same with another limit of the vaults of an account.
    #[must_use]
    pub fn with_vaults_max(mut self, vaults_max: usize) -> Self {
        self.shared.vaults_max = vaults_max;
        self
    }

    /// Creates an account with its General vault.
    fn create_account(&self) -> AccountId {
        let id = AccountId(next(&self.shared.others));
        let (prompts, by_kind, vaults) = Default::default();
        let mut account = Account { id, prompts, by_kind, vaults };
        let visibility = VaultVisibility::Private;
        let general = NewVault { name: "General".into(), description: None, visibility };
        account.insert_vault(general, &self.shared).record.system = true;
        write(&self.accounts).insert(id, Arc::new(RwLock::new(account)));
        id
    }

    fn account(&self, id: AccountId) -> Result<SharedAccount> {
        read(&self.accounts).get(&id).cloned().ok_or(StoreError::NotFound)
    }

    /// Waits until the account has no other step that takes long. A large vault takes 100 ms, and a
    /// step that waits for the lock of the account blocks a thread of the runtime.
    async fn long_step(&self, account: AccountId) -> Result<Permit> {
        let permit = self.long_steps.acquire(account, 1, Duration::MAX).await;
        permit.map_err(|over| StoreError::Unavailable(over.into()))
    }

    /// Checks the caller's key, and runs `step` under the read lock of its account.
    fn read<T>(&self, caller: &Caller, step: impl FnOnce(&Account) -> Result<T>) -> Result<T> {
        let account = read(&self.keys).account(caller)?.clone();
        step(&read(&*account))
    }

    /// Checks the caller's key, and runs `step` under the write lock of its account.
    fn write<T>(
        &self,
        caller: &Caller,
        step: impl FnOnce(&mut Account, &Shared) -> Result<T>,
    ) -> Result<T> {
        let account = read(&self.keys).account(caller)?.clone();
        step(&mut write(&*account), &self.shared)
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

/// What all accounts share. It may be used while an account is locked and never locks one.
#[derive(Debug)]
struct Shared {
    clock: Clock,
    start: (Instant, Timestamp),
    /// The last id of each kind.
    prompts: AtomicI64,
    vaults: AtomicI64,
    memberships: AtomicI64,
    others: AtomicI64,
    owners: RwLock<HashMap<VaultId, AccountId>>,
    jobs: Mutex<Jobs>,
    jobs_changed: Notify,
    /// How many vaults an account may have.
    vaults_max: usize,
}

impl Shared {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// The next id of a kind. It is taken under the lock of the account that gets the new record,
/// so ids increase within an account; pagination relies on that.
fn next(last: &AtomicI64) -> i64 {
    last.fetch_add(1, Ordering::Relaxed) + 1
}

/// Ignores poisoning: a request that panicked must not disable its account.
fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// Ignores poisoning, as [`read`] does.
fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
