//! Spans of uploads, downloads and waits, which are several requests.

use insta::assert_snapshot;
use promptarium::{Client, UploadSource};
use serde_json::json;

use super::{ok, scripted, without_delays};
use crate::listening::listen;
use crate::stub::{Scripted, response};

/// A service that is also the storage. The first requests fail.
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
async fn an_upload_is_a_span_around_its_slots_and_attempts() {
    let (recorder, _guard) = listen();
    let (_, client) = slots_and_storage();
    client.uploads().image(UploadSource::bytes(&b"GIF89a......"[..])).await.unwrap();
    assert_snapshot!(without_delays(&recorder), @"
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
    let (recorder, _guard) = listen();
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
    assert_snapshot!(recorder.ours(), @"
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
    assert!(recorder.ours().ends_with(end), "{}", recorder.ours());
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_job_is_a_span_around_its_polls() {
    let (recorder, _guard) = listen();
    let mut states = ["queued", "queued", "failed"].iter();
    let (_, client) = scripted(move |_| {
        let state = states.next().unwrap();
        Ok(ok(&json!({ "clientJobId": "j", "status": state, "promptId": null, "error": "s3cret" })))
    });
    client.generations().wait("job-1").await.unwrap_err();
    assert_snapshot!(recorder.ours(), @"
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
    assert!(!recorder.all().contains("s3cret"));
}
