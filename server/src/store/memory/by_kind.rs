//! Prompts by type, newest first: what a page filtered by type reads.

use std::collections::BTreeSet;
use std::ops::Bound;

use promptarium::PromptId;

use crate::domain::PromptKind;

#[derive(Debug, Default)]
pub(super) struct ByKind {
    image: BTreeSet<PromptId>,
    text: BTreeSet<PromptId>,
    video: BTreeSet<PromptId>,
}

impl ByKind {
    pub(super) fn insert(&mut self, kind: PromptKind, prompt: PromptId) {
        self.of_mut(kind).insert(prompt);
    }

    pub(super) fn remove(&mut self, kind: PromptKind, prompt: PromptId) {
        self.of_mut(kind).remove(&prompt);
    }

    pub(super) fn change(&mut self, prompt: PromptId, from: PromptKind, to: PromptKind) {
        self.remove(from, prompt);
        self.insert(to, prompt);
    }

    /// Those of one type that follow `after` in listing order.
    pub(super) fn listing(
        &self,
        kind: PromptKind,
        after: Option<PromptId>,
    ) -> impl Iterator<Item = PromptId> {
        self.of(kind).range(following(after)).rev().copied()
    }

    pub(super) fn of(&self, kind: PromptKind) -> &BTreeSet<PromptId> {
        match kind {
            PromptKind::Image => &self.image,
            PromptKind::Text => &self.text,
            PromptKind::Video => &self.video,
        }
    }

    fn of_mut(&mut self, kind: PromptKind) -> &mut BTreeSet<PromptId> {
        match kind {
            PromptKind::Image => &mut self.image,
            PromptKind::Text => &mut self.text,
            PromptKind::Video => &mut self.video,
        }
    }
}

/// The identifiers that follow `after` in listing order, that is, the lower
/// ones.
pub(super) fn following(after: Option<PromptId>) -> (Bound<PromptId>, Bound<PromptId>) {
    (Bound::Unbounded, after.map_or(Bound::Unbounded, Bound::Excluded))
}
