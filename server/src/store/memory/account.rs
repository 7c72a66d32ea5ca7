//! The data of one account, protected by one lock.
//!
//! A membership is recorded twice: in the prompt's `vault_ids` and in the vault. Only
//! [`Account::add_member`] and [`Account::remove_member`] change it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::{Shared, next, write};
use crate::domain::{
    AccountId, NewPrompt, NewVault, PromptImage, PromptInputs, PromptKind, PromptRecord,
    SharedPrompt, VaultRecord, slug,
};
use crate::store::{Result, StoreError};

#[derive(Debug)]
pub(super) struct Account {
    pub(super) id: AccountId,
    pub(super) prompts: BTreeMap<PromptId, StoredPrompt>,
    /// Prompts by vault, or none for all, and type.
    pub(super) by_kind: BTreeSet<(Option<VaultId>, PromptKind, PromptId)>,
    pub(super) vaults: BTreeMap<VaultId, Vault>,
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
    pub(super) by_prompt: BTreeMap<PromptId, VaultPromptId>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) prompt: PromptId,
    /// If it is pinned; later pins are greater.
    pub(super) pin: Option<i64>,
}

impl Account {
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

    /// The prompts of a filter with ids below `after`, greatest id first.
    pub(super) fn page(
        &self,
        vault: Option<VaultId>,
        kind: Option<PromptKind>,
        after: Option<PromptId>,
    ) -> Result<Box<dyn Iterator<Item = PromptId> + '_>> {
        let end = after.unwrap_or(PromptId::new(i64::MAX));
        let in_vault = vault.map(|id| self.vaults.get(&id).ok_or(StoreError::UnknownVault));
        Ok(match (in_vault.transpose()?, kind) {
            (None, None) => Box::new(self.prompts.range(..end).rev().map(|(id, _)| *id)),
            (Some(vault), None) => Box::new(vault.by_prompt.range(..end).rev().map(|(id, _)| *id)),
            (_, Some(kind)) => {
                let range = (vault, kind, PromptId::new(i64::MIN))..(vault, kind, end);
                Box::new(self.by_kind.range(range).rev().map(|(_, _, id)| *id))
            }
        })
    }

    pub(super) fn create_prompt(
        &mut self,
        new: NewPrompt,
        images: Arc<[PromptImage]>,
        now: Timestamp,
        shared: &Shared,
    ) -> Result<SharedPrompt> {
        self.check_vault(new.vault)?;
        let id = PromptId::new(next(&shared.prompts));
        self.by_kind.insert((None, new.kind, id));
        let record = PromptRecord {
            id,
            title: new.title,
            text: new.text,
            kind: new.kind,
            platform: new.platform,
            images,
            vault_ids: Vec::new(),
            created_at: now,
            updated_at: now,
        };
        self.prompts.insert(id, StoredPrompt { shown: Arc::new(record), inputs: new.inputs });
        if let Some(vault) = new.vault {
            self.add_member(vault, id, shared);
        }
        self.prompt(id)
    }

    /// Fails if the account has as many vaults as it may have.
    pub(super) fn check_vault_count(&self, shared: &Shared) -> Result<()> {
        let is_free = self.vaults.len() < shared.vaults_max;
        if is_free { Ok(()) } else { Err(StoreError::TooManyVaults) }
    }

    /// Creates an ordinary, empty vault.
    pub(super) fn insert_vault(&mut self, new: NewVault, shared: &Shared) -> &mut Vault {
        let (id, now) = (VaultId::new(next(&shared.vaults)), shared.now());
        write(&shared.owners).insert(id, self.id);
        let record = VaultRecord {
            id,
            slug: self.free_slug(&new.name, None),
            name: new.name,
            description: new.description,
            visibility: new.visibility,
            cover_image: None,
            system: false,
            prompt_count: 0,
            created_at: now,
            updated_at: now,
        };
        let (members, by_prompt) = Default::default();
        self.vaults.entry(id).or_insert(Vault { record, members, by_prompt })
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
        shared: &Shared,
    ) -> Option<VaultPromptId> {
        let vault = self.vaults.get_mut(&vault_id)?;
        let prompt = &mut self.prompts.get_mut(&prompt_id)?.shown;
        let Err(index) = prompt.vault_ids.binary_search(&vault_id) else {
            return None;
        };
        Arc::make_mut(prompt).vault_ids.insert(index, vault_id);
        self.by_kind.insert((Some(vault_id), prompt.kind, prompt_id));
        let membership = VaultPromptId::new(next(&shared.memberships));
        vault.members.insert(membership, Member { prompt: prompt_id, pin: None });
        vault.by_prompt.insert(prompt_id, membership);
        vault.record.prompt_count += 1;
        Some(membership)
    }

    /// Removes a prompt from a vault if it is there.
    pub(super) fn remove_member(&mut self, vault_id: VaultId, prompt_id: PromptId) {
        let Some(StoredPrompt { shown: prompt, .. }) = self.prompts.get_mut(&prompt_id) else {
            return;
        };
        Arc::make_mut(prompt).vault_ids.retain(|id| *id != vault_id);
        self.by_kind.remove(&(Some(vault_id), prompt.kind, prompt_id));
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
