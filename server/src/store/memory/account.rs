//! The data of one account.
//!
//! A membership is recorded twice: in the prompt's `vault_ids` and in the vault. Only the methods
//! here change it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use promptarium::{PromptId, VaultId, VaultPromptId};
use tokio::sync::Mutex;

use super::{Kind, Shared};
use crate::domain::{
    AccountId, JobRecord, JobState, Membership, NewPrompt, PromptInputs, PromptKind, PromptRecord,
    SharedPrompt, VaultRecord, slug,
};
use crate::limits::MEMORY_FORK_PROMPTS_MAX;
use crate::store::{Result, StoreError};

#[derive(Debug, Default)]
pub(super) struct Account {
    pub(super) id: AccountId,
    pub(super) name: Box<str>,
    pub(super) created_at: Timestamp,
    pub(super) prompts: BTreeMap<PromptId, StoredPrompt>,
    pub(super) vaults: BTreeMap<VaultId, Vault>,
    /// By their names.
    pub(super) jobs: HashMap<Arc<str>, Job>,
    /// Acquired before the lock of the store for a step that takes long.
    pub(super) long_step: Arc<Mutex<()>>,
    pub(super) shared: Shared,
}

#[derive(Clone, Debug)]
pub(super) struct StoredPrompt {
    pub(super) shown: SharedPrompt,
    pub(super) inputs: PromptInputs,
}

/// A vault and its memberships.
#[derive(Debug)]
pub(super) struct Vault {
    pub(super) record: VaultRecord,
    /// In the order of addition.
    pub(super) members: BTreeMap<VaultPromptId, Member>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) prompt: PromptId,
    /// If it is pinned; later pins are greater.
    pub(super) pin: Option<i64>,
}

impl Account {
    pub(super) fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    /// The vault that a request addresses.
    pub(super) fn vault(&self, id: VaultId) -> Result<&Vault> {
        self.vaults.get(&id).ok_or(StoreError::NotFound)
    }

    pub(super) fn vault_mut(&mut self, id: VaultId) -> Result<&mut Vault> {
        self.vaults.get_mut(&id).ok_or(StoreError::NotFound)
    }

    /// Checks the vault that a request refers to, if it does.
    pub(super) fn check_vault(&self, id: Option<VaultId>) -> Result<()> {
        let exists = id.is_none_or(|id| self.vaults.contains_key(&id));
        exists.then_some(()).ok_or(StoreError::UnknownVault)
    }

    pub(super) fn stored(&self, id: PromptId) -> Result<&StoredPrompt> {
        self.prompts.get(&id).ok_or(StoreError::NotFound)
    }

    pub(super) fn prompt(&self, id: PromptId) -> Result<SharedPrompt> {
        self.stored(id).map(|prompt| prompt.shown.clone())
    }

    /// A prompt to be changed.
    pub(super) fn prompt_mut(&mut self, id: PromptId) -> Result<&mut PromptRecord> {
        let prompt = self.prompts.get_mut(&id).ok_or(StoreError::NotFound)?;
        Ok(Arc::make_mut(&mut prompt.shown))
    }

    /// The prompts with ids below `after`, of this vault and this type, greatest id first.
    pub(super) fn listed(
        &self,
        vault: Option<VaultId>,
        kind: Option<PromptKind>,
        after: Option<PromptId>,
    ) -> Result<impl Iterator<Item = &SharedPrompt>> {
        self.check_vault(vault)?;
        let matches = move |prompt: &&SharedPrompt| {
            vault.is_none_or(|vault| prompt.vault_ids.contains(&vault))
                && kind.is_none_or(|kind| prompt.kind == kind)
        };
        let end = after.unwrap_or(PromptId::new(i64::MAX));
        Ok(self.prompts.range(..end).rev().map(|(_, prompt)| &prompt.shown).filter(matches))
    }

    pub(super) fn create_prompt(&mut self, new: NewPrompt) -> Result<PromptId> {
        self.check_vault(new.vault)?;
        let id = self.insert_prompt(new.record(PromptId::new(0), self.now()), new.inputs);
        if let Some(vault) = new.vault {
            self.add_member(vault, id);
        }
        Ok(id)
    }

    /// Adds a prompt with a new id, in no vault.
    pub(super) fn insert_prompt(&mut self, record: PromptRecord, inputs: PromptInputs) -> PromptId {
        let id = PromptId::new(self.shared.next_id(Kind::Prompt));
        let shown = Arc::new(PromptRecord { id, vault_ids: Vec::new(), ..record });
        self.prompts.insert(id, StoredPrompt { shown, inputs });
        id
    }

    /// Fails if the account may not have so many more vaults and prompts. One request may copy as
    /// many prompts as a vault has, so a few could use up the memory.
    pub(super) fn check_room(&self, vaults: usize, prompts: usize) -> Result<()> {
        if self.vaults.len() + vaults > self.shared.vaults_max {
            return Err(StoreError::TooManyVaults);
        }
        let is_free = prompts == 0 || self.prompts.len() + prompts <= MEMORY_FORK_PROMPTS_MAX;
        is_free.then_some(()).ok_or(StoreError::TooManyPrompts)
    }

