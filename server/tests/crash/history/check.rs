//! Compares the pages of a history with its writes.
//!
//! A page is wrong unless each prompt could be in it, or not, at some moment while it was
//! requested. It answers for the ids below those of the page before it, down to its own last one,
//! or to the lowest of all if it has no cursor. The ids of a walk descend (S-01), so its pages
//! answer for every id once. Whoever is in the list from before a walk until after it is therefore
//! in one page of it.

use std::collections::BTreeSet;
use std::fmt;

use super::record::{Filter, History, Id, Page, Prompt, Span, Time, Walk, Write};

/// What is wrong with a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    /// It was in the list all the time, and is not in the page.
    Skipped(Id),
    /// The walk had it before.
    Repeated(Id),
    /// It is greater than the one before it.
    Disordered(Id),
    /// Its deletion had been acknowledged.
    Resurrected(Id),
    /// It was not in the list at any time of the request, or no writer knows it.
    Unexpected(Id),
    /// A page with a cursor has so many entries and not `limit`, or one without has more (S-71).
    WrongSize(usize),
}

/// A fault of the page at this position of a walk.
pub(crate) struct Finding<'a> {
    pub(crate) fault: Fault,
    pub(crate) page: usize,
    pub(crate) walk: &'a Walk,
}

impl fmt::Display for Finding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fault, page, walk: Walk { filter, limit, pages } } = self;
        let (number, Page { span, ids, more }) = (page + 1, &pages[*page]);
        write!(f, "{fault:?} in page {number} of a walk, {filter:?}, limit {limit}, {span:?}")?;
        write!(f, ", more: {more}, ids: {ids:?}")
    }
}

/// Everything that is wrong in a history.
pub(crate) fn check(history: &History) -> Vec<Finding<'_>> {
    let mut pages: Vec<_> = history
        .walks
        .iter()
        .flat_map(|walk| (0..walk.pages.len()).map(move |page| (walk, page)))
        .collect();
    pages.sort_by_key(|(walk, page)| walk.pages[*page].span.sent);
    let mut existing = Existing::of(history);
    let mut findings = Vec::new();
    for (walk, page) in pages {
        let existing = existing.at(&walk.pages[page]);
        let faults = order(walk, page);
        let faults = faults.chain(unexpected(history, walk, page));
        let faults = faults.chain(skipped(history, existing, walk, page));
        findings.extend(faults.map(|fault| Finding { fault, page, walk }));
    }
    findings
}

/// The prompts that exist when a page is requested, so that not all of the run are looked at.
struct Existing {
    /// Acknowledged creations, and deletions that were sent; descending by time.
    changes: Vec<(Time, Id, bool)>,
    ids: BTreeSet<Id>,
}

impl Existing {
    fn of(history: &History) -> Self {
        let mut changes = Vec::new();
        for (id, writes) in &history.prompts {
            changes.extend(writes.first().map(|write| (write.span.answered, *id, true)));
            let last = writes.last().filter(|write| write.after.is_none());
            changes.extend(last.map(|write| (write.span.sent, *id, false)));
        }
        changes.sort_by(|a, b| b.cmp(a));
        Self { changes, ids: BTreeSet::new() }
    }

    /// Pages must come in the order in which they were sent.
    fn at(&mut self, page: &Page) -> &BTreeSet<Id> {
        while let Some((_, id, exists)) = self.changes.pop_if(|change| change.0 <= page.span.sent) {
            if exists {
                self.ids.insert(id)
            } else {
                self.ids.remove(&id)
            };
        }
        &self.ids
    }
}

/// The last id of the pages before this one.
fn before(walk: &Walk, page: usize) -> Option<Id> {
    walk.pages[..page].iter().rev().find_map(|page| page.ids.last().copied())
}

fn order(walk: &Walk, page: usize) -> impl Iterator<Item = Fault> {
    let Page { ids, more, .. } = &walk.pages[page];
    let previous = before(walk, page).into_iter().chain(ids.iter().copied());
    let own = if before(walk, page).is_some() { &ids[..] } else { ids.get(1..).unwrap_or(&[]) };
    let ascents = previous.zip(own).filter(|(previous, id)| *id >= previous);
    let faults = ascents.map(move |(_, id)| {
        let times = walk.pages[..=page].iter().flat_map(|page| &page.ids).filter(|one| *one == id);
        if times.count() > 1 { Fault::Repeated(*id) } else { Fault::Disordered(*id) }
    });
    let is_wrong = if *more { ids.len() != walk.limit } else { ids.len() > walk.limit };
    faults.chain(is_wrong.then_some(Fault::WrongSize(ids.len())))
}

fn unexpected(history: &History, walk: &Walk, page: usize) -> impl Iterator<Item = Fault> {
    let Page { ids, span, .. } = &walk.pages[page];
    ids.iter().filter_map(move |id| {
        let Some(writes) = history.prompts.get(id) else {
            return Some(Fault::Unexpected(*id));
        };
        if states(writes, *span).any(|state| is_listed(walk.filter, state)) {
            return None;
        }
        let is_deleted = states(writes, *span).all(|state| state.is_none())
            && writes.first().is_some_and(|write| write.span.sent <= span.answered);
        Some(if is_deleted { Fault::Resurrected(*id) } else { Fault::Unexpected(*id) })
    })
}

fn skipped(
    history: &History,
    existing: &BTreeSet<Id>,
    walk: &Walk,
    page: usize,
) -> impl Iterator<Item = Fault> {
    let Page { ids, span, more } = &walk.pages[page];
    let end = before(walk, page).unwrap_or(Id::MAX);
    let start = ids.last().copied().filter(|_| *more).unwrap_or(Id::MIN).min(end);
    let present: BTreeSet<_> = ids.iter().copied().collect();
    let missing = existing.range(start..end).filter(move |id| !present.contains(id));
    let missing = missing.filter(move |id| {
        states(&history.prompts[id], *span).all(|state| is_listed(walk.filter, state))
    });
    missing.map(|id| Fault::Skipped(*id))
}

fn is_listed(filter: Filter, state: Option<&Prompt>) -> bool {
    state.is_some_and(|prompt| filter.has(prompt))
}

/// The states that a prompt may have had at some moment of a span, `None` where it did not exist.
fn states(writes: &[Write], span: Span) -> impl Iterator<Item = Option<&Prompt>> {
    (0..=writes.len()).filter_map(move |done| {
        let began = done.checked_sub(1).map(|last| &writes[last]);
        let is_over = writes.get(done).is_some_and(|next| next.span.answered < span.sent);
        let is_later = began.is_some_and(|write| write.span.sent > span.answered);
        (!is_over && !is_later).then(|| began.and_then(|write| write.after.as_ref()))
    })
}
