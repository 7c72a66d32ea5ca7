//! Streams over scripted pages: what is asked for and when. Nothing is sent.

use std::collections::HashSet;
use std::future::{pending, poll_fn, ready};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use futures::{FutureExt, TryStreamExt};

use super::{Fetching, Items, Pages, Paging};
use crate::client::Error;
use crate::model::{Cursor, Page};

/// The places pages were asked from.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<usize>>>);

impl Asked {
    fn note(&self, cursor: Option<&Cursor>) -> usize {
        let page = cursor.map_or(0, |cursor| cursor.as_str().parse().unwrap());
        self.0.lock().unwrap().push(page);
        page
    }

    fn so_far(&self) -> Vec<usize> {
        self.0.lock().unwrap().clone()
    }
}

/// Page `number` of three entries; three pages of them.
fn page(number: usize) -> Page<usize> {
    let next = (number < 2).then(|| Cursor::from((number + 1).to_string()));
    Page::new((number * 3..number * 3 + 3).collect(), next)
}

/// Nine entries on three pages, and what is asked for. Each of these pages fails once.
fn nine(paging: Paging, fails: &[usize]) -> (Pages<usize>, Asked) {
    let asked = Asked::default();
    let note = asked.clone();
    let mut fails: HashSet<usize> = fails.iter().copied().collect();
    let pages = Pages::new(paging, move |cursor| {
        let number = note.note(cursor.as_ref());
        let fails = fails.remove(&number);
        let fetched =
            if fails { Err(Error::input(format!("page {number}"))) } else { Ok(page(number)) };
        Box::pin(ready(fetched))
    });
    (pages, asked)
}

fn ahead() -> Paging {
    Paging { prefetch: true, ..Paging::default() }
}

fn limit(entries: usize, prefetch: bool) -> Paging {
    Paging { max_items: Some(entries), prefetch, ..Paging::default() }
}

fn next(items: &mut Items<usize>) -> Option<Result<usize, Error>> {
    items.next().now_or_never().expect("scripted pages come at once")
}

fn all(items: &mut Items<usize>) -> Vec<usize> {
    items.try_collect().now_or_never().expect("scripted pages come at once").unwrap()
}

#[test]
fn one_page_and_no_more_is_asked_for_ahead() {
    let (pages, asked) = nine(ahead(), &[]);
    let mut items = Items::new(pages);
    let mut counts = Vec::new();
    while next(&mut items).is_some() {
        counts.push(asked.so_far().len());
    }
    assert_eq!(counts, [2, 2, 2, 3, 3, 3, 3, 3, 3]);
}

#[test]
fn pages_are_not_prefetched_by_default() {
    let (pages, asked) = nine(Paging::default(), &[]);
    let mut items = Items::new(pages);
    let mut counts = Vec::new();
    while next(&mut items).is_some() {
        counts.push(asked.so_far().len());
    }
    assert_eq!(counts, [1, 1, 1, 2, 2, 2, 3, 3, 3]);
}

#[test]
fn looking_ahead_changes_neither_entries_nor_cursors() {
    let seen = |paging| {
        let mut items = Items::new(nine(paging, &[]).0);
        let mut seen = vec![(None, items.cursor().cloned())];
        while let Some(item) = next(&mut items) {
            seen.push((Some(item.unwrap()), items.cursor().cloned()));
        }
        seen
    };
    assert_eq!(seen(ahead()).len(), 10);
    assert_eq!(seen(ahead()), seen(Paging::default()));
}

#[test]
fn entries_at_hand_do_not_wait_for_the_page_ahead() {
    let pages = Pages::new(ahead(), |cursor| match cursor {
        None => Box::pin(ready(Ok(page(0)))),
        Some(_) => Box::pin(pending()) as Fetching<usize>,
    });
    let mut items = Items::new(pages);
    for expected in 0..3 {
        assert_eq!(next(&mut items).unwrap().unwrap(), expected);
    }
    assert!(items.next().now_or_never().is_none());
}

#[test]
fn the_request_ahead_moves_on_with_each_entry() {
    let polls = Arc::new(AtomicUsize::new(0));
    let count = polls.clone();
    let pages = Pages::new(ahead(), move |cursor| {
        let count = count.clone();
        match cursor {
            None => Box::pin(ready(Ok(page(0)))) as Fetching<usize>,
            Some(_) => Box::pin(poll_fn(move |_| {
                count.fetch_add(1, Relaxed);
                Poll::Pending
            })),
        }
    });
    let mut items = Items::new(pages);
    for _ in 0..3 {
        let before = polls.load(Relaxed);
        next(&mut items).unwrap().unwrap();
        assert!(polls.load(Relaxed) > before);
    }
}

#[test]
fn an_error_of_the_page_ahead_comes_in_its_place() {
    let (pages, asked) = nine(ahead(), &[1]);
    let mut items = Items::new(pages);
    assert_eq!(next(&mut items).unwrap().unwrap(), 0);
    assert_eq!(asked.so_far(), [0, 1]);
    assert!(!items.retry(), "the error was not returned yet");
    assert_eq!([next(&mut items), next(&mut items)].map(|item| item.unwrap().unwrap()), [1, 2]);
    assert!(next(&mut items).unwrap().is_err());
    assert!(next(&mut items).is_none());
    assert_eq!(asked.so_far(), [0, 1]);
}

#[test]
fn dropping_a_stream_drops_the_request_ahead() {
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let count = dropped.clone();
    let pages = Pages::new(ahead(), move |cursor| {
        let guard = cursor.is_some().then(|| Dropped(count.clone()));
        Box::pin(async move {
            if guard.is_some() {
                pending::<()>().await;
            }
            Ok(page(0))
        })
    });
    let mut items = Items::new(pages);
    assert_eq!(next(&mut items).unwrap().unwrap(), 0);
    assert_eq!(dropped.load(Relaxed), 0);
    drop(items);
    assert_eq!(dropped.load(Relaxed), 1);
}

