//! Pages with an item that cannot be decoded, and the way past them.

// Without `StreamExt`, whose `skip` takes the stream by value and comes first.
use promptarium::testing::{Answer, Script, client};
use promptarium::{Cursor, Prompt};
use serde_json::{Value, json};

use crate::stub::prompt;

/// A list of three pages: [1, 2, 3], [4, 5, 6] and [7]. The bad items have a number as title.
fn list(bad: &'static [i64]) -> (Script, promptarium::request::ListPrompts) {
    let script = Script::new();
    script.get("/prompts").always_with(move |request| {
        let (ids, next) = match request.query_value("cursor") {
            None => (1..=3, Some("b")),
            Some("b") => (4..=6, Some("c")),
            _ => (7..=7, None),
        };
        let items = ids.map(|id| {
            let mut item = prompt(id);
            if bad.contains(&id) {
                item["title"] = json!(7);
            }
            item
        });
        let page = json!({
            "data": items.collect::<Value>(), "error": null, "pagination": { "nextCursor": next },
        });
        Answer::raw(200, "application/json", page.to_string())
    });
    let list = client(&script).prompts().list();
    (script, list)
}

/// The ids of a list whose bad items are skipped, with `None` for each of them.
async fn read(mut items: promptarium::Items<Prompt>) -> Vec<Option<i64>> {
    let mut ids = Vec::new();
    while let Some(item) = items.next().await {
        ids.push(item.as_ref().ok().map(|prompt| prompt.id.get()));
        if let Err(error) = item {
            assert!(error.is_decode(), "{error}");
            assert!(!items.retry(), "the same request would return the same item");
            assert!(items.skip_failed() && !items.skip_failed());
        }
    }
    ids
}

#[tokio::test(start_paused = true)]
async fn the_items_after_one_that_cannot_be_decoded_can_be_read() {
    for ahead in [false, true] {
        let (script, list) = list(&[2, 6, 7]);
        let ids = read(list.prefetch(ahead).items()).await;
        assert_eq!(ids, [Some(1), None, Some(3), Some(4), Some(5), None, None]);
        assert_eq!(script.calls().len(), 3, "no page is requested twice");
    }
    let (_, list) = list(&[1, 2, 3, 4]);
    assert_eq!(read(list.max_items(5).items()).await, [None, None, None, None, Some(5)]);
}

#[tokio::test(start_paused = true)]
async fn the_error_of_an_item_says_where_it_is() {
    let (_, list) = list(&[2]);
    let mut items = list.items();
    items.next().await.unwrap().unwrap();
    let error = items.next().await.unwrap().unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("GET /prompts: cannot decode response at `data[1].title`:"), "{text}");
    // Without a skip it ends.
    assert!(items.next().await.is_none() && items.next().await.is_none());
    assert!(items.skip_failed());
    assert_eq!(items.next().await.unwrap().unwrap().id.get(), 3);
    assert!(!items.skip_failed(), "there is no error");
}

#[tokio::test(start_paused = true)]
async fn an_item_that_cannot_be_decoded_is_an_error_of_its_page() {
    let (script, list) = list(&[5]);
    let mut pages = list.clone().pages();
    assert_eq!(pages.next().await.unwrap().unwrap().items.len(), 3);
    let error = pages.next().await.unwrap().unwrap_err();
    assert!(error.to_string().contains("`data[1].title`"), "{error}");
    assert_eq!(pages.cursor(), Some(&Cursor::from("b")), "the page that failed");
    assert!(pages.next().await.is_none());
    assert!(pages.retry() && !pages.retry());
    assert!(pages.next().await.unwrap().unwrap_err().is_decode());
    assert_eq!(script.calls().len(), 3);
    assert!(list.cursor("b").page().await.unwrap_err().is_decode());
}

#[tokio::test(start_paused = true)]
async fn a_request_that_failed_is_not_skipped() {
    let script = Script::new();
    let page = json!({ "data": [], "error": null, "pagination": { "nextCursor": "b" } });
    let answers = script.get("/prompts");
    let answers = answers.answer(Answer::raw(200, "application/json", page.to_string()));
    answers.always(Answer::error(400, "no"));
    let mut items = client(&script).prompts().list().items();
    assert!(items.next().await.unwrap().unwrap_err().is_invalid());
    assert!(!items.skip_failed() && items.next().await.is_none());
    assert!(items.retry());
    let mut pages = client(&script).prompts().list().pages();
    assert!(pages.next().await.unwrap().unwrap_err().is_invalid());
    assert!(pages.retry());
}

#[tokio::test(start_paused = true)]
async fn half_of_an_emoji_at_the_end_of_one_title_does_not_hide_the_list() {
    let mut items: Vec<_> = (1..=4).map(prompt).collect();
    items[1]["title"] = json!("REPLACE");
    let body = json!({ "data": items, "error": null, "pagination": { "nextCursor": null } });
    for (escaped, shown) in [
        ("cut \\ud83d", "cut \u{fffd}"),
        ("\\ude00 tail", "\u{fffd} tail"),
        ("\\ud83d\\ude00", "\u{1f600}"),
    ] {
        let script = Script::new();
        let body = body.to_string().replace("REPLACE", escaped);
        script.get("/prompts").always(Answer::raw(200, "application/json", body));
        let listed = client(&script).prompts().list().collect().await.unwrap();
        let titles: Vec<_> = listed.into_iter().map(|prompt| prompt.title).collect();
        assert_eq!(titles, ["Prompt 1", shown, "Prompt 3", "Prompt 4"]);
    }
}
