//! Scripts: answers, recorded requests, and mistakes.

use insta::assert_snapshot;
use promptarium::path;
use promptarium::testing::{API_KEY, Answer, Script, builder, client, fixture};
use promptarium::transport::{Body, Transport as _};
use promptarium::{Client, Error, PromptId, RetryPolicy};
use serde_json::json;

/// The error of a call that gets this answer.
async fn error_of(answer: Answer) -> Error {
    let script = Script::new();
    script.get(path::PROMPT).always(answer);
    let client = builder(&script).retry(RetryPolicy::never()).build().unwrap();
    client.prompts().get(PromptId::new(7)).await.unwrap_err()
}

fn get(client: &Client) -> impl Future<Output = Result<promptarium::Prompt, Error>> {
    client.prompts().get(PromptId::new(7)).into_future()
}

#[tokio::test]
async fn answers_of_a_path_are_used_in_order() {
    let script = Script::new();
    let mut second = fixture::prompt();
    second.title = "Second".to_owned();
    script.get(path::PROMPT).answer(Answer::data(&fixture::prompt())).answer(Answer::data(&second));
    script.get(path::VAULTS).always(Answer::data(&[fixture::vault()]));
    let client = client(&script);
    assert_eq!(client.vaults().list().await.unwrap().len(), 1);
    assert_eq!(get(&client).await.unwrap().title, "Harbour");
    assert_eq!(client.vaults().list().await.unwrap().len(), 1);
    assert_eq!(get(&client).await.unwrap().title, "Second");
    script.verify().unwrap();
}

#[tokio::test]
async fn without_a_path_any_request_gets_the_next_answer() {
    let script = Script::new();
    let answers = script.any().answer(Answer::data(&fixture::vault()));
    answers
        .answer(Answer::data(&fixture::prompt()))
        .answer(Answer::data(&fixture::added_prompts()));
    let client = client(&script);
    let vault = client.vaults().create("Landscapes").await.unwrap();
    let prompt = client.prompts().create("Harbour", "A harbour").await.unwrap();
    client.vault(vault.id).add([prompt.id]).await.unwrap();
    assert_eq!(script.calls(), ["POST /vaults", "POST /prompts", "POST /vaults/3/prompts"]);
}

#[tokio::test]
async fn requests_are_recorded_without_the_key() {
    let script = Script::new();
    script.post(path::PROMPTS).answer(Answer::data(&fixture::prompt()));
    script.get(path::PROMPTS).answer(Answer::page(&fixture::page(vec![fixture::prompt()])));
    let client = client(&script);
    client.prompts().create("Dusk & dawn", "A harbour").header("x-trace", "t-1").await.unwrap();
    client.prompts().list().page_size(2).cursor("a b&c").page().await.unwrap();
    let [created, listed] = &script.requests()[..] else { panic!("{script:?}") };
    assert_eq!(created.json(), json!({ "title": "Dusk & dawn", "prompt": "A harbour" }));
    assert_eq!(created.header("x-trace"), Some("t-1"));
    assert!(created.authorized && created.header("authorization").is_none());
    assert_eq!(listed.to_string(), "GET /prompts?limit=2&cursor=a b&c");
    assert!(listed.body.is_empty() && listed.json().is_null());
    assert!(!format!("{:?} {script:?}", script.requests()).contains(API_KEY));
}

