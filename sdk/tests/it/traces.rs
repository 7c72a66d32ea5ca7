//! The spans and events of calls.

use http::{Request, Response};
use insta::assert_snapshot;
use promptarium::transport::{Body, Failure};
use promptarium::{Client, UploadSource};
use serde_json::{Value, json};
use tracing::Instrument;

use crate::listening::{Kept, listen};
use crate::stub::{Scripted, client, envelope, get, prompt, response};

fn scripted(
    says: impl FnMut(&Request<Body>) -> Result<Response<Body>, Failure> + Send + 'static,
) -> (Scripted, Client) {
    let script = Scripted::new(says);
    let builder = Client::builder().base_url("https://prompts.example/api/v1").api_key("k");
    let client = builder.transport(script.clone()).build().unwrap();
    (script, client)
}

fn ok(data: &Value) -> Response<Body> {
    response(200, envelope(data).to_string())
}

/// A transport whose answers have these statuses; those of success hold prompt 7.
fn answering(statuses: &'static [u16]) -> (Scripted, Client) {
    let mut statuses = statuses.iter();
    scripted(move |_| {
        Ok(match statuses.next() {
            Some(200) | None => ok(&prompt(7)),
            Some(status) => response(*status, ""),
        })
    })
}

/// The spans and events, without the random delays.
fn without_delays(kept: &Kept) -> String {
    let line = |line: &str| match line.split_once("delay_ms: ") {
        Some((margin, _)) => format!("{margin}delay_ms: …\n"),
        None => format!("{line}\n"),
    };
    kept.ours().lines().map(line).collect()
}

