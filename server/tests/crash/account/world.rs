//! Prompts and vaults as they must be, and what a change makes of them.

use std::collections::{BTreeMap, BTreeSet};

use super::Change;

/// Everything of an account.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) prompts: BTreeMap<i64, Prompt>,
    pub(crate) vaults: BTreeMap<i64, Vault>,
    /// Orders what happened.
    ticks: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(crate) title: String,
    pub(crate) text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Vault {
    pub(crate) name: String,
    pub(crate) visibility: String,
    pub(crate) system: bool,
    /// In no order; see [`Vault::listed`].
    pub(crate) members: Vec<Member>,
}

/// A prompt in a vault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) prompt: i64,
    /// The membership's id, once it was seen.
    pub(crate) id: Option<i64>,
    added: u64,
    pinned: Option<u64>,
}

impl Vault {
    /// In the order of its contents: the latest pinned first, then the others, the
    /// latest added first.
    pub(crate) fn listed(&self) -> Vec<&Member> {
        let mut members: Vec<_> = self.members.iter().collect();
        members.sort_by_key(|member| std::cmp::Reverse((member.pinned, member.added)));
        members
    }

    /// In the order in which a fork lists them, which has no pins.
    pub(crate) fn unpinned(&self) -> Vec<i64> {
        let mut members: Vec<_> = self.members.iter().collect();
        members.sort_by_key(|member| std::cmp::Reverse(member.added));
        members.into_iter().map(|member| member.prompt).collect()
    }

    pub(crate) fn member(&self, prompt: i64) -> Option<&Member> {
        self.members.iter().find(|member| member.prompt == prompt)
    }

    fn remove(&mut self, prompt: i64) {
        self.members.retain(|member| member.prompt != prompt);
    }
}

impl Member {
    pub(crate) fn is_pinned(&self) -> bool {
        self.pinned.is_some()
    }
}

impl World {
    /// The vaults that hold a prompt.
    pub(crate) fn holders(&self, prompt: i64) -> BTreeSet<i64> {
        let holds = |(id, vault): (&i64, &Vault)| vault.member(prompt).map(|_| *id);
        self.vaults.iter().filter_map(holds).collect()
    }

    fn tick(&mut self) -> u64 {
        self.ticks += 1;
        self.ticks
    }

    /// Puts a prompt into a vault, unless it is there.
    pub(crate) fn put(&mut self, prompt: i64, vault: i64, id: Option<i64>) {
        let added = self.tick();
        let vault = self.vaults.get_mut(&vault).unwrap();
        if vault.member(prompt).is_none() {
            vault.members.push(Member { prompt, id, added, pinned: None });
        }
    }

    /// Carries a change out; `made` is the id of what it makes.
    pub(crate) fn apply(&mut self, change: &Change, made: Option<i64>) {
        match change {
            Change::CreatePrompt { prompt, vault } => {
                let id = made.expect("a prompt has an id");
                self.prompts.insert(id, prompt.clone());
                vault.iter().for_each(|vault| self.put(id, *vault, None));
            }
            Change::UpdatePrompt { id, prompt, vault } => {
                self.prompts.insert(*id, prompt.clone());
                vault.iter().for_each(|vault| self.put(*id, *vault, None));
            }
            Change::DeletePrompt { id } => {
                self.prompts.remove(id);
                self.vaults.values_mut().for_each(|vault| vault.remove(*id));
            }
            Change::CreateVault { name, visibility } => {
                let id = made.expect("a vault has an id");
                let (name, visibility) = (name.clone(), visibility.clone());
                let vault = Vault { name, visibility, system: false, members: Vec::new() };
                self.vaults.insert(id, vault);
            }
            Change::UpdateVault { id, name, visibility } => {
                let vault = self.vaults.get_mut(id).unwrap();
                (vault.name, vault.visibility) = (name.clone(), visibility.clone());
            }
            Change::DeleteVault { id } => {
                self.vaults.remove(id);
            }
            Change::Add { vault, prompts } => {
                prompts.iter().for_each(|prompt| self.put(*prompt, *vault, None));
            }
            Change::Remove { vault, prompt, .. } => {
                self.vaults.get_mut(vault).unwrap().remove(*prompt);
            }
            Change::Move { source, prompt, target, .. } => {
                self.vaults.get_mut(source).unwrap().remove(*prompt);
                self.vaults.get_mut(target).unwrap().remove(*prompt);
                self.put(*prompt, *target, made);
            }
            Change::Pin { vault, prompt, pinned, .. } => {
                let tick = self.tick();
                let vault = self.vaults.get_mut(vault).unwrap();
                let member = vault.members.iter_mut().find(|member| member.prompt == *prompt);
                let member = member.unwrap();
                member.pinned = pinned.then(|| member.pinned.unwrap_or(tick));
            }
            // The copies are known when they are seen; see `Change::settle`.
            Change::Fork { .. } => {}
        }
    }
}
