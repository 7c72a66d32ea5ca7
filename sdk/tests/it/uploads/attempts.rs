//! Uploads that fail at the storage: which are retried with a new slot, and that errors show no
//! secret of a slot.

use std::time::Duration;

use insta::assert_snapshot;
use promptarium::testing::{self, Answer, Script};
use promptarium::{RetryBudget, RetryPolicy, UploadSource};
use serde_json::json;
use wiremock::ResponseTemplate;

use super::{Servers, all_of, giving_slots, png, storage};
use crate::errors::kinds;
use crate::stub::{client, on_a_fast_clock, patient};

fn error_response(status: u16) -> ResponseTemplate {
    let body = json!({ "data": null, "error": "no", "details": {} });
    ResponseTemplate::new(status).insert_header("x-request-id", "r-9").set_body_json(body)
}

#[tokio::test]
async fn a_slot_that_is_refused_is_replaced_by_a_fresh_one() {
    for status in [401, 403] {
        let servers = Servers::new(vec![error_response(status)]).await;
        let image = servers.upload(png(20)).await.unwrap();
        assert_eq!(image.url.as_str(), "https://cdn.example/2.png");
        assert_eq!(servers.traffic().await, (2, 2));
        assert_eq!(servers.progress(), [(1, 0), (1, 20), (2, 0), (2, 20)]);
        let puts = servers.storage.received_requests().await.unwrap();
        assert_eq!(puts[1].url.path(), "/put/2");
        assert_eq!(puts[1].headers["authorization"], "Bearer s3cretToken2");
        assert_eq!(puts[1].body, png(20));
    }
}

#[tokio::test]
async fn a_file_is_sent_again_from_its_beginning() {
    let path = std::env::temp_dir().join(format!("promptarium-again-{}.png", std::process::id()));
    std::fs::write(&path, png(300_000)).unwrap();
    let servers = Servers::new(vec![error_response(401), error_response(401)]).await;
    servers.upload(path.as_path()).await.unwrap();
    std::fs::remove_file(path).unwrap();
    for put in servers.storage.received_requests().await.unwrap() {
        assert!(put.body == png(300_000));
    }
    assert_eq!(servers.traffic().await, (3, 3));
}

#[tokio::test]
async fn two_fresh_slots_are_enough() {
    let servers = Servers::new((0..9).map(|_| error_response(401)).collect()).await;
    let error = servers.upload(png(20)).await.unwrap_err();
    assert_snapshot!(error, @"PUT {uploadUrl}: 401 Unauthorized: no (request id r-9, after 3 attempts)");
    assert_eq!(kinds(&error), "slot_refused");
    assert_eq!(servers.traffic().await, (3, 3));
    assert_eq!(error.path_template(), Some("{uploadUrl}"));
}

#[tokio::test]
async fn a_reader_is_not_sent_again() {
    let servers = Servers::new(vec![error_response(401)]).await;
    let reader = UploadSource::reader(std::io::Cursor::new(png(20)), 20);
    let error = servers.upload(reader).await.unwrap_err();
    assert_snapshot!(error, @"the upload must be retried, but its reader can be read only once");
    assert_eq!(kinds(&error), "not_replayable");
    assert_snapshot!(std::error::Error::source(&error).unwrap(), @"PUT {uploadUrl}: 401 Unauthorized: no (request id r-9)");
    assert_eq!(servers.traffic().await, (1, 1));

    let servers = Servers::new(vec![error_response(413)]).await;
    let reader = UploadSource::reader(std::io::Cursor::new(png(20)), 20);
    assert_eq!(servers.upload(reader).await.unwrap_err().status().unwrap(), 413);
}

#[tokio::test]
async fn a_refusal_of_the_bytes_is_final() {
    for status in [400, 404, 409, 413, 415, 501] {
        let servers = Servers::new(vec![error_response(status)]).await;
        let error = servers.upload(png(20)).await.unwrap_err();
        assert_eq!(error.status().unwrap(), status);
        assert_eq!(error.request_id(), Some("r-9"));
        assert_eq!(servers.traffic().await, (1, 1));
    }
    let servers = Servers::new(vec![error_response(413)]).await;
    assert_snapshot!(servers.upload(png(20)).await.unwrap_err(), @"PUT {uploadUrl}: 413 Payload Too Large: no (request id r-9)");
    let moved = ResponseTemplate::new(302).insert_header("location", "https://elsewhere.example/");
    assert_snapshot!(Servers::new(vec![moved]).await.upload(png(20)).await.unwrap_err(), @"PUT {uploadUrl}: 302 Found redirects to https://elsewhere.example/; not followed: only 307 and 308 ask for the same request");
}

#[tokio::test]
async fn after_its_time_any_refusal_of_a_slot_asks_for_a_fresh_one() {
    let storage = storage(vec![error_response(400)]).await;
    let service = giving_slots(storage.uri(), |slot| slot["expiresIn"] = json!(0)).await;
    let client = patient(service.uri()).build().unwrap();
    let image = client.uploads().image(png(20)).await.unwrap();
    assert_eq!(image.url.as_str(), "https://cdn.example/2.png");
}

#[tokio::test]
async fn errors_of_the_storage_are_retried_after_a_backoff() {
    for status in [408, 429, 500, 502, 503, 504] {
        let servers = Servers::new(vec![error_response(status), error_response(status)]).await;
        let elapsed = on_a_fast_clock(async {
            let start = tokio::time::Instant::now();
            servers.upload(png(20)).await.unwrap();
            start.elapsed()
        });
        assert!(elapsed.await >= Duration::from_millis(100 + 200));
        assert_eq!(servers.traffic().await, (3, 3));
    }
}

