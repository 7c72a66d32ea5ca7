//! All records, in plain lists behind one lock, searched from end to end.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
use std::time::Instant;

use super::answer::not_yours;
use super::prelude::*;
use super::uploads::File;

pub(super) type Account = usize;

#[derive(Clone, Default, PartialEq)]
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
    pub(super) images: Vec<Image>,
    pub(super) created: Millis,
    pub(super) updated: Millis,
}

#[derive(Clone, PartialEq)]
pub(super) struct Image {
    pub(super) url: String,
    pub(super) width: i64,
    pub(super) height: i64,
}

#[derive(Default)]
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

/// When something was done: by the clock, and by a count that never stands still.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub(super) struct Stamp {
    pub(super) at: Millis,
    pub(super) count: u64,
}

pub(super) struct Membership {
    pub(super) id: i64,
    pub(super) vault: i64,
    pub(super) prompt: i64,
    pub(super) added: Stamp,
    pub(super) pinned: Option<Stamp>,
}

pub(super) struct Store {
    pub(super) choices: &'static Choices,
    /// The API root, and the root of the storage.
    pub(super) base_url: String,
    pub(super) storage_url: String,
    pub(super) prompts: Vec<Prompt>,
    pub(super) vaults: Vec<Vault>,
    pub(super) memberships: Vec<Membership>,
    pub(super) jobs: Vec<Job>,
    pub(super) files: Vec<File>,
    /// What was deleted, by whom and when.
    gone: Vec<(i64, Account, Instant)>,
    pub(super) memory: super::bugs_before::Memory,
    random: RandomState,
    ticks: u64,
    turns: Cell<usize>,
}

impl Store {
    /// With the accounts of the keys, each with its system vaults.
    pub(super) fn new(choices: &'static Choices, [base_url, storage_url]: [String; 2]) -> Self {
        let mut store = Self {
            choices,
            base_url,
            storage_url,
            prompts: Vec::new(),
            vaults: Vec::new(),
            memberships: Vec::new(),
            jobs: Vec::new(),
            files: Vec::new(),
            gone: Vec::new(),
            memory: super::bugs_before::Memory::default(),
            random: RandomState::new(),
            ticks: 0,
            turns: Cell::new(0),
        };
        for owner in 0..super::call::ACCOUNTS {
            if !choices.records.late_general {
                store.general(owner);
                let mut other = store.new_vault(owner, "Merkzettel");
                (other.is_system, other.is_locked) = (true, true);
                store.vaults.push(other);
            }
            for number in 0..choices.records.foreign_things {
                super::foreign::add(&mut store, owner, number);
            }
        }
        store
    }

    pub(super) fn bug(&self, name: &str) -> bool {
        self.choices.bug == name
    }

    /// An id that was never given out.
    pub(super) fn new_id(&mut self) -> i64 {
        let tick = self.tick();
        if self.bug("ids.counted") {
            return (self.prompts.len() + self.vaults.len() + self.memberships.len() + 1) as i64;
        }
        if self.choices.records.random_ids {
            return i64::try_from(self.noise(tick) >> 2 | 1 << 53).unwrap_or(i64::MAX);
        }
        (1 << 32) + 200 - 3 * i64::try_from(tick).unwrap_or_default()
    }

    /// A text that nobody guesses.
    pub(super) fn new_secret(&mut self) -> String {
        let (one, other) = (self.tick(), self.tick());
        format!("{:016x}{:016x}", self.noise(one), self.noise(other))
    }

    /// A number that is always the same for this one and means nothing.
    pub(super) fn noise(&self, number: u64) -> u64 {
        self.random.hash_one(number)
    }

    /// Another number with each call.
    pub(super) fn turn(&self) -> usize {
        self.turns.replace(self.turns.get() + 1)
    }

    /// The moment, as the server's clock tells it.
    pub(super) fn now(&self) -> Millis {
        let now = now();
        if self.choices.records.whole_seconds { now - now.rem_euclid(1000) } else { now }
    }

    /// The moment of something that has an order among others.
    pub(super) fn stamp(&mut self) -> Stamp {
        Stamp { at: self.now(), count: self.tick() }
    }

    fn tick(&mut self) -> u64 {
        self.ticks += 1;
        self.ticks
    }

