//! What a run records: each acknowledged write with its times, and each page of each walk.

use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) type Id = i64;

/// Since the start of the run, on a monotonic clock.
pub(crate) type Time = Duration;

/// From the moment before a request was sent to the moment after its response had come. What the
/// request did happened in between.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) sent: Time,
    pub(crate) answered: Time,
}

/// What filters look at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prompt {
    pub(crate) kind: &'static str,
    pub(crate) vaults: Vec<Id>,
}

/// An acknowledged write to one prompt.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) span: Span,
    /// `None` after the deletion.
    pub(crate) after: Option<Prompt>,
}

/// A complete or broken-off walk over one list.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    pub(crate) filter: Filter,
    pub(crate) limit: usize,
    pub(crate) pages: Vec<Page>,
}

/// The queries `type` and `vaultId`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) kind: Option<&'static str>,
    pub(crate) vault: Option<Id>,
}

#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) span: Span,
    pub(crate) ids: Vec<Id>,
    /// Whether it had a cursor.
    pub(crate) more: bool,
}

#[derive(Clone, Default)]
pub(crate) struct History {
    /// The writes to each prompt in their order, which do not overlap. The first creates it.
    pub(crate) prompts: BTreeMap<Id, Vec<Write>>,
    pub(crate) walks: Vec<Walk>,
}

impl Filter {
    pub(crate) fn has(&self, prompt: &Prompt) -> bool {
        self.kind.is_none_or(|kind| kind == prompt.kind)
            && self.vault.is_none_or(|vault| prompt.vaults.contains(&vault))
    }
}

impl Walk {
    pub(crate) fn is_complete(&self) -> bool {
        self.pages.last().is_some_and(|page| !page.more)
    }
}