#[tokio::test]
async fn retry_after_of_the_storage_is_waited_for_unless_it_is_too_long() {
    let servers = Servers::new(vec![error_response(503).insert_header("retry-after", "50")]).await;
    let elapsed = on_a_fast_clock(async {
        let start = tokio::time::Instant::now();
        servers.upload(png(20)).await.unwrap();
        start.elapsed()
    });
    assert!(elapsed.await >= Duration::from_secs(50));

    let servers = Servers::new(vec![error_response(503).insert_header("retry-after", "61")]).await;
    let error = servers.upload(png(20)).await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(61)));
    assert_eq!(servers.traffic().await, (1, 1));
}

#[tokio::test]
async fn a_storage_that_is_away_is_tried_three_times() {
    let storage = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let service = giving_slots(storage.clone(), |_| ()).await;
    let client = patient(service.uri()).build().unwrap();
    let error = on_a_fast_clock(client.uploads().image(png(20)).into_future()).await.unwrap_err();
    assert_snapshot!(error.to_string().replace(&storage, "STORAGE"), @"PUT {uploadUrl}: cannot connect to STORAGE: Connection refused (os error 111) (after 3 attempts)");
    assert_eq!(kinds(&error), "connect retryable");
    assert_eq!(service.received_requests().await.unwrap().len(), 3);
}

#[tokio::test]
async fn the_policy_and_the_budget_are_those_of_other_calls() {
    let busy = || (0..9).map(|_| error_response(503)).collect();
    let servers = Servers::new(busy()).await;
    let soon = RetryPolicy::new().initial_backoff(Duration::from_millis(1)).max_attempts(5);
    let upload = servers.client.uploads().image(png(20)).retry(soon.clone());
    let error = upload.await.unwrap_err();
    assert_snapshot!(error, @"PUT {uploadUrl}: 503 Service Unavailable: no (request id r-9, after 5 attempts)");
    assert_eq!((error.attempts(), servers.traffic().await), (5, (5, 5)));

    let servers = Servers::new(busy()).await;
    let upload = servers.client.uploads().image(png(20)).retry(RetryPolicy::never());
    assert_eq!(upload.await.unwrap_err().attempts(), 1);
    assert_eq!(servers.traffic().await, (1, 1));

    let servers = Servers::new(busy()).await;
    let budget = RetryBudget::new().reserve(1).percent(0);
    let client = patient(servers.service.uri()).retry(soon).retry_budget(budget).build().unwrap();
    let error = client.uploads().image(png(20)).await.unwrap_err();
    assert_snapshot!(error, @"PUT {uploadUrl}: 503 Service Unavailable: no (request id r-9, after 2 attempts, not retried, as the retry budget of the client is empty)");
}

#[tokio::test(start_paused = true)]
async fn request_timeout_is_of_each_attempt_and_there_is_none_by_default() {
    let slow = |answer: Answer| {
        let script = Script::new();
        script.put("https://storage.example/uploads/{name}").answer(answer);
        script.storage();
        script
    };
    let script = slow(Answer::never());
    let upload = testing::client(&script).uploads().image(png(20));
    let start = tokio::time::Instant::now();
    upload.request_timeout(Duration::from_secs(5)).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 5);
    assert_eq!(script.calls().len(), 4);

    let script = slow(Answer::data(&()).after(Duration::from_secs(90)));
    let upload = testing::client(&script).uploads().image(png(20));
    upload.idle_timeout(Duration::from_secs(100)).await.unwrap();
    assert_eq!(script.calls().len(), 2);
}

#[tokio::test]
async fn what_authorises_an_upload_shows_nowhere() {
    let quoting = |text: &str| ResponseTemplate::new(413).set_body_string(text);
    let mut shown = Vec::new();
    for text in ["<Token>s3cretToken1</Token>", "<Signature>s3cretSignature1</Signature>"] {
        let error = Servers::new(vec![quoting(text)]).await.upload(png(20)).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "PUT {uploadUrl}: 413 Payload Too Large, with a body that is not shown because it \
             repeats a credential"
        );
        shown.push(all_of(&error));
    }
    let stated = json!({ "data": null, "error": "no such token: s3cretToken1", "details": {} });
    let stated = ResponseTemplate::new(415).set_body_json(stated);
    shown.push(all_of(&Servers::new(vec![stated]).await.upload(png(20)).await.unwrap_err()));
    let harmless = quoting("<Code>EntityTooLarge</Code>");
    let error = Servers::new(vec![harmless]).await.upload(png(20)).await.unwrap_err();
    assert_snapshot!(error, @"PUT {uploadUrl}: 413 Payload Too Large, with a body that is not the API's: <Code>EntityTooLarge</Code>");
    shown.push(all_of(&error));
    shown.push(all_of(
        &Servers::new((0..3).map(|_| error_response(401)).collect())
            .await
            .upload(png(20))
            .await
            .unwrap_err(),
    ));

    for odd in ["line\nbreak-s3cretToken", "s3cretToken\u{7f}"] {
        let storage = storage(vec![]).await;
        let service = giving_slots(storage.uri(), move |slot| slot["token"] = json!(odd)).await;
        let error = client(service.uri()).uploads().image(png(20)).await.unwrap_err();
        assert_eq!(error.to_string(), "the token of the slot cannot be sent");
        shown.push(all_of(&error));
    }
    let away = giving_slots("http://127.0.0.1:1".into(), |_| ()).await;
    let away = patient(away.uri()).build().unwrap();
    let reader = UploadSource::reader(std::io::Cursor::new(png(20)), 20);
    shown.push(all_of(&away.uploads().image(reader).await.unwrap_err()));
    shown.push(format!("{:?}", away.uploads().image(png(20))));
    for text in shown {
        assert!(!text.contains("s3cret"), "{text}");
    }
}
