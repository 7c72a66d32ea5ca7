//! Kinds and predicates agree: an error of each kind, on a scripted transport.

use std::collections::HashSet;
use std::time::Duration;

use http::Request;
use promptarium::transport::{Body, Failure};
use promptarium::{Client, Error, RetryPolicy, UploadSource};
use serde_json::json;

use super::KINDS;
use crate::stub::{Scripted, envelope, get, response};

/// A client of a transport that fails in this way.
fn client(what: &'static str) -> Client {
    let script = Scripted::new(move |request| answer(what, request));
    let builder = Client::builder().base_url("http://h/api/v1").api_key("k").max_response_size(999);
    builder.transport(script).retry(RetryPolicy::never()).build().unwrap()
}

fn answer(what: &str, request: &Request<Body>) -> Result<http::Response<Body>, Failure> {
    let ok = |data| Ok(response(200, envelope(&data).to_string()));
    let problem = json!({ "data": null, "error": "no", "details": {} }).to_string();
    match what {
        "connect" => Err(Failure::connecting("refused")),
        "connect timeout" => Err(Failure::connecting("late").by_timeout()),
        "transport timeout" => Err(Failure::exchanging("late").by_timeout()),
        "transport" => Err(Failure::exchanging("reset")),
        "decode" => ok(json!("seven")),
        "too large" => Ok(response(200, "x".repeat(1000))),
        "loop" => Ok(response(
            200,
            json!({ "data": [], "error": null, "pagination": { "nextCursor": "c" } }).to_string(),
        )),
        "slot" if request.method() == "PUT" => Ok(response(403, "")),
        "slot" => ok(json!({
            "uploadUrl": "http://storage/1", "token": "t", "url": "http://cdn/1.gif",
            "path": "1.gif", "contentType": "image/gif", "size": 12, "expiresIn": 7200,
        })),
        "output" if request.uri().path().contains("prompts") => Ok(response(404, problem)),
        "output" => ok(json!({ "clientJobId": "j", "status": "completed", "promptId": 7 })),
        "failed" | "queued" => ok(json!({ "clientJobId": "j", "status": what })),
        status => Ok(response(status.parse().unwrap(), problem)),
    }
}

async fn read(what: &'static str) -> Error {
    get(&client(what)).await.unwrap_err()
}

async fn wait(what: &'static str) -> Error {
    client(what).generations().wait("j").timeout(Duration::from_secs(9)).await.unwrap_err()
}

async fn upload(image: UploadSource) -> Error {
    let twice = RetryPolicy::new().max_attempts(2);
    client("slot").uploads().image(image).retry(twice).await.unwrap_err()
}

async fn loops() -> Error {
    let mut items = client("loop").prompts().list().items();
    items.next().await.unwrap().unwrap_err()
}

#[tokio::test(start_paused = true)]
async fn each_kind_has_its_predicate_and_no_other() {
    const GIF: &[u8] = b"GIF89a......";
    let late = Scripted::with_delay(Duration::MAX, |_| Err(Failure::exchanging("never")));
    let late = Client::builder().base_url("http://h/api/v1").api_key("k").transport(late);
    let mut errors = vec![
        Client::new("", "k").unwrap_err(),
        read("connect").await,
        read("transport timeout").await,
        read("transport").await,
        get(&late.build().unwrap()).await.unwrap_err(),
        read("307").await,
        read("decode").await,
        read("too large").await,
        loops().await,
        wait("failed").await,
        wait("queued").await,
        wait("output").await,
        upload(UploadSource::bytes(&b"text"[..])).await,
        upload(UploadSource::bytes(GIF)).await,
        upload(UploadSource::reader(GIF, 12)).await,
        client("200")
            .post("/x")
            .json(&std::collections::HashMap::from([((1, 2), 3)]))
            .await
            .unwrap_err(),
    ];
    for status in ["400", "401", "402", "403", "404", "409", "422", "429", "500", "503", "200"] {
        errors.push(read(status).await);
    }
    for error in &errors {
        for (kind, holds) in KINDS {
            assert_eq!(holds(error), error.kind() == kind, "{error}: {kind:?}");
        }
    }
    let found: HashSet<_> = errors.iter().map(Error::kind).collect();
    assert_eq!(found, KINDS.into_iter().map(|(kind, _)| kind).collect());
}

#[tokio::test]
async fn a_connect_timeout_is_a_timeout_too() {
    let error = read("connect timeout").await;
    assert!(error.is_connect() && error.is_timeout() && error.kind().as_str() == "connect");
    assert_eq!(
        error.to_string(),
        "GET /prompts/{promptId}: connecting to http://h timed out (connect_timeout)"
    );
}

#[test]
fn names_of_kinds_are_unique() {
    let names: HashSet<_> = KINDS.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(names.len(), KINDS.len());
}
