//! Resuming a list from a stored cursor, and after an error.

use std::collections::BTreeSet;

use futures::TryStreamExt;
use promptarium::testing::{Answer, Script, client as scripted_client};
use promptarium::{Cursor, Page, Prompt};
use wiremock::matchers::{any, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{THREE, cursors, ids, list, scripted};
use crate::stub::client;

/// The cursor as text, as another process gets it.
fn stored(cursor: Option<&Cursor>) -> String {
    serde_json::to_string(&cursor).unwrap()
}

#[tokio::test]
async fn another_process_resumes_a_list_from_its_cursor() {
    // The ids after a resume, by the number of items taken: a page that was begun comes again.
    const REST: [&[i64]; 5] = [&[1, 2, 3, 4, 5], &[1, 2, 3, 4, 5], &[3, 4, 5], &[4, 5], &[4, 5]];
    for ahead in [false, true] {
        for (taken, expected) in REST.iter().enumerate() {
            let server = list(THREE).await;
            let mut items = client(server.uri()).prompts().list().prefetch(ahead).items();
            let mut seen = Vec::new();
            for _ in 0..taken {
                seen.push(items.next().await.unwrap().unwrap());
            }
            let stored = stored(items.cursor());
            drop(items);

            let mut again = client(server.uri()).prompts().list().prefetch(ahead);
            if let Some(cursor) = serde_json::from_str::<Option<Cursor>>(&stored).unwrap() {
                again = again.cursor(cursor);
            }
            let rest: Vec<_> = again.items().try_collect().await.unwrap();
            assert_eq!(ids(&rest), **expected, "after {taken}, ahead: {ahead}");
            let all: BTreeSet<_> = ids(&seen).into_iter().chain(ids(&rest)).collect();
            assert_eq!(all, (1..=5).collect());
        }
    }
}

#[tokio::test]
async fn a_list_read_by_pages_resumes_without_duplicates() {
    for ahead in [false, true] {
        for taken in 1..=2 {
            let server = list(THREE).await;
            let mut pages = client(server.uri()).prompts().list().prefetch(ahead).pages();
            let mut seen = Vec::new();
            for _ in 0..taken {
                seen.extend(ids(&pages.next().await.unwrap().unwrap().items));
            }
            let stored = stored(pages.cursor());
            drop(pages);

            let cursor: Cursor = serde_json::from_str(&stored).unwrap();
            let again = client(server.uri()).prompts().list().cursor(cursor);
            let rest: Vec<_> = again.items().try_collect().await.unwrap();
            seen.extend(ids(&rest));
            assert_eq!(seen, [1, 2, 3, 4, 5]);
        }
    }
}

/// Answers the page `"b"` with 400 this many times.
async fn failing(times: u64) -> MockServer {
    let server = list(THREE).await;
    let failure = Mock::given(any()).and(query_param("cursor", "b"));
    let failure = failure.respond_with(ResponseTemplate::new(400)).up_to_n_times(times);
    failure.with_priority(1).mount(&server).await;
    server
}

#[tokio::test]
async fn after_an_error_the_same_stream_can_retry_the_page() {
    for ahead in [false, true] {
        let server = failing(2).await;
        let mut items = client(server.uri()).prompts().list().prefetch(ahead).items();
        let (mut seen, mut errors) = (Vec::new(), 0);
        loop {
            match items.next().await {
                Some(Ok(prompt)) => seen.push(prompt.id.get()),
                Some(Err(error)) => {
                    assert_eq!(error.status().unwrap(), 400);
                    assert_eq!(items.cursor().unwrap().as_str(), "b");
                    assert!(items.next().await.is_none());
                    assert!(items.retry());
                    errors += 1;
                }
                None => break,
            }
        }
        // The error of a request that was sent ahead is not shown: the page is requested again.
        assert_eq!((seen, errors), (vec![1, 2, 3, 4, 5], if ahead { 1 } else { 2 }));
        assert_eq!(cursors(&server).await, ["", "b", "b", "b", "c"]);
        assert!(!items.retry());
    }
}

#[tokio::test]
async fn an_error_comes_once_unless_it_is_retried() {
    let server = failing(1).await;
    let mut pages = client(server.uri()).prompts().list().pages();
    assert!(pages.next().await.unwrap().is_ok());
    assert!(pages.next().await.unwrap().is_err());
    for _ in 0..3 {
        assert!(pages.next().await.is_none());
    }
    assert_eq!(cursors(&server).await, ["", "b"]);
}

#[tokio::test(start_paused = true)]
async fn every_page_can_be_retried_and_nothing_is_left_out() {
    for (ahead, limit) in [(false, 9), (true, 9), (false, 5), (true, 5)] {
        let (script, list) = scripted(&["", "b", "c"]);
        let mut items = list.prefetch(ahead).max_items(limit).items();
        let (mut seen, mut failed) = (Vec::new(), Vec::new());
        loop {
            match items.next().await {
                Some(Ok(prompt)) => seen.push(prompt.id.get()),
                Some(Err(_)) => failed.push(items.cursor().map(Cursor::to_string)),
                None if items.retry() => {}
                None => break,
            }
        }
        assert_eq!(seen, [1, 2, 3, 4, 5]);
        // The pages that were requested ahead are requested again by themselves.
        let shown = if ahead { 1 } else { 3 };
        assert_eq!(failed, [None, Some("b".to_owned()), Some("c".to_owned())][..shown]);
        let requests = script.requests();
        let cursors = requests.iter().map(|request| request.query_value("cursor").unwrap_or(""));
        assert_eq!(cursors.collect::<Vec<_>>(), ["", "", "b", "b", "c", "c"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_needs_no_end_of_the_stream_and_sends_nothing_itself() {
    let (script, list) = scripted(&[""]);
    let mut pages = list.pages();
    assert!(!pages.retry(), "there is no error yet");
    assert!(pages.next().await.unwrap().is_err());
    assert!(pages.retry());
    assert_eq!(script.calls().len(), 1);
    for _ in 0..3 {
        assert!(pages.next().await.unwrap().is_ok());
        assert!(!pages.retry());
    }
    assert!(pages.next().await.is_none() && !pages.retry());
    assert_eq!(script.calls().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_loop_is_not_mended_by_a_retry() {
    for ahead in [false, true] {
        let script = Script::new();
        script.get("/prompts").always(Answer::page(&Page::<Prompt>::new(vec![], Some("b".into()))));
        let mut pages = scripted_client(&script).prompts().list().prefetch(ahead).pages();
        assert!(pages.next().await.unwrap().is_ok() && pages.next().await.unwrap().is_ok());
        assert!(pages.next().await.unwrap().unwrap_err().is_pagination_loop());
        assert!(!pages.retry() && pages.next().await.is_none());
        assert_eq!(script.calls(), ["GET /prompts?limit=100", "GET /prompts?limit=100&cursor=b"]);
    }
}
