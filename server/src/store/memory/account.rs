//! The prompts and vaults of one account.
//!
//! A membership is recorded three times, by itself, in the prompt's `vault_ids` and in the vault's
//! count, and changed only here.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use promptarium::{PromptId, VaultId, VaultPromptId};

use super::data::{Data, Kind, Member, StoredPrompt};
use crate::domain::{
    AccountId, ListedPrompt, Membership, NewPrompt, PromptInputs, PromptKind, PromptRecord,
    SharedPrompt, VaultRecord, slug,
};
use crate::limits::MEMORY_FORK_PROMPTS_MAX;
use crate::store::{Result, StoreError};

/// The data as one account sees them.
pub(super) struct AccountView<D> {
    pub(super) data: D,
    pub(super) id: AccountId,
}

impl Data {
    pub(super) fn of(&self, id: AccountId) -> AccountView<&Self> {
        AccountView { data: self, id }
    }

    pub(super) fn of_mut(&mut self, id: AccountId) -> AccountView<&mut Self> {
        AccountView { data: self, id }
    }
}

impl<D: Deref<Target = Data>> AccountView<D> {
    pub(super) fn vault(&self, id: VaultId) -> Result<&VaultRecord> {
        self.data.vaults.get(&(self.id, id)).ok_or(StoreError::NotFound)
    }

    pub(super) fn check_vault(&self, id: Option<VaultId>) -> Result<()> {
        let exists = id.is_none_or(|id| self.vault(id).is_ok());
        exists.then_some(()).ok_or(StoreError::UnknownVault)
    }

    pub(super) fn vaults(&self) -> impl DoubleEndedIterator<Item = &VaultRecord> {
        let at = |id| (self.id, VaultId::new(id));
        self.data.vaults.range(at(i64::MIN)..=at(i64::MAX)).map(|(_, vault)| vault)
    }

    pub(super) fn members(&self, of: VaultId) -> impl Iterator<Item = (VaultPromptId, &Member)> {
        let at = |id| (self.id, of, VaultPromptId::new(id));
        let members = self.data.members.range(at(i64::MIN)..=at(i64::MAX));
        members.map(|((_, _, id), member)| (*id, member))
    }

    fn prompts(&self, end: PromptId) -> impl DoubleEndedIterator<Item = &SharedPrompt> {
        let prompts = self.data.prompts.range((self.id, PromptId::new(i64::MIN))..(self.id, end));
        prompts.map(|(_, prompt)| &prompt.shown)
    }

    /// The contents of a vault in display order.
    pub(super) fn contents(&self, vault: VaultId) -> Result<Vec<ListedPrompt>> {
        self.vault(vault)?;
        let mut members: Vec<_> = self.members(vault).collect();
        members.sort_unstable_by_key(|(membership, member)| Reverse((member.pin, *membership)));
        let listed = members.into_iter().map(|(membership, member)| {
            let (prompt, pinned) = (self.prompt(member.prompt)?, member.pin.is_some());
            Ok(ListedPrompt { prompt, membership, pinned })
        });
        listed.collect()
    }

    pub(super) fn stored(&self, id: PromptId) -> Result<&StoredPrompt> {
        self.data.prompts.get(&(self.id, id)).ok_or(StoreError::NotFound)
    }

    pub(super) fn prompt(&self, id: PromptId) -> Result<SharedPrompt> {
        self.stored(id).map(|prompt| prompt.shown.clone())
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
        Ok(self.prompts(after.unwrap_or(PromptId::new(i64::MAX))).rev().filter(matches))
    }

    /// Fails if the account may not have so many more: forks could use up the memory.
    pub(super) fn check_room(&self, vaults: usize, prompts: usize) -> Result<()> {
        if self.vaults().count() + vaults > self.data.vaults_max {
            return Err(StoreError::TooManyVaults);
        }
        let present = || self.prompts(PromptId::new(i64::MAX)).count();
        let is_free = prompts == 0 || present() + prompts <= MEMORY_FORK_PROMPTS_MAX;
        is_free.then_some(()).ok_or(StoreError::TooManyPrompts)
    }

    /// The first free slug for a vault of this name. The slug of `renamed` counts as free.
    pub(super) fn free_slug(&self, name: &str, renamed: Option<VaultId>) -> Arc<str> {
        let others = self.vaults().filter(|vault| Some(vault.id) != renamed);
        let taken: HashSet<_> = others.map(|vault| &*vault.slug).collect();
        let base = slug::base(name);
        let mut candidates = (1..).map(|number| slug::candidate(&base, number));
        candidates.find(|slug| !taken.contains(&**slug)).unwrap_or_default().into()
    }