    /// A private vault with nothing in it, not yet in the store.
    pub(super) fn new_vault(&mut self, owner: Account, name: &str) -> Vault {
        let (id, now) = (self.new_id(), self.now());
        let records = &self.choices.records;
        Vault {
            id,
            owner,
            name: name.to_owned(),
            description: records.description.map(ToOwned::to_owned),
            slug: super::vaults::slug_of(self.choices, name, id),
            visibility: "private",
            created: now,
            updated: if records.vaults_age { now + 1 } else { now },
            ..Vault::default()
        }
    }

    /// A text prompt with nothing but these, not yet in the store.
    pub(super) fn new_prompt(&mut self, owner: Account, title: String, text: String) -> Prompt {
        let now = self.now();
        let records = &self.choices.records;
        Prompt {
            id: self.memory.prompt_ids.pop().unwrap_or_else(|| self.new_id()),
            owner,
            title,
            text,
            kind: "text",
            platform: records.platform.map(ToOwned::to_owned),
            created: now,
            updated: if records.whole_seconds { now } else { now + 1 },
            ..Prompt::default()
        }
    }

    /// A new record like a prompt of the account.
    pub(super) fn copy(&mut self, owner: Account, prompt: i64) -> Result<i64, Refusal> {
        let id = self.new_id();
        let copy = Prompt { id, ..self.prompt(owner, prompt)?.clone() };
        self.prompts.push(copy);
        Ok(id)
    }

    /// The account's General vault, which is made now if it is not there.
    pub(super) fn general(&mut self, owner: Account) -> i64 {
        let mut vaults = self.vaults.iter();
        if let Some(found) = vaults.find(|vault| vault.owner == owner && vault.is_general) {
            return found.id;
        }
        let mut vault = self.new_vault(owner, "Alles");
        (vault.is_system, vault.is_general) = (true, true);
        vault.is_locked = self.choices.records.late_general;
        let id = vault.id;
        self.vaults.push(vault);
        id
    }

    pub(super) fn prompt(&mut self, owner: Account, id: i64) -> Result<&mut Prompt, Refusal> {
        let found = self.prompts.iter_mut().find(|prompt| prompt.id == id);
        let found = found.ok_or_else(not_found)?;
        match self.choices.bug {
            "owner.of-prompts-not-asked" => return Ok(found),
            "owner.of-prompts-403" if found.owner != owner => return refuse(403, "Forbidden"),
            _ => {}
        }
        if found.owner == owner { Ok(found) } else { Err(not_yours()) }
    }

    pub(super) fn vault(&mut self, owner: Account, id: i64) -> Result<&mut Vault, Refusal> {
        let found = self.vaults.iter_mut().find(|vault| vault.id == id);
        let found = found.ok_or_else(not_found)?;
        match self.choices.bug {
            "owner.of-vaults-not-asked" => return Ok(found),
            "owner.of-public-vaults-not-asked" if found.visibility == "public" => return Ok(found),
            "owner.of-listed-vaults-not-asked" if found.visibility != "private" => {
                return Ok(found);
            }
            "owner.of-vaults-403" if found.owner != owner => return refuse(403, "Forbidden"),
            _ => {}
        }
        if found.owner == owner { Ok(found) } else { Err(not_yours()) }
    }

    /// The caller's vault that a body names, to put something into or take
    /// something out of.
    pub(super) fn open_vault(&mut self, owner: Account, id: i64) -> Result<(), Refusal> {
        let statuses = &self.choices.statuses;
        match self.vaults.iter().find(|vault| vault.id == id) {
            None if self.bug("target.absent-ignored") => Ok(()),
            None if self.bug("soft.vault-target") && self.memory.had_vault(owner, id) => Ok(()),
            None if self.bug("target.absent-500") => refuse(500, "foreign key"),
            None => refuse(statuses.absent, "No such vault"),
            Some(_) if self.bug("owner.of-targets-not-asked") => Ok(()),
            Some(vault) if vault.owner != owner => refuse(statuses.foreign, "Not your vault"),
            Some(vault) if vault.is_locked => refuse(statuses.locked, "Locked"),
            Some(_) => Ok(()),
        }
    }

