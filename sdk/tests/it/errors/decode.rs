//! Successes that cannot be decoded.

use std::error::Error as _;

use insta::assert_snapshot;
use serde_json::json;
use wiremock::ResponseTemplate;

use super::kinds;
use crate::stub::{envelope, failure, get, outcome, prompt};

#[tokio::test]
async fn a_decode_error_names_the_position_and_the_reason() {
    let mut wrong = prompt(7);
    wrong["images"][0]["url"] = json!(3);
    let body = envelope(&wrong);
    let answer = ResponseTemplate::new(200).insert_header("x-request-id", "r-1");
    let error = failure(answer.set_body_json(&body)).await;
    assert_snapshot!(error, @r#"GET /prompts/{promptId}: cannot decode response at `data.images[0].url`: invalid type: integer `3`, expected a string (200 OK), near {"data":{"createdAt":"2026-03-01T11:00:00.000000Z","id":7,"images":[{"createdAt":"2026-03-01T12:00:00.000000Z","height":576,"url":3,"width":1024}],"platform":null,"prompt":"A harbour at dusk","promptT… (request id r-1)"#);
    assert_eq!(kinds(&error), "decode");
    assert_snapshot!(error.source().unwrap(), @"invalid type: integer `3`, expected a string at line 1 column 131");

    let mut lacking = prompt(7);
    lacking.as_object_mut().unwrap().remove("createdAt");
    let error = failure(ResponseTemplate::new(200).set_body_json(envelope(&lacking))).await;
    let text = error.to_string();
    let start = "GET /prompts/{promptId}: cannot decode response at `data`: missing field `createdAt` (200 OK), near ";
    assert!(text.starts_with(start), "{text}");

    let mut member = prompt(7);
    member["vaultPromptId"] = json!(true);
    let answer = ResponseTemplate::new(200).set_body_json(envelope(&json!([member])));
    let error = outcome(answer, |client| client.vault(3.into()).list());
    let error = error.await.unwrap_err();
    assert!(error.to_string().contains("at `data[0].vaultPromptId`"), "{error}");
}

#[tokio::test]
async fn successes_without_a_readable_body_are_decode_errors() {
    let text = async |answer: ResponseTemplate| {
        let error = failure(answer).await;
        assert_eq!(kinds(&error), "decode");
        error.to_string()
    };
    assert_snapshot!(text(ResponseTemplate::new(204)).await, @"GET /prompts/{promptId}: cannot decode response: the body is empty (204 No Content)");
    let html = ResponseTemplate::new(200).set_body_string("<html>Sign in</html>");
    assert_snapshot!(text(html).await, @"GET /prompts/{promptId}: cannot decode response: expected value (200 OK), near <html>Sign in</html>");
    let null = ResponseTemplate::new(200).set_body_string(r#"{"data":null,"error":null}"#);
    assert_snapshot!(text(null).await, @r#"GET /prompts/{promptId}: cannot decode response at `data`: invalid type: null, expected struct Prompt (200 OK), near {"data":null,"error":null}"#);
    let trailing =
        ResponseTemplate::new(200).set_body_string(format!("{} x", envelope(&prompt(7))));
    assert!(text(trailing).await.ends_with(" x"));
}

#[tokio::test]
async fn the_position_is_found_in_a_long_response_of_many_lines() {
    let mut prompts: Vec<_> = (1..=60).map(prompt).collect();
    for prompt in &mut prompts {
        (prompt["vaultPromptId"], prompt["isPinned"]) = (json!(21), json!(false));
    }
    prompts[40]["title"] = json!("☾".repeat(300));
    prompts[41]["createdAt"] = json!("gestern");
    let body = serde_json::to_string_pretty(&envelope(&json!(prompts))).unwrap();
    let answer = || ResponseTemplate::new(200).set_body_string(body.clone());
    // The items of a page are decoded one by one.
    let error = outcome(answer(), |client| client.prompts().list()).await.unwrap_err();
    assert_snapshot!(error, @r#"GET /prompts: cannot decode response at `data[41].createdAt`: not an ISO 8601 timestamp: failed to parse four digit integer as year: invalid digit, expected 0-9 but got g (200 OK), near { "createdAt": "gestern", "id": 42, "images": [ { "createdAt": "2026-03-01T12:00:00.000000Z", "height": 576, "url": "https://cdn.example/a.png",…"#);
    let error = outcome(answer(), |client| client.vault(3.into()).list()).await.unwrap_err();
    let text = error.to_string();
    // Serde reads a prompt in a vault after the fields around it, so the place is the whole of it.
    assert!(text.contains("at `data[41]`: not an ISO 8601 timestamp"), "{text}");
    assert!(text.contains(r#""title": "Prompt 42""#), "{text}");
}

/// With a byte order mark.
fn marked(status: u16, body: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_bytes(format!("\u{feff}{body}"))
}

#[tokio::test]
async fn a_byte_order_mark_is_ignored() {
    let whole = marked(200, &envelope(&prompt(7)).to_string());
    assert_eq!(outcome(whole, get).await.unwrap().title, "Prompt 7");
    let page = json!({ "data": [prompt(7)], "error": null }).to_string();
    let listed = outcome(marked(200, &page), |client| client.prompts().list()).await.unwrap();
    assert_eq!(listed.items.len(), 1);

    let problem = r#"{"data":null,"error":"title","details":{"title":"longer than 120"}}"#;
    let error = failure(marked(400, problem)).await;
    assert_snapshot!(error, @"GET /prompts/{promptId}: 400 Bad Request: title [title: longer than 120]");
    assert_eq!(error.field_error("title").as_deref(), Some("longer than 120"));
    assert!(failure(marked(404, problem)).await.is_not_found());
}

#[tokio::test]
async fn invalid_utf_8_and_half_a_surrogate_pair_become_replacement_characters() {
    let body = envelope(&prompt(7)).to_string();
    let mut latin = body.replace("Prompt 7", "Prompt é").into_bytes();
    let at = latin.iter().position(|byte| *byte == 0xc3).unwrap();
    latin.splice(at..at + 2, [0xe9]);
    let answer = ResponseTemplate::new(200).set_body_bytes(latin);
    assert_eq!(outcome(answer, get).await.unwrap().title, "Prompt \u{fffd}");

    let cut = ResponseTemplate::new(200).set_body_string(body.replace("Prompt 7", r"x\ud83d"));
    assert_eq!(outcome(cut, get).await.unwrap().title, "x\u{fffd}");
    let problem = r#"{"data":null,"error":"\ud83d","details":{"title":"\udc00 x"}}"#;
    let error = failure(ResponseTemplate::new(400).set_body_string(problem)).await;
    assert_eq!(error.field_error("title").as_deref(), Some("\u{fffd} x"));
}

#[tokio::test]
async fn text_that_is_unicode_remains_and_the_rest_is_replaced() {
    for (body, expected) in [
        (r#""a \ud83d""#, "a \u{fffd}"),
        (r#""\uDE00 b""#, "\u{fffd} b"),
        (r#""\uD83Dx\uDe00""#, "\u{fffd}x\u{fffd}"),
        (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
        (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
        (r#""\ud83d\n\\\ud83d""#, "\u{fffd}\n\\\u{fffd}"),
        (r#""\ud83d\ude00 \uD83D\uDE00 \ud83d""#, "\u{1f600} \u{1f600} \u{fffd}"),
        (r#""\\ud83d \ud83d""#, "\\ud83d \u{fffd}"),
        (r#""\\\\ud83d \" \u00e9 \ud83d""#, "\\\\ud83d \" é \u{fffd}"),
        (r#""ud83d \ud83d""#, "ud83d \u{fffd}"),
    ] {
        let answer = ResponseTemplate::new(200).set_body_string(body);
        let response = outcome(answer, |client| client.get("/text")).await.unwrap();
        assert_eq!(response.json::<String>().unwrap(), expected, "{body}");
    }
    for body in [r#""\ud8"#, r#""\ud83x""#, r"\", "{}\u{feff}", "\"\\ud83d"] {
        let answer = ResponseTemplate::new(200).set_body_string(body);
        let response = outcome(answer, |client| client.get("/text")).await.unwrap();
        assert!(response.json::<serde_json::Value>().unwrap_err().is_decode(), "{body}");
    }
}