    /// Adds an empty vault with a new id and slug.
    pub(super) fn insert_vault(&mut self, record: VaultRecord) -> &mut Vault {
        let id = VaultId::new(self.shared.next_id(Kind::Vault));
        let record = VaultRecord { id, slug: self.free_slug(&record.name, None), ..record };
        self.vaults.entry(id).or_insert(Vault { record, members: BTreeMap::new() })
    }

    /// The first free slug for a vault of this name. The slug of `renamed` counts as free.
    pub(super) fn free_slug(&self, name: &str, renamed: Option<VaultId>) -> Arc<str> {
        let others = self.vaults.values().filter(|vault| Some(vault.record.id) != renamed);
        let taken: HashSet<_> = others.map(|vault| &*vault.record.slug).collect();
        let base = slug::base(name);
        let mut candidates = (1..).map(|number| slug::candidate(&base, number));
        candidates.find(|slug| !taken.contains(&**slug)).unwrap_or_default().into()
    }

    pub(super) fn general(&self) -> Result<VaultId> {
        let general = self.vaults.values().find(|vault| vault.record.system);
        general.map(|vault| vault.record.id).ok_or(StoreError::UnknownVault)
    }

    /// Adds a prompt to a vault, on top of the unpinned prompts. `None`, and no change, if
    /// it is in the vault already or if one of the two does not exist.
    pub(super) fn add_member(
        &mut self,
        vault_id: VaultId,
        prompt_id: PromptId,
    ) -> Option<VaultPromptId> {
        let vault = self.vaults.get_mut(&vault_id)?;
        let prompt = &mut self.prompts.get_mut(&prompt_id)?.shown;
        let Err(index) = prompt.vault_ids.binary_search(&vault_id) else {
            return None;
        };
        Arc::make_mut(prompt).vault_ids.insert(index, vault_id);
        let membership = VaultPromptId::new(self.shared.next_id(Kind::Membership));
        vault.members.insert(membership, Member { prompt: prompt_id, pin: None });
        Some(membership)
    }

    pub(super) fn member_mut(&mut self, at: Membership) -> Result<&mut Member> {
        self.vault_mut(at.vault)?.members.get_mut(&at.id).ok_or(StoreError::NotFound)
    }

    pub(super) fn set_pinned(&mut self, at: Membership, pinned: bool) -> Result<()> {
        let pin = pinned.then(|| self.shared.next_id(Kind::Other));
        let member = self.member_mut(at)?;
        if member.pin.is_some() != pinned {
            member.pin = pin;
        }
        Ok(())
    }

    /// Removes a membership. Returns its prompt.
    pub(super) fn remove_member(&mut self, at: Membership) -> Result<PromptId> {
        let removed = self.vault_mut(at.vault)?.members.remove(&at.id);
        let prompt = removed.ok_or(StoreError::NotFound)?.prompt;
        self.prompt_mut(prompt)?.vault_ids.retain(|vault| *vault != at.vault);
        Ok(prompt)
    }

    /// Removes a prompt from a vault if it is there.
    pub(super) fn remove_prompt(&mut self, vault: VaultId, prompt: PromptId) -> Result<()> {
        if self.prompt(prompt)?.vault_ids.contains(&vault) {
            let mut members = self.vault(vault)?.members.iter();
            let member = members.find(|(_, member)| member.prompt == prompt).map(|(id, _)| *id);
            self.remove_member(Membership { vault, id: member.ok_or(StoreError::NotFound)? })?;
        }
        Ok(())
    }
}

impl Vault {
    pub(super) fn shown(&self) -> VaultRecord {
        VaultRecord { prompt_count: self.members.len() as u64, ..self.record.clone() }
    }
}

/// A job with what its workers need. Its times are since the start of the store.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) record: JobRecord,
    pub(super) digest: [u8; 32],
    /// When it was reserved, and later, when it is due for workers.
    pub(super) due_at: Duration,
    /// Of the lease on it, which runs until it is due.
    pub(super) fence: Option<u128>,
    pub(super) failed_attempts: u32,
    /// When the first of them was.
    pub(super) failing_since: Option<Duration>,
}

impl Job {
    pub(super) fn is_submitting(&self) -> bool {
        self.record.state == JobState::Submitting
    }

    /// Whether workers claim it.
    pub(super) fn is_queued(&self) -> bool {
        matches!(self.record.state, JobState::Queued(_) | JobState::InProgress(_))
    }

    pub(super) fn has_ended(&self) -> bool {
        !self.is_submitting() && !self.is_queued()
    }

    pub(super) fn enter(&mut self, state: JobState, now: Timestamp) {
        self.record.state = state;
        self.record.updated_at = later(now, self.record.updated_at);
    }

    /// Enters a final state.
    pub(super) fn end(&mut self, state: JobState, now: Timestamp) {
        self.enter(state, now);
        self.fence = None;
    }

    pub(super) fn fail_attempt(&mut self, elapsed: Duration) {
        self.failed_attempts += 1;
        self.failing_since.get_or_insert(elapsed);
    }
}

/// The time of a change: now, but at least a microsecond after the previous change.
pub(super) fn later(now: Timestamp, before: Timestamp) -> Timestamp {
    let tick = SignedDuration::from_micros(1);
    now.max(before.checked_add(tick).unwrap_or(Timestamp::MAX))
}

/// Sets a field if there is a value for it.
pub(super) fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}
