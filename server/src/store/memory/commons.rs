//! What all accounts draw on: the time, the identifiers, whose vault is which,
//! and which job is due.
//!
//! Everything here may be used while an account is locked; nothing here ever
//! locks an account, so the order of locks is always account, then commons.

use std::collections::HashMap;
use std::sync::RwLock;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::lock;
use super::schedule::Schedule;
use crate::clock::Clock;
use crate::domain::AccountId;

/// Identifiers start at 1 and are never given twice. They are drawn while the
/// account that gets the new thing is locked: only so is everything in an
/// account in the order of its identifiers, which a walk over pages relies on.
#[derive(Debug)]
pub(super) struct Commons {
    clock: Clock,
    accounts: AtomicI64,
    prompts: AtomicI64,
    vaults: AtomicI64,
    memberships: AtomicI64,
    owners: RwLock<HashMap<VaultId, AccountId>>,
    pub(super) schedule: Schedule,
}

impl Commons {
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            schedule: Schedule::new(clock.clone()),
            clock,
            accounts: AtomicI64::default(),
            prompts: AtomicI64::default(),
            vaults: AtomicI64::default(),
            memberships: AtomicI64::default(),
            owners: RwLock::default(),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn next_account(&self) -> AccountId {
        AccountId(next(&self.accounts))
    }

    pub(super) fn next_prompt(&self) -> PromptId {
        PromptId::new(next(&self.prompts))
    }

    pub(super) fn next_membership(&self) -> VaultPromptId {
        VaultPromptId::new(next(&self.memberships))
    }

    /// The id of a new vault of `owner`, known by it from now on.
    pub(super) fn enrol_vault(&self, owner: AccountId) -> VaultId {
        let vault = VaultId::new(next(&self.vaults));
        lock::write(&self.owners).insert(vault, owner);
        vault
    }

    /// Forgets a vault that is no more.
    pub(super) fn strike_vault(&self, vault: VaultId) {
        lock::write(&self.owners).remove(&vault);
    }

    pub(super) fn owner(&self, vault: VaultId) -> Option<AccountId> {
        lock::read(&self.owners).get(&vault).copied()
    }

    #[cfg(test)]
    pub(super) fn owned_vaults(&self) -> usize {
        lock::read(&self.owners).len()
    }
}

/// The lock an account's identifiers are drawn under orders them; the counter
/// itself need not.
fn next(counter: &AtomicI64) -> i64 {
    counter.fetch_add(1, Ordering::Relaxed) + 1
}
