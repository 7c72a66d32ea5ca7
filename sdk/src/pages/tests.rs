use std::sync::Arc;

use super::*;

#[tokio::test]
async fn ten_thousand_pages_keep_no_more_than_the_pages_at_hand() {
    const PAGES: usize = 10_000;
    for (prefetch, most) in [(false, 10), (true, 20)] {
        // Each item holds a clone, so the clones are the items that are alive.
        let alive = Arc::new(());
        let counted = alive.clone();
        let mut items = Items::new(Pages::new(None, None, prefetch, move |cursor| {
            let number = cursor.map_or(0, |cursor| cursor.as_str().parse().unwrap());
            let items = number * 10..number * 10 + 10;
            let items = items.map(|n| Ok((n, counted.clone()))).collect();
            // The last page starts over.
            let next = if number + 1 < PAGES { number + 1 } else { 1 };
            Box::pin(async move {
                // Not ready at once, as no answer is.
                tokio::task::yield_now().await;
                Ok(FetchedPage::new(items, Some(next.to_string().into())))
            })
        }));
        let (mut count, mut peak) = (0, 0);
        let error = loop {
            match items.next().await.expect("the loop is an error") {
                Ok((number, _)) => {
                    assert_eq!(number, count);
                    count += 1;
                    peak = peak.max(Arc::strong_count(&alive) - 2);
                }
                Err(error) => break error,
            }
        };
        assert!(error.is_pagination_loop());
        assert_eq!((count, peak), (PAGES * 10, most));
    }
}
