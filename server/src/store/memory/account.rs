//! The data of one account, protected by one lock.
//!
//! A membership is recorded twice: in the prompt's `vault_ids` and in the vault. Only
//! [`Account::add_member`], [`Account::remove_member`] and the deletion of a prompt or
//! vault change it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::Shared;
use super::schedule::DueEntry;
use crate::domain::{
    AccountId, JobRecord, NewPrompt, NewVault, PromptKind, PromptRecord, SharedPrompt, VaultRecord,
    slug,
};
use crate::store::{Result, StoreError};

/// A job with what its workers need.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) record: JobRecord,
    pub(super) digest: [u8; 32],
    /// Its entry in the schedule; `None` when it has ended.
    pub(super) entry: Option<DueEntry>,
    /// Of the lease on it, which runs until `entry` is due.
    pub(super) fence: Option<u128>,
    pub(super) failed_attempts: u32,
}

#[derive(Debug)]
pub(super) struct Account {
    pub(super) id: AccountId,
    pub(super) prompts: BTreeMap<PromptId, SharedPrompt>,
    pub(super) index: PromptIndex,
    pub(super) vaults: BTreeMap<VaultId, Vault>,
    pub(super) slugs: BTreeSet<Arc<str>>,
    pub(super) jobs: HashMap<Arc<str>, Job>,
}

/// A vault and its memberships.
#[derive(Debug)]
pub(super) struct Vault {
    pub(super) record: VaultRecord,
    /// In the order of addition.
    pub(super) members: BTreeMap<VaultPromptId, Member>,
    pub(super) by_prompt: HashMap<PromptId, VaultPromptId>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) prompt: PromptId,
    /// If it is pinned; later pins are greater.
    pub(super) pin: Option<i64>,
}

impl Account {
    /// An empty account.
    pub(super) fn new(id: AccountId) -> Self {
        Self {
            id,
            prompts: BTreeMap::new(),
            index: PromptIndex::default(),
            vaults: BTreeMap::new(),
            slugs: BTreeSet::new(),
            jobs: HashMap::new(),
        }
    }

    /// The vault that a request addresses.
    pub(super) fn vault(&self, id: VaultId) -> Result<&Vault> {
        self.vaults.get(&id).ok_or(StoreError::NotFound)
    }

    /// Checks a vault that a request only refers to.
    pub(super) fn check_vault(&self, id: VaultId) -> Result<()> {
        self.vaults.get(&id).map(drop).ok_or(StoreError::UnknownVault)
    }

    pub(super) fn prompt(&self, id: PromptId) -> Result<SharedPrompt> {
        self.prompts.get(&id).cloned().ok_or(StoreError::NotFound)
    }

    pub(super) fn create_prompt(
        &mut self,
        new: NewPrompt,
        shared: &Shared,
    ) -> Result<SharedPrompt> {
        if let Some(vault) = new.vault {
            self.check_vault(vault)?;
        }
        let (id, now) = (PromptId::new(shared.prompts.next()), shared.now());
        self.insert_prompt(PromptRecord {
            id,
            title: new.title,
            text: new.text,
            kind: new.kind,
            platform: new.platform,
            inputs: new.inputs,
            images: Arc::default(),
            vault_ids: Vec::new(),
            created_at: now,
            updated_at: now,
        });
        if let Some(vault) = new.vault {
            self.add_member(vault, id, shared);
        }
        self.prompt(id)
    }

    /// Inserts a prompt that is in no vault yet.
    pub(super) fn insert_prompt(&mut self, record: PromptRecord) {
        self.index.insert(None, record.kind, record.id);
        self.prompts.insert(record.id, Arc::new(record));
    }

    /// Creates an ordinary, empty vault.
    pub(super) fn insert_vault(&mut self, new: NewVault, shared: &Shared) -> &mut Vault {
        let (id, now) = (shared.register_vault(self.id), shared.now());
        let record = VaultRecord {
            id,
            slug: self.take_slug(&new.name),
            name: new.name,
            description: new.description,
            visibility: new.visibility,
            cover_image_url: None,
            system: false,
            prompt_count: 0,
            created_at: now,
            updated_at: now,
        };
        self.vaults.entry(id).or_insert(Vault {
            record,
            members: BTreeMap::new(),
            by_prompt: HashMap::new(),
        })
    }

