//! All records, in plain lists behind one lock, searched from end to end.
//!
//! Differs in: ids are random and beyond what a floating-point number holds
//! exactly (S-64); an account has two system vaults, General is called `Alles`
//! and can be renamed, the other one is locked (S-18, S-14).

use std::hash::{BuildHasher, RandomState};

use super::answer::{Refusal, not_found, not_yours, refused};
use super::clock::{Millis, now};

/// A place in the list of accounts.
pub(super) type Account = usize;

#[derive(Clone)]
pub(super) struct Prompt {
    pub(super) id: i64,
    pub(super) owner: Account,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) kind: &'static str,
    pub(super) platform: Option<String>,
    pub(super) model: Option<String>,
    pub(super) aspect_ratio: Option<String>,
    pub(super) image: Option<String>,
    pub(super) references: Vec<String>,
    pub(super) created: Millis,
    pub(super) updated: Millis,
}

pub(super) struct Vault {
    pub(super) id: i64,
    pub(super) owner: Account,
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) slug: String,
    pub(super) visibility: &'static str,
    pub(super) is_system: bool,
    pub(super) is_general: bool,
    pub(super) is_locked: bool,
    pub(super) created: Millis,
    pub(super) updated: Millis,
}

/// A prompt in a vault. The moments are counts of the store's own, so that no
/// two are equal.
pub(super) struct Membership {
    pub(super) id: i64,
    pub(super) vault: i64,
    pub(super) prompt: i64,
    pub(super) added: u64,
    pub(super) pinned: Option<u64>,
}

#[derive(Default)]
pub(super) struct Store {
    pub(super) prompts: Vec<Prompt>,
    /// In the order in which they were made.
    pub(super) vaults: Vec<Vault>,
    pub(super) memberships: Vec<Membership>,
    random: RandomState,
    ticks: u64,
}

impl Store {
    /// With accounts `0..accounts`, each with its system vaults.
    pub(super) fn new(accounts: usize) -> Self {
        let mut store = Self::default();
        for owner in 0..accounts {
            for (name, is_general) in [("Alles", true), ("Merkzettel", false)] {
                let mut vault = store.new_vault(owner, name);
                vault.is_system = true;
                vault.is_general = is_general;
                vault.is_locked = !is_general;
                store.vaults.push(vault);
            }
        }
        store
    }

    /// An id that was never given out: from 2^53 up, and below 2^62.
    pub(super) fn new_id(&mut self) -> i64 {
        let tick = self.tick();
        let random = self.random.hash_one(tick);
        let id = (random >> 2) | 1 << 53;
        i64::try_from(id).unwrap_or(i64::MAX)
    }

    /// A moment later than all before.
    pub(super) fn tick(&mut self) -> u64 {
        self.ticks += 1;
        self.ticks
    }

    /// A private vault with nothing in it, not yet in the store.
    pub(super) fn new_vault(&mut self, owner: Account, name: &str) -> Vault {
        let (id, now) = (self.new_id(), now());
        Vault {
            id,
            owner,
            name: name.to_owned(),
            description: Some(String::new()),
            slug: super::vaults::slug_of(name),
            visibility: "private",
            is_system: false,
            is_general: false,
            is_locked: false,
            created: now,
            updated: now + 1,
        }
    }

    /// The caller's prompt of this id.
    pub(super) fn prompt(&mut self, owner: Account, id: i64) -> Result<&mut Prompt, Refusal> {
        let found = self.prompts.iter_mut().find(|prompt| prompt.id == id);
        let found = found.ok_or_else(not_found)?;
        if found.owner == owner { Ok(found) } else { Err(not_yours()) }
    }

    /// The caller's vault of this id.
    pub(super) fn vault(&mut self, owner: Account, id: i64) -> Result<&mut Vault, Refusal> {
        let found = self.vaults.iter_mut().find(|vault| vault.id == id);
        let found = found.ok_or_else(not_found)?;
        if found.owner == owner { Ok(found) } else { Err(not_yours()) }
    }

    /// The caller's vault that a body names, to put something into or take
    /// something out of.
    pub(super) fn open_vault(&mut self, owner: Account, id: i64) -> Result<(), Refusal> {
        match self.vaults.iter().find(|vault| vault.id == id) {
            None => Err(refused(422, "No such vault")),
            Some(vault) if vault.owner != owner => Err(refused(403, "Not your vault")),
            Some(vault) if vault.is_locked => Err(refused(423, "Locked")),
            Some(_) => Ok(()),
        }
    }

    /// Puts a prompt into a vault; the new membership's id. A prompt is in a
    /// vault once, so that an older membership goes.
    pub(super) fn enter(&mut self, vault: i64, prompt: i64) -> i64 {
        self.memberships.retain(|old| (old.vault, old.prompt) != (vault, prompt));
        let (id, added) = (self.new_id(), self.tick());
        self.memberships.push(Membership { id, vault, prompt, added, pinned: None });
        self.touch(vault, prompt);
        id
    }

    /// Whether a prompt is in a vault.
    pub(super) fn holds(&self, vault: i64, prompt: i64) -> bool {
        self.memberships.iter().any(|held| (held.vault, held.prompt) == (vault, prompt))
    }

    /// Notes a change of both.
    pub(super) fn touch(&mut self, vault: i64, prompt: i64) {
        for vault in self.vaults.iter_mut().filter(|each| each.id == vault) {
            vault.updated = now().max(vault.updated + 1);
        }
        for prompt in self.prompts.iter_mut().filter(|each| each.id == prompt) {
            prompt.updated = now().max(prompt.updated + 1);
        }
    }
}
