//! Lists with `prefetch`.

use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt, TryStreamExt};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use super::{THREE, cursors, ids, list};
use crate::stub::{client, prompt};

/// Reached only by a test that fails.
const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn prefetch_gives_the_same_list_with_the_same_requests() {
    let server = list(THREE).await;
    let list = client(server.uri()).prompts().list().prefetch(true);
    let all: Vec<_> = list.clone().items().try_collect().await.unwrap();
    assert_eq!(ids(&all), [1, 2, 3, 4, 5]);
    assert_eq!(cursors(&server).await, ["", "b", "c"]);

    let pages: Vec<_> = list.pages().try_collect().await.unwrap();
    let shape: Vec<_> = pages.iter().map(|page| ids(&page.items)).collect();
    assert_eq!(shape, [vec![1, 2], vec![3], vec![4, 5]]);
    assert_eq!(cursors(&server).await.len(), 6);
}

#[tokio::test]
async fn an_error_of_the_prefetched_page_comes_after_the_items_before_it() {
    let server = list(&[("", &[1, 2], Some("b"))]).await;
    let mut items = client(server.uri()).prompts().list().prefetch(true).items();
    for id in [1, 2] {
        assert_eq!(items.next().await.unwrap().unwrap().id.get(), id);
    }
    assert_eq!(items.next().await.unwrap().unwrap_err().status().unwrap(), 400);
    assert!(items.next().await.is_none());
    assert_eq!(items.cursor().unwrap().as_str(), "b");
}

#[derive(Debug, PartialEq)]
enum Seen {
    FirstPage,
    SecondPage,
    /// The client closed the connection of the second page.
    Cancelled,
}

/// Answers the first page and never the second.
async fn hang_at_the_second(mut stream: TcpStream, seen: Arc<UnboundedSender<Seen>>) {
    let data: Vec<_> = (1..=3).map(prompt).collect();
    let page = json!({ "data": data, "error": null, "pagination": { "nextCursor": "b" } });
    let page = page.to_string();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", page.len());
    let mut request = Vec::new();
    while stream.read_buf(&mut request).await.unwrap_or(0) > 0 {
        if !request.ends_with(b"\r\n\r\n") {
            continue;
        }
        if String::from_utf8_lossy(&request).contains("cursor=b") {
            seen.send(Seen::SecondPage).unwrap();
            while stream.read_buf(&mut request).await.unwrap_or(0) > 0 {}
            seen.send(Seen::Cancelled).unwrap();
            return;
        }
        seen.send(Seen::FirstPage).unwrap();
        stream.write_all((head.clone() + &page).as_bytes()).await.unwrap();
        request.clear();
    }
}

#[tokio::test]
async fn dropping_a_stream_cancels_the_prefetched_page() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, mut seen) = unbounded_channel();
    tokio::spawn(async move {
        let sender = Arc::new(sender);
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(hang_at_the_second(stream, sender.clone()));
        }
    });
    let client = client(format!("http://{address}"));
    let mut items = client.prompts().list().prefetch(true).items();
    for id in 1..=3 {
        assert_eq!(items.next().await.unwrap().unwrap().id.get(), id);
    }
    assert_eq!(seen.recv().await, Some(Seen::FirstPage));
    let next = timeout(LONG, async {
        tokio::select! {
            biased;
            item = items.next() => panic!("unexpected {item:?}"),
            next = seen.recv() => next,
        }
    });
    assert_eq!(next.await.expect("the next page is requested"), Some(Seen::SecondPage));
    drop(items);
    let then = timeout(LONG, seen.recv()).await.expect("the request is cancelled");
    assert_eq!(then, Some(Seen::Cancelled));
    assert_eq!(seen.recv().now_or_never(), None, "a further request");
}