#[tokio::test]
async fn an_unexpected_request_is_an_error_of_the_call_and_of_verify() {
    let script = Script::new();
    script.get(path::PROMPT).answer(Answer::data(&fixture::prompt()));
    script.post(path::VAULTS).always(Answer::data(&fixture::vault()));
    let error = client(&script).prompts().delete(PromptId::new(8)).await.unwrap_err();
    assert_eq!(error.status().unwrap(), 501);
    assert_eq!(error.attempts(), 1);
    assert_snapshot!(error.message().unwrap(), @"unexpected request DELETE /prompts/8; expected: GET /prompts/{promptId}, POST /vaults");
    assert_snapshot!(script.verify().unwrap_err(), @r#"
    GET /prompts/{promptId}: 1 of 1 answers were not used
    unexpected request DELETE /prompts/8; expected: GET /prompts/{promptId}, POST /vaults
    "#);
    assert_eq!(
        format!("{:?}", script.verify().unwrap_err()),
        script.verify().unwrap_err().to_string()
    );
}

#[tokio::test]
async fn a_request_after_the_last_answer_is_unexpected() {
    let script = Script::new();
    script.get("/prompts/7").answer(Answer::data(&fixture::prompt()));
    let client = client(&script);
    get(&client).await.unwrap();
    script.verify().unwrap();
    assert_snapshot!(get(&client).await.unwrap_err(), @"GET /prompts/{promptId}: 501 Not Implemented: unexpected request GET /prompts/7; none was expected");
    script.verify().unwrap_err();
}

#[tokio::test]
async fn the_first_expectation_with_an_answer_left_is_used() {
    let script = Script::new();
    script.get(path::PROMPT).answer(Answer::error(404, "not yet"));
    script.get(path::PROMPT).always(Answer::data(&fixture::prompt()));
    let client = client(&script);
    assert!(get(&client).await.unwrap_err().is_not_found());
    assert!(get(&client).await.is_ok() && get(&client).await.is_ok());
    // Expectations may be added later.
    script.get(path::VAULT).answer(Answer::data(&fixture::vault()));
    client.vaults().get(3.into()).await.unwrap();
}

#[tokio::test]
async fn an_error_is_in_the_envelope_of_the_api() {
    let answer = Answer::error(400, "it cannot be stored").request_id("r-9");
    let answer = answer.field("title", "is empty").field("prompt", "is long").header("x-a", "b");
    let error = error_of(answer).await;
    assert_snapshot!(error, @"GET /prompts/{promptId}: 400 Bad Request: it cannot be stored [prompt: is long; title: is empty] (request id r-9)");
    assert_eq!(error.field_errors().count(), 2);
    assert_snapshot!(String::from_utf8_lossy(error.body().unwrap()), @r#"{"data":null,"details":{"prompt":"is long","title":"is empty"},"error":"it cannot be stored"}"#);
}

#[tokio::test(start_paused = true)]
async fn answers_can_be_proxy_pages_cut_bodies_and_failed_connections() {
    let whole = Answer::data(&fixture::prompt());
    let mut errors = Vec::new();
    for answer in [
        Answer::raw(502, "text/html", "<h1>Bad Gateway</h1>"),
        Answer::raw(200, "application/json", r#"{"data":{"id":7"#),
        whole.clone().cut_at(20),
        whole.clone().stall_at(20),
        Answer::error(500, "oh").cut_at(3),
        Answer::no_connection(),
        Answer::disconnect(),
        Answer::never(),
    ] {
        errors.push(error_of(answer).await.to_string());
    }
    assert_snapshot!(errors.join("\n"), @r#"
    GET /prompts/{promptId}: 502 Bad Gateway, with a body that is not the API's: <h1>Bad Gateway</h1>
    GET /prompts/{promptId}: cannot decode response at `data.?`: EOF while parsing an object (200 OK), near {"data":{"id":7
    GET /prompts/{promptId}: connection closed before the whole response was received (200 OK)
    GET /prompts/{promptId}: no data for 20s (idle_timeout) before the whole response was received (200 OK)
    GET /prompts/{promptId}: 500 Internal Server Error, with an incomplete body: {"d
    GET /prompts/{promptId}: cannot connect to https://prompts.example: scripted by a test
    GET /prompts/{promptId}: connection to https://prompts.example closed before a response was received
    GET /prompts/{promptId}: no data for 20s (idle_timeout) while waiting for https://prompts.example
    "#);
}

#[test]
fn an_invalid_answer_panics() {
    let mistakes: [fn() -> Answer; 8] = [
        || Answer::data("").header("x y", "z"),
        || Answer::data("").header("x", "\n"),
        || Answer::data("").field("title", "is empty"),
        || Answer::raw(400, "text/plain", "no").field("title", "is empty"),
        || Answer::never().status(200),
        || Answer::disconnect().cut_at(3),
        || Answer::error(99, "no"),
        || Answer::data(&std::collections::BTreeMap::from([((1, 2), 3)])),
    ];
    let texts = mistakes.map(|make| {
        let payload = std::panic::catch_unwind(|| drop(make())).unwrap_err();
        *payload.downcast::<String>().unwrap()
    });
    assert_snapshot!(texts.join("\n"), @r#"
    a valid header name: InvalidHeaderName
    a valid header value: InvalidHeaderValue
    only an error has fields
    only an error has fields
    without a response there is no status
    without a response there is no body
    a valid status: InvalidStatusCode
    data that is valid as JSON: Error("key must be a string", line: 0, column: 0)
    "#);
}

#[tokio::test]
async fn a_field_may_have_several_messages() {
    let error = error_of(Answer::error(400, "no").field("a", "1").field("b", "2").field("a", "3"));
    assert_snapshot!(error.await, @"GET /prompts/{promptId}: 400 Bad Request: no [a: 1; a: 3; b: 2]");
}

#[tokio::test]
async fn a_segment_in_braces_matches_any_one_segment() {
    let script = Script::new();
    script.get("/vaults/{vaultId}/prompts").always(Answer::data(""));
    script.get("https://a.example/{name}").always(Answer::data(""));
    let paths = [
        ("https://h/api/v1/vaults/3/prompts", true),
        ("https://h/api/v1/vaults/x%2Fy/prompts", true),
        ("https://a.example/b.png", true),
        ("https://h/api/v1/vaults/3", false),
        ("https://h/api/v1/vaults//prompts", false),
        ("https://h/api/v1/vaults/3/prompts/7", false),
        ("https://h/api/v1/vaults/3/pins", false),
        ("https://h/api/v1/", false),
        ("https://b.example/b.png", false),
    ];
    for (url, matches) in paths {
        let request = http::Request::get(url).body(Body::default()).unwrap();
        let status = script.send(request).await.unwrap().status();
        assert_eq!(status == 200, matches, "{url}");
    }
}

#[tokio::test]
async fn a_list_has_pages() {
    let script = Script::new();
    let prompts = (1..=5).map(|id| {
        let mut prompt = fixture::prompt();
        prompt.id = id.into();
        prompt
    });
    script.get(path::PROMPTS).list(prompts.collect(), 2);
    let client = client(&script);
    let listed = client.prompts().list().collect().await.unwrap();
    let ids: Vec<_> = listed.iter().map(|prompt| prompt.id.get()).collect();
    assert_eq!(ids, [1, 2, 3, 4, 5]);
    assert_eq!(
        script.calls(),
        [
            "GET /prompts?limit=100",
            "GET /prompts?limit=100&cursor=from-2",
            "GET /prompts?limit=100&cursor=from-4",
        ]
    );
    let page = client.prompts().list().cursor("from-4").page().await.unwrap();
    assert_eq!((page.items.len(), page.next_cursor), (1, None));
    let error = client.prompts().list().cursor("unknown").page().await.unwrap_err();
    assert!(error.is_invalid() && error.field_error("cursor").is_some());
}

#[tokio::test]
async fn a_refused_connection_is_retried_and_a_lost_one_is_not() {
    let script = Script::new();
    let post = script.post(path::PROMPTS).answer(Answer::no_connection());
    post.answer(Answer::data(&fixture::prompt())).answer(Answer::disconnect());
    let client = client(&script);
    let create = || client.prompts().create("Harbour", "A harbour");
    assert_eq!(create().send_with_meta().await.unwrap().meta.attempts(), 2);
    // The request may have been processed.
    assert_eq!(create().await.unwrap_err().attempts(), 1);
}

#[tokio::test]
async fn the_settings_of_the_client_can_be_changed() {
    let script = Script::new();
    script.any().always(Answer::error(503, "busy"));
    let client = builder(&script).retry(RetryPolicy::never()).user_agent("mine/1").build().unwrap();
    assert_eq!(get(&client).await.unwrap_err().attempts(), 1);
    assert!(script.requests()[0].header("user-agent").unwrap().ends_with(" mine/1"));
}
