//! Lists over several pages: streams of pages, streams of items, cursors.

mod long;
mod max_items;
mod prefetch;
mod resume;
mod skip;

use std::sync::Mutex;

use futures::{StreamExt, TryStreamExt};
use promptarium::request::ListPrompts;
use promptarium::testing::{self, Answer};
use promptarium::{Cursor, Items, Page, Pages, Prompt, PromptType};
use serde_json::json;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::stub::{client, prompt};

/// The pages of a list: cursor (`""` for the first), ids of the items, next cursor.
pub(crate) type Script = &'static [(&'static str, &'static [i64], Option<&'static str>)];

pub(crate) const THREE: Script =
    &[("", &[1, 2], Some("b")), ("b", &[3], Some("c")), ("c", &[4, 5], None)];

/// Serves these pages; an unknown cursor is answered with 400.
pub(crate) async fn list(script: Script) -> MockServer {
    let server = MockServer::start().await;
    let answer = move |request: &Request| {
        let wanted = query(request, "cursor").unwrap_or_default();
        let page = script.iter().find(|(cursor, ..)| *cursor == wanted);
        page.map_or(ResponseTemplate::new(400), |(_, ids, next)| {
            let data: Vec<_> = ids.iter().map(|id| prompt(*id)).collect();
            ResponseTemplate::new(200).set_body_json(json!({
                "data": data, "error": null, "pagination": { "nextCursor": next },
            }))
        })
    };
    Mock::given(any()).respond_with(answer).mount(&server).await;
    server
}

