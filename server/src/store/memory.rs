//! The in-memory store: needs no setup and loses everything at exit.
//!
//! One lock protects all data, so every method is atomic. Records are shared snapshots (`Arc`): the
//! lock is not held while a response is written, and a reader never sees a later change.

mod account;
mod accounts;
mod admin;
mod jobs;
mod keys;
mod prompts;
#[cfg(test)]
mod tests;
mod vaults;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use parking_lot::{RwLock, RwLockWriteGuard};
use tokio::sync::{Notify, OwnedMutexGuard};
use tokio::time::Instant;

use self::account::Account;
use self::keys::{Code, Session};
use super::{Result, Store, StoreError};
use crate::clock::Clock;
use crate::domain::{AccountId, Caller, KeyId, KeyRecord, NewVault, VaultVisibility};
use crate::limits::VAULTS_MAX;

/// A [`Store`] in memory. Its futures are ready at once, except for
/// [`job_due`](super::JobQueue::job_due), and for steps that take long while the account has another
/// one.
#[derive(Debug)]
pub struct MemoryStore {
    clock: Clock,
    start: (Instant, Timestamp),
    data: RwLock<Data>,
    jobs_changed: Notify,
}

#[derive(Debug, Default)]
struct Data {
    accounts: BTreeMap<AccountId, Account>,
    /// API keys, revoked ones too.
    keys: BTreeMap<KeyId, KeyRecord>,
    by_public_id: HashMap<Box<str>, KeyId>,
    sessions: BTreeMap<KeyId, Session>,
    /// One-time codes by their digests.
    codes: HashMap<[u8; 32], Code>,
    settings: BTreeMap<String, Vec<u8>>,
    shared: Shared,
}

/// What all accounts have.
#[derive(Clone, Debug, Default)]
struct Shared {
    clock: Clock,
    vaults_max: usize,
    /// Of each [`Kind`].
    last_ids: Arc<[AtomicI64; 4]>,
}

/// Kinds of ids that are counted on their own, as a database does.
#[derive(Clone, Copy)]
enum Kind {
    Prompt,
    Vault,
    Membership,
    Other,
}

impl Shared {
    fn next_id(&self, kind: Kind) -> i64 {
        self.last_ids[kind as usize].fetch_add(1, Relaxed) + 1
    }
}

impl MemoryStore {
    /// An empty store that takes its times from `clock`.
    pub fn new(clock: Clock) -> Self {
        let start = (Instant::now(), clock.now());
        let shared = Shared { clock: clock.clone(), vaults_max: VAULTS_MAX, ..Shared::default() };
        let data = RwLock::new(Data { shared, ..Data::default() });
        Self { clock, start, data, jobs_changed: Notify::new() }
    }

    /// The same with another limit of the vaults of an account.
    #[must_use]
    pub fn with_vaults_max(mut self, vaults_max: usize) -> Self {
        self.data.get_mut().shared.vaults_max = vaults_max;
        self
    }

    /// Waits until the account has no other step that takes long. With a large vault it takes
    /// 100 ms, during which nobody else has the lock.
    async fn long_step(&self, caller: &Caller) -> Result<OwnedMutexGuard<()>> {
        let turn = self.read(caller, |account| Ok(account.long_step.clone()))?;
        Ok(turn.lock_owned().await)
    }

    /// All data, after a check of the caller's key.
    fn locked(&self, caller: &Caller) -> Result<RwLockWriteGuard<'_, Data>> {
        let data = self.data.write();
        data.check(caller)?;
        Ok(data)
    }

    /// Checks the caller's key, and runs `step` on its account.
    fn read<T>(&self, caller: &Caller, step: impl FnOnce(&Account) -> Result<T>) -> Result<T> {
        let data = self.data.read();
        data.check(caller)?;
        step(data.accounts.get(&caller.account).ok_or(StoreError::NotFound)?)
    }

    /// Checks the caller's key, and runs `step` on its account.
    fn write<T>(&self, caller: &Caller, step: impl FnOnce(&mut Account) -> Result<T>) -> Result<T> {
        step(self.locked(caller)?.account_mut(caller.account)?)
    }

    /// The time since the start, which is monotonic unless a test moves the clock.
    fn elapsed(&self) -> Duration {
        match &self.clock {
            Clock::System => self.start.0.elapsed(),
            Clock::Manual(_) => self.clock.now().duration_since(self.start.1).unsigned_abs(),
        }
    }
}

impl Data {
    /// Checks that the caller's key is not revoked, or its session has not ended.
    fn check(&self, caller: &Caller) -> Result<()> {
        let is_live = match self.keys.get(&caller.key) {
            Some(key) => !key.is_revoked(),
            None => self.sessions.get(&caller.key).is_some_and(|session| !session.has_ended),
        };
        is_live.then_some(()).ok_or(StoreError::KeyRevoked)
    }

    fn account_named(&self, name: &str) -> Option<&Account> {
        self.accounts.values().find(|account| *account.name == *name)
    }

    fn account_mut(&mut self, id: AccountId) -> Result<&mut Account> {
        self.accounts.get_mut(&id).ok_or(StoreError::NotFound)
    }

    /// Creates an account with its General vault.
    fn create_account(&mut self, name: &str) -> AccountId {
        let id = AccountId(self.shared.next_id(Kind::Other));
        let (shared, created_at) = (self.shared.clone(), self.shared.clock.now());
        let mut account =
            Account { id, name: name.into(), created_at, shared, ..Account::default() };
        let visibility = VaultVisibility::Private;
        let general = NewVault { name: "General".into(), description: None, visibility };
        account.insert_vault(general.record(created_at)).record.system = true;
        self.accounts.insert(id, account);
        id
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