    /// Reserves the first free slug for a vault of this name.
    pub(super) fn take_slug(&mut self, name: &str) -> Arc<str> {
        let base = slug::base(name);
        let mut number = 1;
        loop {
            let slug = Arc::from(slug::candidate(&base, number));
            if self.slugs.insert(Arc::clone(&slug)) {
                return slug;
            }
            number += 1;
        }
    }

    /// Adds a prompt to a vault, on top of the unpinned prompts. `None`, and no change, if
    /// it is in the vault already or if one of the two does not exist.
    pub(super) fn add_member(
        &mut self,
        vault_id: VaultId,
        prompt_id: PromptId,
        shared: &Shared,
    ) -> Option<VaultPromptId> {
        let vault = self.vaults.get_mut(&vault_id)?;
        let prompt = self.prompts.get_mut(&prompt_id)?;
        let Err(index) = prompt.vault_ids.binary_search(&vault_id) else {
            return None;
        };
        Arc::make_mut(prompt).vault_ids.insert(index, vault_id);
        self.index.insert(Some(vault_id), prompt.kind, prompt_id);
        let membership = VaultPromptId::new(shared.memberships.next());
        vault.members.insert(membership, Member { prompt: prompt_id, pin: None });
        vault.by_prompt.insert(prompt_id, membership);
        vault.record.prompt_count += 1;
        Some(membership)
    }

    /// Removes a prompt from a vault if it is there.
    pub(super) fn remove_member(&mut self, vault_id: VaultId, prompt_id: PromptId) {
        let Some(prompt) = self.prompts.get_mut(&prompt_id) else {
            return;
        };
        remove_vault_id(prompt, vault_id);
        self.index.remove(Some(vault_id), prompt.kind, prompt_id);
        if let Some(vault) = self.vaults.get_mut(&vault_id)
            && let Some(membership) = vault.by_prompt.remove(&prompt_id)
        {
            vault.members.remove(&membership);
            vault.record.prompt_count -= 1;
        }
    }
}

impl Vault {
    /// The prompt of a membership of this vault.
    pub(super) fn prompt_of(&self, membership: VaultPromptId) -> Result<PromptId> {
        self.members.get(&membership).map(|member| member.prompt).ok_or(StoreError::NotFound)
    }
}

/// Prompts by the filters of a list: each combination of vault and type has its prompts in
/// one range, ordered by id.
#[derive(Debug, Default, PartialEq)]
pub(super) struct PromptIndex(BTreeSet<(Option<VaultId>, Option<PromptKind>, PromptId)>);

impl PromptIndex {
    pub(super) fn insert(&mut self, vault: Option<VaultId>, kind: PromptKind, id: PromptId) {
        self.0.insert((vault, None, id));
        self.0.insert((vault, Some(kind), id));
    }

    pub(super) fn remove(&mut self, vault: Option<VaultId>, kind: PromptKind, id: PromptId) {
        self.0.remove(&(vault, None, id));
        self.0.remove(&(vault, Some(kind), id));
    }

    /// The matching prompts with ids below `after`, greatest id first.
    pub(super) fn page(
        &self,
        vault: Option<VaultId>,
        kind: Option<PromptKind>,
        after: Option<PromptId>,
    ) -> impl Iterator<Item = PromptId> {
        let end = after.unwrap_or(PromptId::new(i64::MAX));
        let range = (vault, kind, PromptId::new(i64::MIN))..(vault, kind, end);
        self.0.range(range).rev().map(|(_, _, id)| *id)
    }
}

/// Removes a vault from a prompt's own list.
pub(super) fn remove_vault_id(prompt: &mut SharedPrompt, vault: VaultId) {
    if let Ok(index) = prompt.vault_ids.binary_search(&vault) {
        Arc::make_mut(prompt).vault_ids.remove(index);
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
