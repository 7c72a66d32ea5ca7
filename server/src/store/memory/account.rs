//! The prompts and vaults of one account.
//!
//! A membership is recorded three times: by itself, in the prompt's `vault_ids` and in the vault's
//! count. Only the methods here change it.

use std::collections::HashSet;
use std::sync::Arc;

use promptarium::{PromptId, VaultId, VaultPromptId};

use super::data::Data;
use super::rows::{Kind, Member, StoredPrompt};
use crate::domain::{
    AccountId, Membership, NewPrompt, PromptInputs, PromptKind, PromptRecord, SharedPrompt,
    VaultRecord, slug,
};
use crate::limits::MEMORY_FORK_PROMPTS_MAX;
use crate::store::{Result, StoreError};

impl Data {
    /// The vault that a request addresses.
    pub(super) fn vault(&self, own: AccountId, id: VaultId) -> Result<&VaultRecord> {
        self.vaults.get(&(own, id)).ok_or(StoreError::NotFound)
    }

    pub(super) fn vault_mut(&mut self, own: AccountId, id: VaultId) -> Result<&mut VaultRecord> {
        self.vaults.get_mut(&(own, id)).ok_or(StoreError::NotFound)
    }

    /// The account that has a vault.
    pub(super) fn owner_of(&self, id: VaultId) -> Result<AccountId> {
        let mut accounts = self.accounts.iter().map(|(account, _)| *account);
        let owner = accounts.find(|account| self.vaults.contains(&(*account, id)));
        owner.ok_or(StoreError::NotFound)
    }

    /// Checks the vault that a request refers to, if it does.
    pub(super) fn check_vault(&self, own: AccountId, id: Option<VaultId>) -> Result<()> {
        let exists = id.is_none_or(|id| self.vaults.contains(&(own, id)));
        exists.then_some(()).ok_or(StoreError::UnknownVault)
    }

    pub(super) fn vaults_of(
        &self,
        own: AccountId,
    ) -> impl DoubleEndedIterator<Item = &VaultRecord> {
        let all = (own, VaultId::new(i64::MIN))..=(own, VaultId::new(i64::MAX));
        self.vaults.range(all).map(|(_, vault)| vault)
    }

    pub(super) fn members_of(
        &self,
        own: AccountId,
        vault: VaultId,
    ) -> impl Iterator<Item = (VaultPromptId, &Member)> {
        let at = |id| (own, vault, VaultPromptId::new(id));
        let members = self.members.range(at(i64::MIN)..=at(i64::MAX));
        members.map(|((_, _, id), member)| (*id, member))
    }

    fn prompts_of(
        &self,
        own: AccountId,
        end: PromptId,
    ) -> impl DoubleEndedIterator<Item = &SharedPrompt> {
        let prompts = self.prompts.range((own, PromptId::new(i64::MIN))..(own, end));
        prompts.map(|(_, prompt)| &prompt.shown)
    }

    pub(super) fn stored(&self, own: AccountId, id: PromptId) -> Result<&StoredPrompt> {
        self.prompts.get(&(own, id)).ok_or(StoreError::NotFound)
    }

    pub(super) fn prompt(&self, own: AccountId, id: PromptId) -> Result<SharedPrompt> {
        self.stored(own, id).map(|prompt| prompt.shown.clone())
    }

    /// A prompt to be changed.
    fn prompt_mut(&mut self, own: AccountId, id: PromptId) -> Result<&mut PromptRecord> {
        let prompt = self.prompts.get_mut(&(own, id)).ok_or(StoreError::NotFound)?;
        Ok(Arc::make_mut(&mut prompt.shown))
    }

    /// The prompts with ids below `after`, of this vault and this type, greatest id first.
    pub(super) fn listed(
        &self,
        own: AccountId,
        vault: Option<VaultId>,
        kind: Option<PromptKind>,
        after: Option<PromptId>,
    ) -> Result<impl Iterator<Item = &SharedPrompt>> {
        self.check_vault(own, vault)?;
        let matches = move |prompt: &&SharedPrompt| {
            vault.is_none_or(|vault| prompt.vault_ids.contains(&vault))
                && kind.is_none_or(|kind| prompt.kind == kind)
        };
        let end = after.unwrap_or(PromptId::new(i64::MAX));
        Ok(self.prompts_of(own, end).rev().filter(matches))
    }

    pub(super) fn create_prompt(&mut self, own: AccountId, new: NewPrompt) -> Result<PromptId> {
        self.check_vault(own, new.vault)?;
        let record = new.record(PromptId::new(0), self.now());
        let id = self.insert_prompt(own, record, new.inputs);
        if let Some(vault) = new.vault {
            self.add_member(own, vault, id);
        }
        Ok(id)
    }

