//! Lists with `max_items`.

use futures::TryStreamExt;
use promptarium::Cursor;

use super::{THREE, cursors, ids, list, query, scripted};
use crate::stub::client;

#[tokio::test]
async fn max_items_ends_the_stream_without_needless_requests() {
    let needed: [(usize, &[&str]); 7] = [
        (0, &[]),
        (1, &[""]),
        (2, &[""]),
        (3, &["", "b"]),
        (4, &["", "b", "c"]),
        (5, &["", "b", "c"]),
        (9, &["", "b", "c"]),
    ];
    for (limit, requests) in needed {
        for ahead in [false, true] {
            let server = list(THREE).await;
            let list = client(server.uri()).prompts().list().max_items(limit).prefetch(ahead);
            let all: Vec<_> = list.items().try_collect().await.unwrap();
            assert_eq!(ids(&all), [1, 2, 3, 4, 5][..limit.min(5)]);
            assert_eq!(cursors(&server).await, requests, "for {limit}, ahead: {ahead}");
        }
    }
}

#[tokio::test]
async fn no_page_is_larger_than_max_items() {
    let sizes = [
        (Some(100), 5, Some("5")),
        (Some(100), 100, Some("100")),
        (Some(2), 5, Some("2")),
        (None, 5, Some("5")),
        (None, 20, Some("20")),
        (None, 250, Some("100")),
        (None, usize::MAX, Some("100")),
        (Some(7), usize::MAX, Some("7")),
    ];
    for (page_size, limit, expected) in sizes {
        let server = list(THREE).await;
        let mut list = client(server.uri()).prompts().list().max_items(limit);
        if let Some(page_size) = page_size {
            list = list.page_size(page_size);
        }
        let _: Vec<_> = list.items().try_collect().await.unwrap();
        for request in server.received_requests().await.unwrap() {
            assert_eq!(query(&request, "limit").as_deref(), expected);
        }
    }
}

#[tokio::test]
async fn max_items_does_not_bound_one_page() {
    let server = list(THREE).await;
    let page = client(server.uri()).prompts().list().max_items(0).page().await.unwrap();
    assert_eq!(ids(&page.items), [1, 2]);
    assert_eq!(query(&server.received_requests().await.unwrap()[0], "limit"), None);
}

#[tokio::test(start_paused = true)]
async fn the_cursor_after_max_items_is_that_of_the_page_with_the_next_item() {
    // Of the pages [1, 2], [3] and [4, 5]. A page that is cut is the one to resume from.
    for (limit, expected) in [(1, None), (2, Some("b")), (3, Some("c")), (4, Some("c")), (5, None)]
    {
        for ahead in [false, true] {
            let (_, list) = scripted(&[]);
            let mut pages = list.max_items(limit).prefetch(ahead).pages();
            let all: Vec<_> = (&mut pages).try_collect().await.unwrap();
            let last = all.last().unwrap().next_cursor.as_ref();
            assert_eq!(last.map(Cursor::as_str), expected, "for {limit}");
            assert_eq!(pages.cursor(), last);
        }
    }
}
