//! One vault: its record and its memberships, in every order they are asked
//! for.
//!
//! A prompt's own list of its vaults is not kept here: `Account` joins both
//! sides.

use std::collections::BTreeMap;

use promptarium::{PromptId, VaultId, VaultPromptId};

use super::by_kind::{ByKind, following};
use crate::domain::{PromptKind, VaultRecord};

#[derive(Debug)]
pub(super) struct Vault {
    /// `prompt_count` in it is kept by [`Vault::insert`] and [`Vault::remove`].
    pub(super) record: VaultRecord,
    /// In the order they were added.
    pub(super) members: BTreeMap<VaultPromptId, Member>,
    pub(super) by_prompt: BTreeMap<PromptId, VaultPromptId>,
    pub(super) by_kind: ByKind,
    /// In the reverse of the order they are shown in.
    pub(super) places: BTreeMap<Place, PromptId>,
    pins: u64,
}

/// What one membership links to the vault.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) prompt: PromptId,
    /// Which pin of this vault it was, if it is pinned: later ones are greater.
    pub(super) pin: Option<u64>,
}

/// A membership's place in the vault; the greatest is shown first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// Below all pinned ones, the latest added on top.
    Unpinned(VaultPromptId),
    /// The latest pinned on top.
    Pinned(u64, VaultPromptId),
}

impl Place {
    pub(super) fn new(membership: VaultPromptId, pin: Option<u64>) -> Self {
        match pin {
            None => Self::Unpinned(membership),
            Some(pin) => Self::Pinned(pin, membership),
        }
    }

    pub(super) fn membership(self) -> VaultPromptId {
        let (Self::Unpinned(membership) | Self::Pinned(_, membership)) = self;
        membership
    }

    pub(super) fn is_pinned(self) -> bool {
        matches!(self, Self::Pinned(..))
    }
}

impl Vault {
    pub(super) fn new(record: VaultRecord) -> Self {
        Self {
            record,
            members: BTreeMap::new(),
            by_prompt: BTreeMap::new(),
            by_kind: ByKind::default(),
            places: BTreeMap::new(),
            pins: 0,
        }
    }

    pub(super) fn id(&self) -> VaultId {
        self.record.id
    }

    pub(super) fn holds(&self, prompt: PromptId) -> bool {
        self.by_prompt.contains_key(&prompt)
    }

    /// Prompts that follow `after` in listing order.
    pub(super) fn listing(&self, after: Option<PromptId>) -> impl Iterator<Item = PromptId> {
        self.by_prompt.range(following(after)).rev().map(|(&prompt, _)| prompt)
    }

    /// Adds a prompt that is not here yet under a membership that is new.
    pub(super) fn insert(&mut self, membership: VaultPromptId, prompt: PromptId, kind: PromptKind) {
        self.members.insert(membership, Member { prompt, pin: None });
        self.by_prompt.insert(prompt, membership);
        self.by_kind.insert(kind, prompt);
        self.places.insert(Place::Unpinned(membership), prompt);
        self.record.prompt_count += 1;
    }

    /// Removes a prompt of this type if it is here.
    pub(super) fn remove(&mut self, prompt: PromptId, kind: PromptKind) {
        let Some(membership) = self.by_prompt.remove(&prompt) else {
            return;
        };
        if let Some(member) = self.members.remove(&membership) {
            self.places.remove(&Place::new(membership, member.pin));
        }
        self.by_kind.remove(kind, prompt);
        self.record.prompt_count -= 1;
    }

    /// Pins or unpins; `None` if there is no such membership here.
    pub(super) fn set_pinned(&mut self, membership: VaultPromptId, pinned: bool) -> Option<()> {
        let member = self.members.get_mut(&membership)?;
        if member.pin.is_some() == pinned {
            return Some(());
        }
        self.places.remove(&Place::new(membership, member.pin));
        member.pin = pinned.then(|| {
            self.pins += 1;
            self.pins
        });
        self.places.insert(Place::new(membership, member.pin), member.prompt);
        Some(())
    }
}