    /// Adds a prompt with a new id, in no vault.
    pub(super) fn insert_prompt(
        &mut self,
        own: AccountId,
        record: PromptRecord,
        inputs: PromptInputs,
    ) -> PromptId {
        let id = PromptId::new(self.next_id(Kind::Prompt));
        let shown = Arc::new(PromptRecord { id, vault_ids: Vec::new(), ..record });
        self.prompts.insert((own, id), StoredPrompt { shown, inputs });
        id
    }

    /// Fails if the account may not have so many more vaults and prompts. One request may copy as
    /// many prompts as a vault has, so a few could use up the memory.
    pub(super) fn check_room(&self, own: AccountId, vaults: usize, prompts: usize) -> Result<()> {
        if self.vaults_of(own).count() + vaults > self.vaults_max {
            return Err(StoreError::TooManyVaults);
        }
        let present = || self.prompts_of(own, PromptId::new(i64::MAX)).count();
        let is_free = prompts == 0 || present() + prompts <= MEMORY_FORK_PROMPTS_MAX;
        is_free.then_some(()).ok_or(StoreError::TooManyPrompts)
    }

    /// Adds an empty vault with a new id and slug.
    pub(super) fn insert_vault(&mut self, own: AccountId, record: VaultRecord) -> VaultRecord {
        let id = VaultId::new(self.next_id(Kind::Vault));
        let slug = self.free_slug(own, &record.name, None);
        let record = VaultRecord { id, slug, prompt_count: 0, ..record };
        self.vaults.insert((own, id), record.clone());
        record
    }

    /// The first free slug for a vault of this name. The slug of `renamed` counts as free.
    pub(super) fn free_slug(
        &self,
        own: AccountId,
        name: &str,
        renamed: Option<VaultId>,
    ) -> Arc<str> {
        let others = self.vaults_of(own).filter(|vault| Some(vault.id) != renamed);
        let taken: HashSet<_> = others.map(|vault| &*vault.slug).collect();
        let base = slug::base(name);
        let mut candidates = (1..).map(|number| slug::candidate(&base, number));
        candidates.find(|slug| !taken.contains(&**slug)).unwrap_or_default().into()
    }

    pub(super) fn general(&self, own: AccountId) -> Result<VaultId> {
        let general = self.vaults_of(own).find(|vault| vault.system);
        general.map(|vault| vault.id).ok_or(StoreError::UnknownVault)
    }

    /// Adds a prompt to a vault, on top of the unpinned prompts. `None`, and no change, if
    /// it is in the vault already or if one of the two does not exist.
    pub(super) fn add_member(
        &mut self,
        own: AccountId,
        vault: VaultId,
        prompt: PromptId,
    ) -> Option<VaultPromptId> {
        let vault_ids = &self.stored(own, prompt).ok()?.shown.vault_ids;
        let Err(index) = vault_ids.binary_search(&vault) else { return None };
        self.vault_mut(own, vault).ok()?.prompt_count += 1;
        self.prompt_mut(own, prompt).ok()?.vault_ids.insert(index, vault);
        let id = VaultPromptId::new(self.next_id(Kind::Membership));
        self.members.insert((own, vault, id), Member { prompt, pin: None });
        Some(id)
    }

    pub(super) fn member(&self, own: AccountId, at: Membership) -> Result<Member> {
        self.members.get(&(own, at.vault, at.id)).copied().ok_or(StoreError::NotFound)
    }

    pub(super) fn set_pinned(
        &mut self,
        own: AccountId,
        at: Membership,
        pinned: bool,
    ) -> Result<()> {
        let member = self.member(own, at)?;
        if member.pin.is_some() != pinned {
            let pin = pinned.then(|| self.next_id(Kind::Other));
            self.members.insert((own, at.vault, at.id), Member { pin, ..member });
        }
        Ok(())
    }

    /// Removes a membership. Returns its prompt.
    pub(super) fn remove_member(&mut self, own: AccountId, at: Membership) -> Result<PromptId> {
        let removed = self.members.remove(&(own, at.vault, at.id));
        let prompt = removed.ok_or(StoreError::NotFound)?.prompt;
        self.vault_mut(own, at.vault)?.prompt_count -= 1;
        self.prompt_mut(own, prompt)?.vault_ids.retain(|vault| *vault != at.vault);
        Ok(prompt)
    }

    /// Removes a prompt from a vault if it is there.
    pub(super) fn remove_prompt(
        &mut self,
        own: AccountId,
        vault: VaultId,
        prompt: PromptId,
    ) -> Result<()> {
        if self.stored(own, prompt)?.shown.vault_ids.contains(&vault) {
            let mut members = self.members_of(own, vault);
            let member = members.find(|(_, member)| member.prompt == prompt).map(|(id, _)| id);
            drop(members);
            let id = member.ok_or(StoreError::NotFound)?;
            self.remove_member(own, Membership { vault, id })?;
        }
        Ok(())
    }
}

/// Sets a field if there is a value for it.
pub(super) fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}