#[test]
fn a_limit_ends_the_stream_without_a_needless_request() {
    for prefetch in [false, true] {
        for entries in 0..=10 {
            let (pages, asked) = nine(limit(entries, prefetch), &[]);
            let mut items = Items::new(pages);
            assert_eq!(all(&mut items), (0..entries.min(9)).collect::<Vec<_>>());
            assert!(next(&mut items).is_none());
            let needed = entries.min(9).div_ceil(3);
            assert_eq!(asked.so_far(), (0..needed).collect::<Vec<_>>(), "for {entries}");
        }
    }
}

#[test]
fn a_limit_reached_at_the_end_of_a_page_leaves_the_cursor_behind_it() {
    for prefetch in [false, true] {
        let mut items = Items::new(nine(limit(6, prefetch), &[]).0);
        all(&mut items);
        assert_eq!(items.cursor(), Some(&Cursor::from("2")));
    }
}

#[test]
fn a_page_that_the_limit_cuts_is_the_one_to_go_on_from() {
    let (mut pages, _) = nine(limit(5, false), &[]);
    let both: Vec<_> = (&mut pages).try_collect().now_or_never().unwrap().unwrap();
    let at = Some(Cursor::from("1"));
    assert_eq!(both, [page(0), Page::new(vec![3, 4], at.clone())]);
    assert_eq!(pages.cursor(), at.as_ref());
}

#[test]
fn a_retry_asks_for_the_page_that_failed_and_leaves_nothing_out() {
    for paging in [Paging::default(), ahead(), limit(9, false), limit(9, true)] {
        let (pages, asked) = nine(paging, &[0, 1, 2]);
        let mut items = Items::new(pages);
        let (mut seen, mut failed) = (Vec::new(), Vec::new());
        loop {
            match next(&mut items) {
                Some(Ok(item)) => seen.push(item),
                Some(Err(_)) => failed.push(items.cursor().map(Cursor::to_string)),
                None if items.retry() => {}
                None => break,
            }
        }
        assert_eq!(seen, (0..9).collect::<Vec<_>>());
        assert_eq!(failed, [None, Some("1".to_owned()), Some("2".to_owned())]);
        assert_eq!(asked.so_far(), [0, 0, 1, 1, 2, 2]);
    }
}

#[test]
fn a_retry_needs_no_end_of_the_stream_before_it() {
    let (mut pages, asked) = nine(Paging::default(), &[0]);
    assert!(pages.next().now_or_never().unwrap().unwrap().is_err());
    assert!(pages.retry());
    assert_eq!(asked.so_far(), [0], "asked only when polled");
    assert_eq!(pages.next().now_or_never().unwrap().unwrap().unwrap(), page(0));
}

#[test]
fn there_is_nothing_to_retry_without_an_error() {
    let (mut pages, asked) = nine(Paging::default(), &[]);
    assert!(!pages.retry());
    while pages.next().now_or_never().unwrap().is_some() {
        assert!(!pages.retry());
    }
    assert!(!pages.retry());
    assert_eq!(asked.so_far(), [0, 1, 2]);
}

#[test]
fn a_loop_is_not_mended_by_a_retry() {
    for paging in [Paging::default(), ahead()] {
        let asked = Asked::default();
        let note = asked.clone();
        let mut items = Items::new(Pages::new(paging, move |cursor| {
            note.note(cursor.as_ref());
            Box::pin(ready(Ok(Page::new(vec![1], Some("1".into())))))
        }));
        assert!(next(&mut items).unwrap().is_ok());
        assert!(next(&mut items).unwrap().is_ok());
        assert!(next(&mut items).unwrap().unwrap_err().is_pagination_loop());
        assert!(!items.retry());
        assert!(next(&mut items).is_none());
        assert_eq!(asked.so_far(), [0, 1]);
    }
}

/// An entry that is counted while it is alive.
struct Counted(usize, Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_sub(1, Relaxed);
    }
}

#[tokio::test]
async fn ten_thousand_pages_keep_no_more_than_the_pages_at_hand() {
    const PAGES: usize = 10_000;
    for (prefetch, most) in [(false, 10), (true, 20)] {
        let alive = Arc::new(AtomicUsize::new(0));
        let counter = alive.clone();
        let paging = Paging { prefetch, ..Paging::default() };
        let mut items = Items::new(Pages::new(paging, move |cursor| {
            let number = cursor.map_or(0, |cursor| cursor.as_str().parse().unwrap());
            let counter = counter.clone();
            Box::pin(async move {
                // Not ready at once, as no answer is.
                tokio::task::yield_now().await;
                counter.fetch_add(10, Relaxed);
                let entries = (number * 10..number * 10 + 10).map(|n| Counted(n, counter.clone()));
                // The last page starts over.
                let next = if number + 1 < PAGES { number + 1 } else { 1 };
                Ok(Page::new(entries.collect(), Some(Cursor::from(next.to_string()))))
            })
        }));
        let (mut count, mut peak) = (0, 0);
        let error = loop {
            match items.next().await.expect("the loop is an error") {
                Ok(item) => {
                    assert_eq!(item.0, count);
                    count += 1;
                    peak = peak.max(alive.load(Relaxed));
                }
                Err(error) => break error,
            }
        };
        assert!(error.is_pagination_loop());
        assert_eq!((count, peak), (PAGES * 10, most));
    }
}