/// [`THREE`] on a scripted transport, and a list of them. Each of these pages fails once.
fn scripted(fails: &[&'static str]) -> (testing::Script, ListPrompts) {
    let (script, fails) = (testing::Script::new(), Mutex::new(fails.to_vec()));
    script.get("/prompts").always_with(move |request| {
        let wanted = request.query_value("cursor").unwrap_or_default();
        let mut fails = fails.lock().unwrap();
        if let Some(index) = fails.iter().position(|cursor| *cursor == wanted) {
            fails.remove(index);
            return Answer::error(400, "no");
        }
        let (_, ids, next) = THREE.iter().find(|(cursor, ..)| *cursor == wanted).unwrap();
        let data = ids.iter().map(|id| prompt(*id)).collect();
        Answer::page(&Page::new(data, next.map(Cursor::from)))
    });
    let list = testing::client(&script).prompts().list();
    (script, list)
}

fn query(request: &Request, name: &str) -> Option<String> {
    let mut pairs = request.url.query_pairs();
    pairs.find_map(|(found, value)| (found == name).then(|| value.into_owned()))
}

fn pages(server: &MockServer) -> Pages<Prompt> {
    client(server.uri()).prompts().list().pages()
}

fn items(server: &MockServer) -> Items<Prompt> {
    client(server.uri()).prompts().list().items()
}

async fn cursors(server: &MockServer) -> Vec<String> {
    let requests = server.received_requests().await.unwrap();
    requests.iter().map(|request| query(request, "cursor").unwrap_or_default()).collect()
}

pub(crate) fn ids(prompts: &[Prompt]) -> Vec<i64> {
    prompts.iter().map(|prompt| prompt.id.get()).collect()
}

#[tokio::test]
async fn one_page_comes_with_the_cursor_of_the_next() {
    let server = list(THREE).await;
    let client = client(server.uri());
    let first = client.prompts().list().page().await.unwrap();
    assert_eq!((ids(&first.items), first.next_cursor.clone()), (vec![1, 2], Some("b".into())));
    let cursor = first.next_cursor.unwrap();
    let second = client.prompts().list().cursor(cursor).await.unwrap();
    assert_eq!((ids(&second.items), second.next_cursor), (vec![3], Some("c".into())));
    assert_eq!(server.received_requests().await.unwrap().len(), 2);
}

#[tokio::test]
async fn items_of_all_pages_are_streamed_in_order() {
    let server = list(THREE).await;
    let all: Vec<_> = items(&server).try_collect().await.unwrap();
    assert_eq!(ids(&all), [1, 2, 3, 4, 5]);
    assert_eq!(server.received_requests().await.unwrap().len(), 3);
}

#[tokio::test]
async fn pages_are_streamed_in_order() {
    let server = list(THREE).await;
    let all: Vec<Page<_>> = pages(&server).try_collect().await.unwrap();
    let shape: Vec<_> = all.iter().map(|page| ids(&page.items)).collect();
    assert_eq!(shape, [vec![1, 2], vec![3], vec![4, 5]]);
}

#[tokio::test]
async fn filters_and_page_size_go_with_every_page() {
    let server = list(THREE).await;
    let list = client(server.uri()).prompts().list().page_size(2).prompt_type(PromptType::Image);
    let _: Vec<_> = list.items().try_collect().await.unwrap();
    for request in server.received_requests().await.unwrap() {
        assert_eq!(query(&request, "limit").as_deref(), Some("2"));
        assert_eq!(query(&request, "type").as_deref(), Some("image"));
    }
}

#[tokio::test]
async fn a_page_is_requested_only_when_it_is_needed() {
    let server = list(THREE).await;
    let first: Vec<_> = items(&server).take(2).try_collect().await.unwrap();
    assert_eq!(ids(&first), [1, 2]);
    assert_eq!(server.received_requests().await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_empty_page_with_a_cursor_does_not_end_the_list() {
    let server = list(&[("", &[], Some("b")), ("b", &[], Some("c")), ("c", &[1], None)]).await;
    let all: Vec<_> = items(&server).try_collect().await.unwrap();
    assert_eq!(ids(&all), [1]);
}

#[tokio::test]
async fn an_empty_list_is_one_request_and_no_item() {
    let server = list(&[("", &[], None)]).await;
    assert!(items(&server).next().await.is_none());
    assert_eq!(server.received_requests().await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_empty_cursor_and_an_absent_pagination_end_the_list() {
    let server = list(&[("", &[1], Some(""))]).await;
    let page = client(server.uri()).prompts().list().page().await.unwrap();
    assert_eq!(page.next_cursor, None);

    let bare = ResponseTemplate::new(200).set_body_json(json!({ "data": [], "error": null }));
    let server = crate::stub::answering(bare).await;
    assert!(items(&server).next().await.is_none());
}

#[tokio::test]
async fn a_repeated_cursor_is_an_error() {
    const JUST_USED: Script = &[("", &[1], Some("b")), ("b", &[2], Some("b"))];
    const USED_BEFORE: Script =
        &[("", &[1], Some("b")), ("b", &[2], Some("c")), ("c", &[3], Some("b"))];
    for (script, requests) in [(JUST_USED, 2), (USED_BEFORE, 3)] {
        let server = list(script).await;
        let mut stream = items(&server);
        for id in 1..=requests {
            assert_eq!(stream.next().await.unwrap().unwrap().id.get(), id);
        }
        let error = stream.next().await.unwrap().unwrap_err();
        assert!(error.is_pagination_loop() && !error.is_retryable());
        assert_eq!(error.to_string(), "pagination loop: the server returned cursor \"b\" twice");
        assert!(stream.next().await.is_none());
        assert_eq!(server.received_requests().await.unwrap().len() as i64, requests);
    }
}

#[tokio::test]
async fn a_cursor_of_its_own_page_is_a_loop_after_a_resume_too() {
    let server = list(&[("b", &[2], Some("b"))]).await;
    let mut pages = client(server.uri()).prompts().list().cursor("b").pages();
    assert!(pages.next().await.unwrap().is_ok());
    assert!(pages.next().await.unwrap().unwrap_err().is_pagination_loop());
}

#[tokio::test]
async fn an_error_ends_the_stream_at_the_cursor_of_the_failed_page() {
    const BROKEN: Script = &[("", &[1, 2], Some("b"))];
    let server = list(BROKEN).await;
    let mut pages = pages(&server);
    assert!(pages.next().await.unwrap().is_ok());
    assert_eq!(pages.next().await.unwrap().unwrap_err().status().unwrap(), 400);
    assert!(pages.next().await.is_none());
    assert_eq!(pages.cursor(), Some(&Cursor::from("b")));
    assert_eq!(server.received_requests().await.unwrap().len(), 2);

    let mut items = items(&server);
    let outcomes: Vec<_> = items.by_ref().map(|item| item.is_ok()).collect().await;
    assert_eq!(outcomes, [true, true, false]);
    assert_eq!(items.cursor(), Some(&Cursor::from("b")));

    let whole = list(THREE).await;
    let rest = client(whole.uri()).prompts().list().cursor(items.cursor().unwrap().clone());
    let rest: Vec<_> = rest.items().try_collect().await.unwrap();
    assert_eq!(ids(&rest), [3, 4, 5]);
}

#[tokio::test]
async fn a_cursor_within_a_page_is_that_of_the_page() {
    for ahead in [false, true] {
        let server = list(THREE).await;
        let mut items = client(server.uri()).prompts().list().prefetch(ahead).items();
        let mut found = vec![items.cursor().cloned()];
        while let Some(item) = items.next().await {
            item.unwrap();
            found.push(items.cursor().cloned());
        }
        let at = |text: &str| Some(Cursor::from(text));
        assert_eq!(found, [None, None, at("b"), at("c"), at("c"), None], "ahead: {ahead}");
    }
}

const fn movable<T: Send + Unpin + 'static>() {}
const _: () = {
    movable::<Pages<Prompt>>();
    movable::<Items<Prompt>>();
    movable::<Cursor>();
};

#[tokio::test]
async fn streams_own_their_client_and_can_be_sent_to_a_task() {
    let server = list(THREE).await;
    let (pages, items) = (pages(&server), items(&server));
    let counted = tokio::spawn(async move { (pages.count().await, items.count().await) });
    assert_eq!(counted.await.unwrap(), (3, 5));
}

#[tokio::test]
async fn dropping_a_stream_stops_its_traffic() {
    let server = list(THREE).await;
    let mut items = items(&server);
    items.next().await.unwrap().unwrap();
    drop(items);
    tokio::task::yield_now().await;
    assert_eq!(server.received_requests().await.unwrap().len(), 1);
}
