//! The checker finds what is put into a history, and nothing in one that is right.

use std::time::Duration;

use crate::check::{Fault, check};
use crate::record::{Filter, History, Id, Page, Prompt, Span, Walk, Write};

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

#[test]
fn a_right_walk_has_no_faults() {
    assert_eq!(faults_of(|_| ()), []);
    // An empty page ends a walk whose last entries were deleted meanwhile.
    let deleted = faults_of(|history| {
        for id in [1, 2] {
            history.prompts.get_mut(&id).unwrap().push(write(105, 115, None));
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
fn a_skipped_entry_is_found_wherever_it_is() {
    assert_eq!(faults_of_pages(&[&[4, 2], &[1]]), [Fault::Skipped(5)]);
    assert_eq!(faults_of_pages(&[&[5, 2], &[1]]), [Fault::Skipped(4)]);
    assert_eq!(faults_of_pages(&[&[5, 4], &[1]]), [Fault::Skipped(2)]);
    assert_eq!(faults_of_pages(&[&[5, 4], &[2]]), [Fault::Skipped(1)]);
    assert_eq!(faults_of_pages(&[&[]]), [1, 2, 4, 5].map(Fault::Skipped));
}

#[test]
fn an_entry_that_an_update_leaves_in_the_list_is_not_skipped_during_it() {
    let skipped = faults_of(|history| {
        history.prompts.get_mut(&2).unwrap().push(write(110, 140, Some("text")));
        history.walks[0].pages[1].ids = vec![1];
    });
    assert_eq!(skipped, [Fault::Skipped(2)]);
}

#[test]
fn repeated_and_disordered_entries_are_found() {
    assert_eq!(faults_of_pages(&[&[5, 4], &[4, 2], &[1]]), [Fault::Repeated(4)]);
    assert_eq!(faults_of_pages(&[&[5, 4], &[2, 2], &[1]]), [Fault::Repeated(2)]);
    assert_eq!(faults_of_pages(&[&[5, 4], &[1, 2]]), [Fault::Disordered(2)]);
    let first = faults_of_pages(&[&[4, 5], &[2, 1]]);
    assert_eq!(first, [Fault::Disordered(5), Fault::Skipped(4)]);
}

#[test]
fn entries_that_cannot_be_there_are_found() {
    // Deleted and acknowledged before the walk, and before its second page.
    assert_eq!(faults_of_pages(&[&[5, 4], &[3, 2], &[1]]), [Fault::Resurrected(3)]);
    let between = faults_of(|history| {
        history.prompts.get_mut(&2).unwrap().push(write(111, 119, None));
    });
    assert_eq!(between, [Fault::Resurrected(2)]);
    assert_eq!(faults_of_pages(&[&[9, 5], &[4, 2], &[1]]), [Fault::Unexpected(9)]);
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
fn a_page_of_the_wrong_size_is_found() {
    assert_eq!(faults_of_pages(&[&[5], &[4, 2], &[1]]), [Fault::WrongSize(1)]);
    assert_eq!(faults_of_pages(&[&[5, 4], &[2, 1], &[]]), []);
    assert_eq!(faults_of_pages(&[&[5, 4, 2, 1]]), [Fault::WrongSize(4)]);
}

#[test]
fn what_changes_during_a_page_may_be_in_it_or_not() {
    for ids in [&[2, 1][..], &[1]] {
        let change = |last: Write| {
            faults_of(|history| {
                history.walks[0].filter.kind = Some("text");
                history.prompts.get_mut(&2).unwrap().push(last);
                history.walks[0].pages[1].ids = ids.to_vec();
            })
        };
        assert_eq!(change(write(125, 200, None)), []);
        assert_eq!(change(write(90, 125, Some("image"))), []);
        let created = faults_of(|history| {
            history.prompts.insert(2, vec![write(90, 125, Some("text"))]);
            history.walks[0].pages[1].ids = ids.to_vec();
        });
        assert_eq!(created, []);
    }
}