#[tokio::test]
async fn a_call_is_a_span_and_so_is_each_sending() {
    let (kept, _guard) = listen();
    let (_, client) = answering(&[200]);
    get(&client).await.unwrap();
    assert_snapshot!(kept.ours(), @"
    INFO call
      otel.name: GET /prompts/{promptId}
      otel.kind: internal
      http.request.method: GET
      url.template: /prompts/{promptId}
      server.address: prompts.example
      server.port: 443
      http.response.status_code: 200
      INFO attempt
        otel.name: GET /prompts/{promptId}
        otel.kind: client
        http.request.method: GET
        url.template: /prompts/{promptId}
        server.address: prompts.example
        server.port: 443
        http.response.status_code: 200
    ");
    assert!(kept.open().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_sent_again_says_why_and_after_how_long() {
    let (kept, _guard) = listen();
    let mut attempts = 0;
    let (_, client) = scripted(move |_| {
        attempts += 1;
        match attempts {
            1 => Err(Failure::exchanging("hung up")),
            2 => Ok(response(503, "")),
            _ => Ok(ok(&prompt(7))),
        }
    });
    get(&client).await.unwrap();
    assert_snapshot!(without_delays(&kept), @"
    INFO call
      otel.name: GET /prompts/{promptId}
      otel.kind: internal
      http.request.method: GET
      url.template: /prompts/{promptId}
      server.address: prompts.example
      server.port: 443
      http.response.status_code: 200
      INFO attempt
        otel.name: GET /prompts/{promptId}
        otel.kind: client
        http.request.method: GET
        url.template: /prompts/{promptId}
        server.address: prompts.example
        server.port: 443
        error.type: transport
        otel.status_code: ERROR
      INFO (event)
        message: retry after a delay
        error.type: transport
        delay_ms: …
        http.request.resend_count: 1
      INFO attempt
        otel.name: GET /prompts/{promptId}
        otel.kind: client
        http.request.method: GET
        url.template: /prompts/{promptId}
        server.address: prompts.example
        server.port: 443
        http.request.resend_count: 1
        http.response.status_code: 503
        error.type: 503
        otel.status_code: ERROR
      INFO (event)
        message: retry after a delay
        error.type: 503
        delay_ms: …
        http.request.resend_count: 2
      INFO attempt
        otel.name: GET /prompts/{promptId}
        otel.kind: client
        http.request.method: GET
        url.template: /prompts/{promptId}
        server.address: prompts.example
        server.port: 443
        http.request.resend_count: 2
        http.response.status_code: 200
    ");
}

#[tokio::test(start_paused = true)]
async fn a_sending_has_ended_when_the_delay_begins() {
    let (kept, _guard) = listen();
    let (_, client) = answering(&[503]);
    let mut call = get(&client).into_future();
    assert!(futures::poll!(&mut call).is_pending());
    assert_eq!(kept.open(), ["call"]);
    drop(call);
    assert!(kept.open().is_empty());
}

#[tokio::test]
async fn a_refusal_is_told_by_its_status() {
    let (kept, _guard) = listen();
    let (_, client) = answering(&[404]);
    get(&client).await.unwrap_err();
    assert_snapshot!(kept.ours(), @"
    INFO call
      otel.name: GET /prompts/{promptId}
      otel.kind: internal
      http.request.method: GET
      url.template: /prompts/{promptId}
      server.address: prompts.example
      server.port: 443
      http.response.status_code: 404
      error.type: 404
      otel.status_code: ERROR
      INFO attempt
        otel.name: GET /prompts/{promptId}
        otel.kind: client
        http.request.method: GET
        url.template: /prompts/{promptId}
        server.address: prompts.example
        server.port: 443
        http.response.status_code: 404
        error.type: 404
        otel.status_code: ERROR
    ");
}

#[tokio::test]
async fn a_connection_that_did_not_come_about_is_told() {
    let (kept, _guard) = listen();
    get(&client("http://127.0.0.1:1")).await.unwrap_err();
    assert_snapshot!(kept.ours(), @"
    INFO call
      otel.name: GET /prompts/{promptId}
      otel.kind: internal
      http.request.method: GET
      url.template: /prompts/{promptId}
      server.address: 127.0.0.1
      server.port: 1
      error.type: connect
      otel.status_code: ERROR
      INFO attempt
        otel.name: GET /prompts/{promptId}
        otel.kind: client
        http.request.method: GET
        url.template: /prompts/{promptId}
        server.address: 127.0.0.1
        server.port: 1
        error.type: connect
        otel.status_code: ERROR
    ");
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_the_failure_of_the_call_and_not_of_the_sending() {
    let (kept, _guard) = listen();
    let (_, client) = scripted(|_| Ok(ok(&json!({ "id": "seven" }))));
    get(&client).await.unwrap_err();
    assert_snapshot!(kept.ours(), @"
    INFO call
      otel.name: GET /prompts/{promptId}
      otel.kind: internal
      http.request.method: GET
      url.template: /prompts/{promptId}
      server.address: prompts.example
      server.port: 443
      http.response.status_code: 200
      error.type: decode
      otel.status_code: ERROR
      INFO attempt
        otel.name: GET /prompts/{promptId}
        otel.kind: client
        http.request.method: GET
        url.template: /prompts/{promptId}
        server.address: prompts.example
        server.port: 443
        http.response.status_code: 200
    ");
}

#[tokio::test]
async fn a_raw_call_shows_no_path() {
    let (kept, _guard) = listen();
    let (_, client) = scripted(|_| Ok(ok(&json!(null))));
    client.get("/usage/of-somebody").query("month", "may").await.unwrap();
    let purge = "PURGE".parse().unwrap();
    let answer = client.request(purge, "/usage/of-somebody").await.unwrap();
    assert_snapshot!(kept.ours(), @"
    INFO call
      otel.name: GET
      otel.kind: internal
      http.request.method: GET
      server.address: prompts.example
      server.port: 443
      http.response.status_code: 200
      INFO attempt
        otel.name: GET
        otel.kind: client
        http.request.method: GET
        server.address: prompts.example
        server.port: 443
        http.response.status_code: 200
    INFO call
      otel.name: HTTP
      otel.kind: internal
      http.request.method: _OTHER
      server.address: prompts.example
      server.port: 443
      http.response.status_code: 200
      INFO attempt
        otel.name: HTTP
        otel.kind: client
        http.request.method: _OTHER
        server.address: prompts.example
        server.port: 443
        http.response.status_code: 200
    ");
    // The answer is kept, and the call has ended.
    assert!(kept.open().is_empty());
    drop(answer);
}

#[tokio::test]
async fn a_call_is_part_of_what_the_program_does() {
    let (kept, _guard) = listen();
    let (_, client) = answering(&[200]);
    get(&client).into_future().instrument(tracing::info_span!("checkout")).await.unwrap();
    assert_snapshot!(kept.ours(), @"
    INFO checkout
      INFO call
        otel.name: GET /prompts/{promptId}
        otel.kind: internal
        http.request.method: GET
        url.template: /prompts/{promptId}
        server.address: prompts.example
        server.port: 443
        http.response.status_code: 200
        INFO attempt
          otel.name: GET /prompts/{promptId}
          otel.kind: client
          http.request.method: GET
          url.template: /prompts/{promptId}
          server.address: prompts.example
          server.port: 443
          http.response.status_code: 200
    ");
}

/// A service and a storage in one, which has trouble at first.
fn slots_and_storage() -> (Scripted, Client) {
    let mut puts = 0;
    scripted(move |request| {
        if request.method() != "PUT" {
            return Ok(ok(&json!({
                "uploadUrl": "https://storage.example:9000/put/1?signature=s3cret", "token": "s3cret",
                "url": "https://cdn.example/1.gif", "path": "1.gif", "contentType": "image/gif",
                "size": 12, "expiresIn": 7200,
            })));
        }
        puts += 1;
        Ok(response(if puts == 1 { 503 } else { 200 }, ""))
    })
}

#[tokio::test(start_paused = true)]
async fn an_upload_is_a_span_around_its_slots_and_sendings() {
    let (kept, _guard) = listen();
    let (_, client) = slots_and_storage();
    client.uploads().image(UploadSource::bytes(&b"GIF89a......"[..])).await.unwrap();
    assert_snapshot!(without_delays(&kept), @"
    INFO upload
      otel.name: upload an image
      otel.kind: internal
      INFO call
        otel.name: POST /uploads/images
        otel.kind: internal
        http.request.method: POST
        url.template: /uploads/images
        server.address: prompts.example
        server.port: 443
        http.response.status_code: 200
        INFO attempt
          otel.name: POST /uploads/images
          otel.kind: client
          http.request.method: POST
          url.template: /uploads/images
          server.address: prompts.example
          server.port: 443
          http.response.status_code: 200
      INFO attempt
        otel.name: PUT
        otel.kind: client
        http.request.method: PUT
        server.address: storage.example
        server.port: 9000
        http.request.body.size: 12
        http.response.status_code: 503
        error.type: 503
        otel.status_code: ERROR
      INFO (event)
        message: retry after a delay
        error.type: 503
        delay_ms: …
        http.request.resend_count: 1
      INFO call
        otel.name: POST /uploads/images
        otel.kind: internal
        http.request.method: POST
        url.template: /uploads/images
        server.address: prompts.example
        server.port: 443
        http.response.status_code: 200
        INFO attempt
          otel.name: POST /uploads/images
          otel.kind: client
          http.request.method: POST
          url.template: /uploads/images
          server.address: prompts.example
          server.port: 443
          http.response.status_code: 200
      INFO attempt
        otel.name: PUT
        otel.kind: client
        http.request.method: PUT
        server.address: storage.example
        server.port: 9000
        http.request.resend_count: 1
        http.request.body.size: 12
        http.response.status_code: 200
    ");
}

#[tokio::test]
async fn an_asset_is_a_span_around_its_redirects() {
    let (kept, _guard) = listen();
    let (_, client) = scripted(|request| {
        let mut answer = response(200, "picture");
        if request.uri().host() == Some("cdn.example") {
            answer = response(302, "");
            let there = "https://[2001:db8::1]/a?signature=s3cret";
            answer.headers_mut().insert("location", there.parse().unwrap());
        }
        Ok(answer)
    });
    client.assets().download("https://a:s3cret@cdn.example/a.png?s3cret").await.unwrap();
    assert_snapshot!(kept.ours(), @"
    INFO asset
      otel.name: download an asset
      otel.kind: internal
      INFO attempt
        otel.name: GET
        otel.kind: client
        http.request.method: GET
        server.address: cdn.example
        server.port: 443
        http.response.status_code: 302
      INFO attempt
        otel.name: GET
        otel.kind: client
        http.request.method: GET
        server.address: 2001:db8::1
        server.port: 443
        http.request.resend_count: 1
        http.response.status_code: 200
    ");
    client.assets().download("cdn.example/a.png").await.unwrap_err();
    let end = "  otel.kind: internal\n  error.type: input\n  otel.status_code: ERROR\n";
    assert!(kept.ours().ends_with(end), "{}", kept.ours());
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_job_is_a_span_around_its_polls() {
    let (kept, _guard) = listen();
    let mut states = ["queued", "queued", "failed"].iter();
    let (_, client) = scripted(move |_| {
        let state = states.next().unwrap();
        Ok(ok(&json!({ "clientJobId": "j", "status": state, "promptId": null, "error": "s3cret" })))
    });
    client.generations().wait("job-1").await.unwrap_err();
    assert_snapshot!(kept.ours(), @"
    INFO wait
      otel.name: wait for a generation
      otel.kind: internal
      promptarium.job.id: job-1
      error.type: job_failed
      otel.status_code: ERROR
      INFO call
        otel.name: GET /generations/{clientJobId}/status
        otel.kind: internal
        http.request.method: GET
        url.template: /generations/{clientJobId}/status
        server.address: prompts.example
        server.port: 443
        http.response.status_code: 200
        INFO attempt
          otel.name: GET /generations/{clientJobId}/status
          otel.kind: client
          http.request.method: GET
          url.template: /generations/{clientJobId}/status
          server.address: prompts.example
          server.port: 443
          http.response.status_code: 200
      INFO (event)
        message: job status changed
        promptarium.job.status: queued
      INFO call
        otel.name: GET /generations/{clientJobId}/status
        otel.kind: internal
        http.request.method: GET
        url.template: /generations/{clientJobId}/status
        server.address: prompts.example
        server.port: 443
        http.response.status_code: 200
        INFO attempt
          otel.name: GET /generations/{clientJobId}/status
          otel.kind: client
          http.request.method: GET
          url.template: /generations/{clientJobId}/status
          server.address: prompts.example
          server.port: 443
          http.response.status_code: 200
      INFO call
        otel.name: GET /generations/{clientJobId}/status
        otel.kind: internal
        http.request.method: GET
        url.template: /generations/{clientJobId}/status
        server.address: prompts.example
        server.port: 443
        http.response.status_code: 200
        INFO attempt
          otel.name: GET /generations/{clientJobId}/status
          otel.kind: client
          http.request.method: GET
          url.template: /generations/{clientJobId}/status
          server.address: prompts.example
          server.port: 443
          http.response.status_code: 200
      INFO (event)
        message: job status changed
        promptarium.job.status: failed
    ");
    assert!(!kept.all().contains("s3cret"));
}
