//! Lists with `prefetch`.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::Poll;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, TryStreamExt};
use http::{Request, Response};
use promptarium::testing::{self, Answer};
use promptarium::transport::{Body, Failure, Transport};
use promptarium::{Client, Cursor, Page};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::{sleep, timeout};

use super::{THREE, cursors, ids, list, scripted};
use crate::stub::{client, prompt, response};

/// A limit for tests that fail.
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

#[tokio::test(start_paused = true)]
async fn one_page_and_no_more_is_requested_ahead() {
    for (ahead, expected) in [(false, [1, 1, 2, 3, 3]), (true, [2, 2, 3, 3, 3])] {
        let (script, list) = scripted(&[]);
        let (mut items, mut counts) = (list.prefetch(ahead).items(), Vec::new());
        while items.try_next().await.unwrap().is_some() {
            counts.push(script.calls().len());
        }
        assert_eq!(counts, expected, "ahead: {ahead}");
    }
}

#[tokio::test]
async fn an_error_of_the_prefetched_page_comes_after_the_items_before_it() {
    let server = list(&[("", &[1, 2], Some("b"))]).await;
    let mut items = client(server.uri()).prompts().list().prefetch(true).items();
    for id in [1, 2] {
        assert_eq!(items.next().await.unwrap().unwrap().id.get(), id);
        assert!(!items.retry(), "the error was not returned yet");
    }
    assert_eq!(items.next().await.unwrap().unwrap_err().status().unwrap(), 400);
    assert!(items.next().await.is_none());
    assert_eq!(items.cursor().unwrap().as_str(), "b");
    // The request that was sent ahead failed too; its error is not shown.
    assert_eq!(cursors(&server).await, ["", "b", "b"]);
}

/// Answers the first page and counts how often the request for the second is polled.
#[derive(Clone, Default)]
struct Polled(Arc<AtomicUsize>);

impl Transport for Polled {
    fn send(&self, request: Request<Body>) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
        let polls = self.0.clone();
        if request.uri().query().is_some_and(|query| query.contains("cursor=")) {
            return Box::pin(poll_fn(move |_| {
                polls.fetch_add(1, Relaxed);
                Poll::Pending
            }));
        }
        let data: Vec<_> = (1..=3).map(prompt).collect();
        let page = json!({ "data": data, "error": null, "pagination": { "nextCursor": "b" } });
        Box::pin(async move { Ok(response(200, page.to_string())) })
    }
}

#[tokio::test]
async fn the_request_ahead_is_polled_with_each_item() {
    let polled = Polled::default();
    let builder = Client::builder().base_url("http://h/api/v1").api_key("k");
    let client = builder.transport(polled.clone()).build().unwrap();
    let mut items = client.prompts().list().prefetch(true).items();
    for _ in 1..=3 {
        let before = polled.0.load(Relaxed);
        items.next().await.unwrap().unwrap();
        assert!(polled.0.load(Relaxed) > before);
    }
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

/// A service whose answers take some time, with 100 items a page.
fn healthy() -> testing::Script {
    let script = testing::Script::new();
    let items: Vec<_> = (1..=400)
        .map(|id| {
            let mut prompt = testing::fixture::prompt();
            prompt.id = id.into();
            prompt
        })
        .collect();
    script.get("/prompts").always_with(move |request| {
        let start = request.query_value("cursor").map_or(0, |cursor| cursor.parse().unwrap());
        let next = (start + 100 < items.len()).then(|| Cursor::from((start + 100).to_string()));
        let page = Page::new(items[start..start + 100].to_vec(), next);
        Answer::page(&page).after(Duration::from_millis(30))
    });
    script
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_sees_no_timeout_of_a_request_that_was_sent_ahead() {
    // Pauses at two items of a page: as long as a generation takes, and longer than every timeout.
    for pause in [3, 25, 65, 125, 400] {
        for ahead in [false, true] {
            let script = healthy();
            let mut items = testing::client(&script).prompts().list().prefetch(ahead).items();
            let mut count = 0;
            while let Some(item) = items.next().await {
                count += 1;
                assert_eq!(item.unwrap().id.get(), count, "pause {pause}, ahead: {ahead}");
                if matches!(count % 100, 30 | 60) {
                    sleep(Duration::from_secs(pause)).await;
                }
            }
            assert_eq!(count, 400);
            assert!(script.calls().len() <= 8, "{}", script.calls().len());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_lasts_comes_after_the_items_before_it() {
    let script = testing::Script::new();
    let first = json!({ "data": [prompt(1), prompt(2)], "error": null, "pagination": { "nextCursor": "b" } });
    let answers = script.get("/prompts");
    let answers = answers.answer(Answer::raw(200, "application/json", first.to_string()));
    answers.always(Answer::error(400, "no"));
    let mut items = testing::client(&script).prompts().list().prefetch(true).items();
    for id in [1, 2] {
        assert_eq!(items.next().await.unwrap().unwrap().id.get(), id);
        sleep(Duration::from_secs(1)).await;
    }
    assert!(items.next().await.unwrap().unwrap_err().is_invalid());
    assert_eq!(
        script.calls().len(),
        3,
        "the request ahead is repeated once and not with each item"
    );
}