    /// [`Self::open_vault`], but on a server with this bug, of any account.
    pub(super) fn target(&mut self, bug: &str, owner: Account, id: i64) -> Result<(), Refusal> {
        let any = self.bug(bug) && self.vaults.iter().any(|vault| vault.id == id);
        if any { Ok(()) } else { self.open_vault(owner, id) }
    }

    /// Puts a prompt into a vault; the new membership's id. An older membership goes, unless
    /// there may be several.
    pub(super) fn enter(&mut self, vault: i64, prompt: i64) -> i64 {
        let repeats = self.choices.moves.repeats;
        match self.choices.bug {
            "enter.leaves-others" => self.leave(|old| old.prompt == prompt),
            "enter.empties-vault" => self.leave(|old| old.vault == vault),
            "enter.at-most-two" if self.holders(prompt).len() > 1 => {
                self.leave(|old| old.prompt == prompt)
            }
            _ => {}
        }
        self.memberships.retain(|old| repeats || (old.vault, old.prompt) != (vault, prompt));
        let is_old = |old: &Membership| (old.vault, old.prompt) == (vault, prompt);
        if self.bug("soft.member-restored")
            && let Some(old) = self.memory.removed.iter().position(is_old)
        {
            self.memberships.push(self.memory.removed.remove(old));
            return self.memberships.last().map_or(0, |held| held.id);
        }
        let (id, added) = (self.new_id(), self.stamp());
        let mut others = self.memberships.iter_mut().filter(|old| old.prompt == prompt);
        let pinned = match self.choices.bug {
            "enter.copies-pin" => others.find_map(|old| old.pinned),
            "enter.date-of-prompt" => {
                others.for_each(|old| old.added = added);
                None
            }
            _ => None,
        };
        self.memberships.push(Membership { id, vault, prompt, added, pinned });
        self.touch(vault, prompt);
        id
    }

    pub(super) fn held_by(&self, vault: i64) -> Vec<i64> {
        let held = self.memberships.iter().filter(|held| held.vault == vault);
        held.map(|held| held.prompt).collect()
    }

    pub(super) fn holders(&self, prompt: i64) -> Vec<i64> {
        let held = self.memberships.iter().filter(|held| held.prompt == prompt);
        held.map(|held| held.vault).collect()
    }

    pub(super) fn leave(&mut self, like: impl Fn(&Membership) -> bool) {
        self.memberships.retain(|held| !like(held));
    }

    pub(super) fn unpin(&mut self, like: impl Fn(&Membership) -> bool) {
        let held = self.memberships.iter_mut().filter(|held| like(held));
        held.for_each(|held| held.pinned = None);
    }

    pub(super) fn change(&mut self, like: impl Fn(&Prompt) -> bool, change: impl Fn(&mut Prompt)) {
        self.prompts.iter_mut().filter(|prompt| like(prompt)).for_each(change);
    }

    pub(super) fn held(&self, vault: i64, prompt: i64) -> Option<i64> {
        let mut held = self.memberships.iter();
        held.find(|held| (held.vault, held.prompt) == (vault, prompt)).map(|held| held.id)
    }

    pub(super) fn goes(&mut self, call: &Call, id: i64) {
        self.gone.push((id, call.account, Instant::now()));
    }

    /// Whether it was deleted while this request was on its way, which is then a
    /// success too on a server that sees no difference.
    pub(super) fn went_meanwhile(&self, call: &Call, id: i64) -> bool {
        let meanwhile = |gone: &&(i64, Account, Instant)| {
            (gone.0, gone.1) == (id, call.account) && gone.2 > call.arrived
        };
        self.choices.moves.deletes_together && self.gone.iter().any(|gone| meanwhile(&gone))
    }

    /// Notes a change of both, where memberships count as one.
    pub(super) fn touch(&mut self, vault: i64, prompt: i64) {
        if !self.choices.records.vaults_age {
            return;
        }
        let now = self.now();
        for vault in self.vaults.iter_mut().filter(|each| each.id == vault) {
            vault.updated = now.max(vault.updated + 1);
        }
        for prompt in self.prompts.iter_mut().filter(|each| each.id == prompt) {
            prompt.updated = now.max(prompt.updated + 1);
        }
    }
}
