//! A list of 10,000 pages.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use super::query;
use crate::stub::{client, prompt};

const PAGES: usize = 10_000;

#[tokio::test]
async fn ten_thousand_pages_come_one_after_the_other() {
    let server = MockServer::builder().disable_request_recording().start().await;
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let answer = move |request: &Request| {
        counted.fetch_add(1, Ordering::Relaxed);
        let page: usize = query(request, "cursor").map_or(0, |cursor| cursor.parse().unwrap());
        let next = (page + 1 < PAGES).then(|| (page + 1).to_string());
        let data = [prompt(i64::try_from(page).unwrap())];
        let pagination = json!({ "nextCursor": next });
        let body = json!({ "data": data, "error": null, "pagination": pagination });
        ResponseTemplate::new(200).set_body_json(body)
    };
    Mock::given(any()).respond_with(answer).mount(&server).await;
    let mut prompts = client(server.uri()).prompts().list().page_size(1).items();
    let mut expected = 0;
    while let Some(prompt) = prompts.next().await {
        assert_eq!(prompt.unwrap().id.get(), expected);
        expected += 1;
    }
    assert_eq!((expected, asked.load(Ordering::Relaxed)), (10_000, PAGES));
}
