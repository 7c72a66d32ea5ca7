//! One account: everything of one caller, under one lock.
//!
//! The fields are kept in step by the few methods here and in `vault`; the
//! steps of the store (`prompts`, `vaults`, `contents`, `fork`, `jobs`) are built from
//! them. All are plain functions of the state: no locks, no waiting.
//!
//! Two sides know of a membership, the prompt's `vault_ids` and the vault.
//! Only [`Account::join`] and [`Account::part`], and the deletion of either
//! side, may change it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::by_kind::ByKind;
use super::commons::Commons;
use super::jobs::Job;
use super::slugs::Slugs;
use super::vault::Vault;
use crate::domain::{AccountId, PromptRecord, SharedPrompt};
use crate::store::StoreError;

#[derive(Debug)]
pub(super) struct Account {
    pub(super) id: AccountId,
    pub(super) prompts: BTreeMap<PromptId, SharedPrompt>,
    pub(super) by_kind: ByKind,
    pub(super) vaults: BTreeMap<VaultId, Vault>,
    pub(super) slugs: Slugs,
    pub(super) jobs: HashMap<Arc<str>, Job>,
}

impl Account {
    /// A new account with its General vault.
    pub(super) fn open(id: AccountId, commons: &Commons) -> Self {
        let mut account = Self {
            id,
            prompts: BTreeMap::new(),
            by_kind: ByKind::default(),
            vaults: BTreeMap::new(),
            slugs: Slugs::default(),
            jobs: HashMap::new(),
        };
        account.add_general_vault(commons);
        account
    }

    /// A vault that this step refers to rather than works on.
    pub(super) fn check_vault(&self, id: VaultId) -> Result<(), StoreError> {
        self.vaults.get(&id).map(|_| ()).ok_or(StoreError::UnknownVault)
    }

    /// Takes in a prompt that is in no vault yet.
    pub(super) fn insert_prompt(&mut self, record: PromptRecord) {
        self.by_kind.insert(record.kind, record.id);
        self.prompts.insert(record.id, Arc::new(record));
    }

    /// Puts a prompt on top of the unpinned part of a vault, under a new
    /// membership. `None`, and nothing happens, if it is there already or if
    /// the account lacks one of the two.
    pub(super) fn join(
        &mut self,
        vault: VaultId,
        prompt: PromptId,
        commons: &Commons,
    ) -> Option<VaultPromptId> {
        let vault = self.vaults.get_mut(&vault).filter(|vault| !vault.holds(prompt))?;
        let record = self.prompts.get_mut(&prompt)?;
        let membership = commons.next_membership();
        vault.insert(membership, prompt, record.kind);
        let vault_ids = &mut Arc::make_mut(record).vault_ids;
        let place = vault_ids.partition_point(|&id| id < vault.id());
        vault_ids.insert(place, vault.id());
        Some(membership)
    }

    /// Takes a prompt out of a vault if it is in it.
    pub(super) fn part(&mut self, vault: VaultId, prompt: PromptId) {
        let Some(record) = self.prompts.get_mut(&prompt) else {
            return;
        };
        if let Some(vault) = self.vaults.get_mut(&vault) {
            vault.remove(prompt, record.kind);
        }
        leave(record, vault);
    }
}

/// Takes a vault off a prompt's own list.
pub(super) fn leave(record: &mut SharedPrompt, vault: VaultId) {
    if let Ok(place) = record.vault_ids.binary_search(&vault) {
        Arc::make_mut(record).vault_ids.remove(place);
    }
}

/// The time of a change: now, but always later than the change before it.
pub(super) fn later(now: Timestamp, before: Timestamp) -> Timestamp {
    let tick = SignedDuration::from_micros(1);
    now.max(before.checked_add(tick).unwrap_or(Timestamp::MAX))
}
