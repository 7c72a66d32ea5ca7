//! What the naive store keeps, and how it finds things in it.

use std::sync::Arc;

use jiff::Timestamp;
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::jobs::Job;
use crate::domain::{
    AccountId, Caller, KeyRecord, NewVault, PromptRecord, SharedPrompt, VaultRecord, slug,
};
use crate::store::StoreError::{self, NotFound};

#[derive(Default)]
pub(super) struct State {
    pub(super) accounts: Vec<String>,
    pub(super) keys: Vec<KeyRecord>,
    pub(super) prompts: Vec<(AccountId, PromptRecord)>,
    pub(super) vaults: Vec<(AccountId, VaultRecord)>,
    pub(super) members: Vec<Member>,
    pub(super) jobs: Vec<Job>,
    /// How many prompts, vaults, memberships and pins there ever were.
    pub(super) counts: [i64; 4],
}

#[derive(Clone)]
pub(super) struct Member {
    pub(super) id: VaultPromptId,
    pub(super) vault: VaultId,
    pub(super) prompt: PromptId,
    /// Zero when it is not pinned.
    pub(super) pin: i64,
}

impl State {
    pub(super) fn count(&mut self, what: usize) -> i64 {
        self.counts[what] += 1;
        self.counts[what]
    }

    pub(super) fn prompt(
        &mut self,
        by: &Caller,
        id: PromptId,
    ) -> Result<&mut PromptRecord, StoreError> {
        let mut prompts = self.prompts.iter_mut();
        let found = prompts.find(|(owner, prompt)| *owner == by.account && prompt.id == id);
        found.map(|(_, prompt)| prompt).ok_or(NotFound)
    }

    pub(super) fn vault(
        &mut self,
        by: &Caller,
        id: VaultId,
    ) -> Result<&mut VaultRecord, StoreError> {
        let mut vaults = self.vaults.iter_mut();
        let found = vaults.find(|(owner, vault)| *owner == by.account && vault.id == id);
        found.map(|(_, vault)| vault).ok_or(NotFound)
    }

    pub(super) fn member(
        &mut self,
        by: &Caller,
        vault: VaultId,
        id: VaultPromptId,
    ) -> Result<&mut Member, StoreError> {
        self.vault(by, vault)?;
        let mut members = self.members.iter_mut();
        members.find(|member| member.vault == vault && member.id == id).ok_or(NotFound)
    }

    pub(super) fn holds(&self, vault: VaultId, prompt: PromptId) -> bool {
        self.members.iter().any(|member| member.vault == vault && member.prompt == prompt)
    }

    pub(super) fn add(&mut self, vault: VaultId, prompt: PromptId) -> bool {
        let new = !self.holds(vault, prompt);
        if new {
            let id = VaultPromptId::new(self.count(2));
            self.members.push(Member { id, vault, prompt, pin: 0 });
        }
        new
    }

    pub(super) fn shown(&self, prompt: &PromptRecord) -> SharedPrompt {
        let members = self.members.iter().filter(|member| member.prompt == prompt.id);
        let mut vault_ids: Vec<_> = members.map(|member| member.vault).collect();
        vault_ids.sort();
        Arc::new(PromptRecord { vault_ids, ..prompt.clone() })
    }

    pub(super) fn show(&mut self, by: &Caller, id: PromptId) -> Result<SharedPrompt, StoreError> {
        let prompt = self.prompt(by, id)?.clone();
        Ok(self.shown(&prompt))
    }

    pub(super) fn counted(&self, vault: &VaultRecord) -> VaultRecord {
        let members = self.members.iter().filter(|member| member.vault == vault.id);
        VaultRecord { prompt_count: members.count() as u64, ..vault.clone() }
    }

    pub(super) fn free_slug(
        &self,
        account: AccountId,
        name: &str,
        but: Option<VaultId>,
    ) -> Arc<str> {
        let others = || {
            self.vaults.iter().filter(|(owner, vault)| *owner == account && Some(vault.id) != but)
        };
        let taken = |slug: &String| others().any(|(_, vault)| *vault.slug == **slug);
        slug::candidates(&slug::base(name)).find(|slug| !taken(slug)).expect("one is free").into()
    }

    pub(super) fn new_vault(
        &mut self,
        account: AccountId,
        new: NewVault,
        now: Timestamp,
    ) -> &mut VaultRecord {
        let record = VaultRecord {
            id: VaultId::new(self.count(1)),
            slug: self.free_slug(account, &new.name, None),
            name: new.name,
            description: new.description,
            visibility: new.visibility,
            cover_image_url: None,
            system: false,
            prompt_count: 0,
            created_at: now,
            updated_at: now,
        };
        self.vaults.push((account, record));
        &mut self.vaults.last_mut().expect("it was just pushed").1
    }
}