    pub(super) fn general(&self) -> Result<VaultId> {
        let general = self.vaults().find(|vault| vault.system);
        general.map(|vault| vault.id).ok_or(StoreError::UnknownVault)
    }

    pub(super) fn member(&self, at: Membership) -> Result<Member> {
        self.data.members.get(&(self.id, at.vault, at.id)).copied().ok_or(StoreError::NotFound)
    }
}

impl<D: DerefMut<Target = Data>> AccountView<D> {
    pub(super) fn vault_mut(&mut self, id: VaultId) -> Result<&mut VaultRecord> {
        self.data.vaults.get_mut(&(self.id, id)).ok_or(StoreError::NotFound)
    }

    fn prompt_mut(&mut self, id: PromptId) -> Result<&mut PromptRecord> {
        let prompt = self.data.prompts.get_mut(&(self.id, id)).ok_or(StoreError::NotFound)?;
        Ok(Arc::make_mut(&mut prompt.shown))
    }

    pub(super) fn create_prompt(&mut self, new: NewPrompt) -> Result<PromptId> {
        self.check_vault(new.vault)?;
        let record = new.record(PromptId::new(0), self.data.now());
        let id = self.insert_prompt(record, new.inputs);
        if let Some(vault) = new.vault {
            self.add_member(vault, id);
        }
        Ok(id)
    }

    /// Adds a prompt with a new id, in no vault.
    pub(super) fn insert_prompt(&mut self, record: PromptRecord, inputs: PromptInputs) -> PromptId {
        let id = PromptId::new(self.data.next_id(Kind::Prompt));
        let shown = Arc::new(PromptRecord { id, vault_ids: Vec::new(), ..record });
        self.data.prompts.insert((self.id, id), StoredPrompt { shown, inputs });
        id
    }

    /// Adds an empty vault with a new id and slug.
    pub(super) fn insert_vault(&mut self, record: VaultRecord) -> VaultRecord {
        let id = VaultId::new(self.data.next_id(Kind::Vault));
        let slug = self.free_slug(&record.name, None);
        let record = VaultRecord { id, slug, prompt_count: 0, ..record };
        self.data.vaults.insert((self.id, id), record.clone());
        record
    }

    /// Adds a prompt to a vault, on top of the unpinned prompts, if both exist and it is not in it.
    pub(super) fn add_member(&mut self, vault: VaultId, prompt: PromptId) -> Option<VaultPromptId> {
        let vault_ids = &self.stored(prompt).ok()?.shown.vault_ids;
        let Err(index) = vault_ids.binary_search(&vault) else { return None };
        self.vault_mut(vault).ok()?.prompt_count += 1;
        self.prompt_mut(prompt).ok()?.vault_ids.insert(index, vault);
        let id = VaultPromptId::new(self.data.next_id(Kind::Membership));
        self.data.members.insert((self.id, vault, id), Member { prompt, pin: None });
        Some(id)
    }

    pub(super) fn set_pinned(&mut self, at: Membership, pinned: bool) -> Result<()> {
        let member = self.member(at)?;
        if member.pin.is_some() != pinned {
            let pin = pinned.then(|| self.data.next_id(Kind::Other));
            self.data.members.insert((self.id, at.vault, at.id), Member { pin, ..member });
        }
        Ok(())
    }

    pub(super) fn remove_member(&mut self, at: Membership) -> Result<PromptId> {
        let removed = self.data.members.remove(&(self.id, at.vault, at.id));
        let prompt = removed.ok_or(StoreError::NotFound)?.prompt;
        self.vault_mut(at.vault)?.prompt_count -= 1;
        self.prompt_mut(prompt)?.vault_ids.retain(|vault| *vault != at.vault);
        Ok(prompt)
    }

    pub(super) fn remove_prompt(&mut self, vault: VaultId, prompt: PromptId) -> Result<()> {
        if self.stored(prompt)?.shown.vault_ids.contains(&vault) {
            let member = self.members(vault).find(|(_, member)| member.prompt == prompt);
            let id = member.map(|(id, _)| id).ok_or(StoreError::NotFound)?;
            self.remove_member(Membership { vault, id })?;
        }
        Ok(())
    }
}

pub(super) fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}
