//! The spans and events of calls.

mod operations;

use http::{Request, Response};
use insta::assert_snapshot;
use promptarium::Client;
use promptarium::transport::{Body, Failure};
use serde_json::{Value, json};
use tracing::Instrument;

use crate::listening::{Recorder, listen};
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
fn without_delays(recorder: &Recorder) -> String {
    let line = |line: &str| match line.split_once("delay_ms: ") {
        Some((margin, _)) => format!("{margin}delay_ms: …\n"),
        None => format!("{line}\n"),
    };
    recorder.ours().lines().map(line).collect()
}

#[tokio::test]
async fn a_call_is_a_span_and_so_is_each_attempt() {
    let (recorder, _guard) = listen();
    let (_, client) = answering(&[200]);
    get(&client).await.unwrap();
    assert_snapshot!(recorder.ours(), @"
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
    assert!(recorder.open().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_retry_is_an_event_with_its_reason_and_delay() {
    let (recorder, _guard) = listen();
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
    assert_snapshot!(without_delays(&recorder), @"
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
async fn an_attempt_has_ended_when_the_backoff_begins() {
    let (recorder, _guard) = listen();
    let (_, client) = answering(&[503]);
    let mut call = get(&client).into_future();
    assert!(futures::poll!(&mut call).is_pending());
    assert_eq!(recorder.open(), ["call"]);
    drop(call);
    assert!(recorder.open().is_empty());
}

#[tokio::test]
async fn an_error_response_is_recorded_by_its_status() {
    let (recorder, _guard) = listen();
    let (_, client) = answering(&[404]);
    get(&client).await.unwrap_err();
    assert_snapshot!(recorder.ours(), @"
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
async fn a_failed_connection_is_recorded() {
    let (recorder, _guard) = listen();
    get(&client("http://127.0.0.1:1")).await.unwrap_err();
    assert_snapshot!(recorder.ours(), @"
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
async fn a_decode_error_fails_the_call_and_not_the_attempt() {
    let (recorder, _guard) = listen();
    let (_, client) = scripted(|_| Ok(ok(&json!({ "id": "seven" }))));
    get(&client).await.unwrap_err();
    assert_snapshot!(recorder.ours(), @"
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
    let (recorder, _guard) = listen();
    let (_, client) = scripted(|_| Ok(ok(&json!(null))));
    client.get("/usage/of-somebody").query("month", "may").await.unwrap();
    let purge = "PURGE".parse().unwrap();
    let answer = client.request(purge, "/usage/of-somebody").await.unwrap();
    assert_snapshot!(recorder.ours(), @"
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
    // The response is kept, and the call has ended.
    assert!(recorder.open().is_empty());
    drop(answer);
}

#[tokio::test]
async fn a_call_is_part_of_what_the_program_does() {
    let (recorder, _guard) = listen();
    let (_, client) = answering(&[200]);
    get(&client).into_future().instrument(tracing::info_span!("checkout")).await.unwrap();
    assert_snapshot!(recorder.ours(), @"
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
