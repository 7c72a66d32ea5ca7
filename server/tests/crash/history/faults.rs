//! The checker finds what is put into a history, and nothing in one that is right.

use std::time::Duration;

use super::check::{Fault, check};
use super::record::{Filter, History, Id, Page, Prompt, Span, Walk, Write};

const VAULT: Id = 7;

fn span(sent: u64, answered: u64) -> Span {
    Span { sent: Duration::from_micros(sent), answered: Duration::from_micros(answered) }
}

fn write(sent: u64, answered: u64, after: Option<&'static str>) -> Write {
    let after = after.map(|kind| Prompt { kind, vaults: vec![VAULT] });
    Write { span: span(sent, answered), after }
}

fn page(sent: u64, ids: &[Id], more: bool) -> Page {
    Page { span: span(sent, sent + 10), ids: ids.to_vec(), more }
}

/// Texts 1 to 5, of which 3 is deleted before the walks begin at 100.
fn history() -> History {
    let mut prompts = History::default().prompts;
    for id in 1..=5 {
        let at = u64::try_from(id).unwrap();
        prompts.insert(id, vec![write(at, at + 1, Some("text"))]);
    }
    prompts.get_mut(&3).unwrap().push(write(50, 60, None));
    let pages = vec![page(100, &[5, 4], true), page(120, &[2, 1], false)];
    History { prompts, walks: vec![Walk { filter: Filter::default(), limit: 2, pages }] }
}

fn faults_of(change: impl FnOnce(&mut History)) -> Vec<Fault> {
    let mut history = history();
    change(&mut history);
    check(&history).iter().map(|finding| finding.fault).collect()
}

fn faults_of_pages(pages: &[&[Id]]) -> Vec<Fault> {
    let last = pages.len() - 1;
    let pages = pages.iter().zip(0u64..).enumerate();
    let pages = pages.map(|(n, (ids, at))| page(100 + 20 * at, ids, n < last)).collect();
    faults_of(|history| history.walks[0].pages = pages)
}

fn push(history: &mut History, id: Id, last: Write) {
    history.prompts.get_mut(&id).unwrap().push(last);
}

#[test]
fn a_right_walk_has_no_faults() {
    assert_eq!(faults_of(|_| ()), []);
    // An empty page ends a walk whose last entries were deleted meanwhile.
    let deleted = faults_of(|history| {
        for id in [1, 2] {
            push(history, id, write(105, 115, None));
        }
        history.walks[0].pages[1].ids.clear();
    });
    assert_eq!(deleted, []);
    let other_filters = faults_of(|history| {
        history.walks[0].filter = Filter { kind: Some("text"), vault: Some(VAULT) };
    });
    assert_eq!(other_filters, []);
}

#[test]
fn wrong_pages_are_found() {
    use Fault::{Disordered, Repeated, Resurrected, Skipped, Unexpected, WrongSize};
    for (pages, faults) in [
        (&[&[4, 2][..], &[1]][..], &[Skipped(5)][..]),
        (&[&[5, 2], &[1]], &[Skipped(4)]),
        (&[&[5, 4], &[1]], &[Skipped(2)]),
        (&[&[5, 4], &[2]], &[Skipped(1)]),
        (&[&[]], &[1, 2, 4, 5].map(Skipped)),
        (&[&[5, 4], &[4, 2], &[1]], &[Repeated(4)]),
        (&[&[5, 4], &[2, 2], &[1]], &[Repeated(2)]),
        (&[&[5, 4], &[1, 2]], &[Disordered(2)]),
        (&[&[4, 5], &[2, 1]], &[Disordered(5), Skipped(4)]),
        // Deleted and acknowledged before the walk.
        (&[&[5, 4], &[3, 2], &[1]], &[Resurrected(3)]),
        (&[&[9, 5], &[4, 2], &[1]], &[Unexpected(9)]),
        (&[&[5], &[4, 2], &[1]], &[WrongSize(1)]),
        (&[&[5, 4], &[2, 1], &[]], &[]),
        (&[&[5, 4, 2, 1]], &[WrongSize(4)]),
    ] {
        assert_eq!(faults_of_pages(pages), faults, "{pages:?}");
    }
}

#[test]
fn an_entry_that_an_update_leaves_in_the_list_is_not_skipped_during_it() {
    let skipped = faults_of(|history| {
        push(history, 2, write(110, 140, Some("text")));
        history.walks[0].pages[1].ids = vec![1];
    });
    assert_eq!(skipped, [Fault::Skipped(2)]);
}

#[test]
fn entries_that_cannot_be_there_are_found() {
    // Deleted and acknowledged before its page.
    let between = faults_of(|history| push(history, 2, write(111, 119, None)));
    assert_eq!(between, [Fault::Resurrected(2)]);
    for filter in
        [Filter { kind: Some("image"), vault: None }, Filter { kind: None, vault: Some(VAULT + 1) }]
    {
        let others = faults_of(|history| history.walks[0].filter = filter);
        assert_eq!(others, [5, 4, 2, 1].map(Fault::Unexpected));
    }
    // Not created before the page was there.
    let early = faults_of(|history| {
        history.prompts.insert(5, vec![write(200, 210, Some("text"))]);
    });
    assert_eq!(early, [Fault::Unexpected(5)]);
}

#[test]
fn what_changes_during_a_page_may_be_in_it_or_not() {
    let created = [write(90, 125, Some("text"))];
    let deleted = [write(2, 3, Some("text")), write(125, 200, None)];
    let changed = [write(2, 3, Some("text")), write(90, 125, Some("image"))];
    for (ids, writes) in [&[2, 1][..], &[1]]
        .iter()
        .flat_map(|ids| [&created[..], &deleted, &changed].map(|writes| (ids.to_vec(), writes)))
    {
        let faults = faults_of(|history| {
            history.walks[0].filter.kind = Some("text");
            history.prompts.insert(2, writes.to_vec());
            history.walks[0].pages[1].ids = ids;
        });
        assert_eq!(faults, []);
    }
}
