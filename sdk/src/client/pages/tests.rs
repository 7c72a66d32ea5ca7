//! What stays in memory of a long list.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::{Items, Pages, Paging};
use crate::model::{Cursor, Page};

/// An item that is counted while it is alive.
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
                let items = (number * 10..number * 10 + 10).map(|n| Counted(n, counter.clone()));
                // The last page starts over.
                let next = if number + 1 < PAGES { number + 1 } else { 1 };
                Ok(Page::new(items.collect(), Some(Cursor::from(next.to_string()))))
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
