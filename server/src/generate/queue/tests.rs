//! The client against a provider on a real socket that also misbehaves.

use std::io::Cursor;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::StreamExt;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use image::{ImageFormat, RgbImage};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::*;
use crate::domain::Media;
use crate::generate::tests::Log;

const KEY: &str = "the-provider-key-id:the-provider-key-secret";
const MP4: &[u8] = b"\0\0\0\x10ftypisom\0\0\0\0";

#[derive(Clone, Debug)]
enum Reply {
    /// Status, content type, and a body in which `ORIGIN` stands for the server's own.
    Body(u16, &'static str, Bytes),
    Redirect(String),
    /// Zeros without an end, as a picture.
    EndlessZeros,
    Hang,
    /// Closes the connection.
    Close,
}

use Reply::{Body, Close, EndlessZeros, Hang, Redirect};

#[expect(clippy::needless_pass_by_value, reason = "its callers use the macro `json!`")]
fn json_reply(status: u16, body: Value) -> Reply {
    Body(status, "application/json", body.to_string().into())
}

fn file(content_type: &'static str, bytes: impl Into<Bytes>) -> Reply {
    Body(200, content_type, bytes.into())
}

/// What the provider replies to each kind of request.
#[derive(Clone, Debug)]
struct Script {
    submission: Reply,
    status: Reply,
    result: Reply,
    file: Reply,
}

impl Default for Script {
    /// A request that is completed with three pictures.
    fn default() -> Self {
        let submission = json!({
            "request_id": "r-1",
            "status_url": "ORIGIN/acme/flux/requests/r-1/status",
            "response_url": "ORIGIN/acme/flux/requests/r-1",
            "cancel_url": "ORIGIN/acme/flux/requests/r-1/cancel",
            "queue_position": 0,
        });
        let images = json!([
            {"url": "ORIGIN/1.png", "width": 1, "height": 1},
            {"url": "ORIGIN/2.png"},
            {"url": "ORIGIN/3.png"},
        ]);
        Self {
            submission: json_reply(200, submission),
            status: json_reply(200, json!({"status": "COMPLETED"})),
            result: json_reply(200, json!({"images": images})),
            file: file("image/png", picture()),
        }
    }
}

fn picture() -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    RgbImage::new(32, 18).write_to(&mut file, ImageFormat::Png).unwrap();
    file.into_inner()
}

#[derive(Clone, Debug)]
struct Received {
    /// Such as `POST /a/model`.
    head: String,
    key: Option<String>,
    body: Bytes,
}

struct TestProvider {
    /// Such as `http://127.0.0.1:12345`.
    origin: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl TestProvider {
    async fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let (log, own) = (received.clone(), origin.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (log, own, script) = (log.clone(), own.clone(), script.clone());
                let service = service_fn(move |request| {
                    respond(request, log.clone(), own.clone(), script.clone())
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { origin, received }
    }

    fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    fn client(&self) -> QueueProvider {
        client(setting(&self.origin))
    }
}

async fn respond(
    request: http::Request<Incoming>,
    log: Arc<Mutex<Vec<Received>>>,
    origin: String,
    script: Script,
) -> Result<Response<UnsyncBoxBody<Bytes, std::io::Error>>, std::io::Error> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let key = parts.headers.get(AUTHORIZATION).map(|key| key.to_str().unwrap().to_owned());
    let head = format!("{} {}", parts.method, parts.uri);
    log.lock().unwrap().push(Received { head, key, body });
    let reply = match parts.uri.path() {
        _ if parts.method == Method::POST => script.submission,
        "/acme/flux/requests/r-1/status" => script.status,
        "/acme/flux/requests/r-1" => script.result,
        _ => script.file,
    };
    let full = |bytes: Bytes| Full::new(bytes).map_err(|never| match never {}).boxed_unsync();
    let response = Response::builder();
    let response = match reply {
        Body(status, kind, bytes) => {
            let text = str::from_utf8(&bytes).map(|text| text.replace("ORIGIN", &origin).into());
            let body = full(text.unwrap_or(bytes));
            response.status(status).header(CONTENT_TYPE, kind).body(body)
        }
        Redirect(to) => response.status(302).header("location", to).body(full(Bytes::new())),
        EndlessZeros => {
            let zeros = futures::stream::repeat(Bytes::from_static(&[0; 4096]));
            let body = StreamBody::new(zeros.map(|bytes| Ok(Frame::data(bytes)))).boxed_unsync();
            response.header(CONTENT_TYPE, "image/png").body(body)
        }
        Hang => std::future::pending().await,
        Close => return Err(std::io::Error::other("closed")),
    };
    Ok(response.unwrap())
}

fn setting(url: &str) -> QueueSetting {
    let mut setting = QueueSetting::new(url, KEY).unwrap();
    for limits in [&mut setting.submit_limits, &mut setting.poll_limits, &mut setting.output_limits]
    {
        limits.time = Duration::from_millis(1500);
    }
    setting.output_limits.bytes = 1 << 20;
    setting
}

fn client(setting: QueueSetting) -> QueueProvider {
    QueueProvider::new(setting, Outbound::new(AddressPolicy::Any).unwrap())
}

fn request() -> GenerationRequest {
    GenerationRequest {
        model_id: "acme/flux/dev".into(),
        prompt: "a lighthouse".into(),
        aspect_ratio: "16:9".into(),
        batch_count: 2,
        ..GenerationRequest::default()
    }
}

async fn submit_and_poll(
    provider: &TestProvider,
    request: &GenerationRequest,
) -> Result<Progress, PollError> {
    let ticket = provider.client().submit(request).await.unwrap();
    provider.client().poll(&ticket, request).await
}

async fn poll(script: Script) -> Result<Progress, PollError> {
    submit_and_poll(&TestProvider::start(script).await, &request()).await
}

#[tokio::test]
async fn a_request_is_queued_in_progress_and_completed_with_its_images() {
    for (at, (code, status)) in
        [(202, "IN_QUEUE"), (202, "IN_PROGRESS"), (200, "COMPLETED")].into_iter().enumerate()
    {
        let status = json_reply(code, json!({"status": status, "queue_position": 1, "logs": null}));
        let provider = TestProvider::start(Script { status, ..Script::default() }).await;
        match (at, submit_and_poll(&provider, &request()).await.unwrap()) {
            (0, Progress::Queued) | (1, Progress::InProgress) => {}
            (2, Progress::Completed(outputs)) => {
                assert_eq!(outputs.len(), 2, "as many as were asked for");
                let first = &outputs[0];
                assert_eq!((first.media, first.width, first.height), (Media::Png, 32, 18));
                assert_eq!(first.bytes, picture());
            }
            other => panic!("{other:?}"),
        }
        for (at, received) in provider.received().iter().enumerate() {
            let head = if at == 0 { "POST /acme/flux/dev" } else { "GET /" };
            assert!(received.head.starts_with(head), "{received:?}");
            let key = (!received.head.ends_with(".png")).then(|| format!("Key {KEY}"));
            assert_eq!(received.key, key, "{}", received.head);
        }
    }
}

#[tokio::test]
async fn all_fields_are_sent() {
    let provider = TestProvider::start(Script::default()).await;
    let request = GenerationRequest {
        negative_prompt: Some("people".into()),
        image_input: Some("https://a.example/a.png".into()),
        image_inputs: vec!["https://a.example/b.png".into()],
        reference_image_urls: vec!["https://a.example/c.png".into()],
        image_edit_endpoint_id: Some("acme/flux/edit".into()),
        parameters: json!({"steps": 20, "prompt": "another", "num_images": 9}).as_object().cloned(),
        ..request()
    };
    client(setting(&format!("{}/queue/", provider.origin))).submit(&request).await.unwrap();
    let received = &provider.received()[0];
    assert_eq!(received.head, "POST /queue/acme/flux/edit");
    assert_eq!(
        serde_json::from_slice::<Value>(&received.body).unwrap(),
        json!({
            "prompt": "a lighthouse",
            "negative_prompt": "people",
            "image_url": "https://a.example/a.png",
            "image_urls": ["https://a.example/b.png"],
            "reference_image_urls": ["https://a.example/c.png"],
            "aspect_ratio": "16:9",
            "num_images": 2,
            "steps": 20,
        })
    );
}

#[tokio::test]
async fn a_request_has_one_video() {
    let video = json!({"url": "ORIGIN/1.mp4", "width": 1280, "height": 720});
    let result = json_reply(200, json!({"video": video}));
    let script = Script { result, file: file("video/mp4", MP4), ..Script::default() };
    let provider = TestProvider::start(script).await;
    let one = GenerationRequest { kind: OutputKind::Video, batch_count: 1, ..request() };
    let Ok(Progress::Completed(outputs)) = submit_and_poll(&provider, &one).await else {
        panic!("it did not complete");
    };
    let video = &outputs[0];
    assert_eq!((video.media, video.width, video.height), (Media::Mp4, 1280, 720));
    let body: Value = serde_json::from_slice(&provider.received()[0].body).unwrap();
    assert_eq!(body.get("num_images"), None);

    let several = GenerationRequest { batch_count: 2, ..one };
    let error = provider.client().submit(&several).await.unwrap_err();
    assert!(matches!(error, SubmitError::Refused(_)), "{error:?}");
}

#[tokio::test]
async fn a_model_id_leads_to_a_model_only() {
    let provider = TestProvider::start(Script::default()).await;
    for model in [
        "",
        "/",
        "/acme",
        "acme/",
        "acme//flux",
        "../admin",
        "acme/../admin",
        "acme/./flux",
        "acme?x=y",
        "acme#x",
        "acme flux",
        "acme%2f..",
        "@evil.example",
        "http://evil.example",
        "acme\\flux",
        "acme/flux/requests/r-1/cancel",
    ] {
        let request = GenerationRequest { model_id: model.into(), ..request() };
        let error = provider.client().submit(&request).await.unwrap_err();
        assert!(matches!(error, SubmitError::Refused(_)), "{model}: {error:?}");
    }
    assert_eq!(provider.received().len(), 0);
}

#[tokio::test]
async fn a_submission_that_was_not_accepted_is_refused_or_unavailable() {
    for (status, is_refused) in
        [(400, true), (401, true), (404, true), (422, true), (429, false), (503, false)]
    {
        let body = json!({"detail": [{"loc": ["body"], "msg": format!("no, {KEY}")}]});
        let script = Script { submission: json_reply(status, body), ..Script::default() };
        let provider = TestProvider::start(script).await;
        let error = provider.client().submit(&request()).await.unwrap_err();
        match &error {
            SubmitError::Refused(reason) if is_refused => {
                assert!(reason.contains("no, …") || status == 401, "{reason}");
            }
            SubmitError::Unavailable(_) if !is_refused => {}
            other => panic!("{status}: {other:?}"),
        }
        assert!(!format!("{error:?}").contains("the-provider-key"), "{error:?}");
        assert_eq!(provider.received().len(), 1);
    }
    // Nothing listens, or what listens does not speak TLS.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let provider = TestProvider::start(Script::default()).await;
    for url in [closed, provider.origin.replace("http:", "https:")] {
        let error = client(setting(&url)).submit(&request()).await.unwrap_err();
        assert!(matches!(error, SubmitError::Unavailable(_)), "{url}: {error:?}");
    }
    assert_eq!(provider.received().len(), 0);
}

#[tokio::test]
async fn a_submission_that_may_have_been_accepted_is_unknown_and_sent_once() {
    let with_urls = |status: &str, response: &str| {
        let urls = json!({"request_id": "r", "status_url": status, "response_url": response});
        json_reply(200, urls)
    };
    for submission in [
        Hang,
        Close,
        EndlessZeros,
        json_reply(500, json!({"detail": "oops"})),
        Body(502, "text/html", "<h1>Bad gateway</h1>".into()),
        json_reply(504, json!({})),
        json_reply(408, json!({})),
        json_reply(307, json!({})),
        file("text/html", "<h1>Hello</h1>"),
        json_reply(200, json!([])),
        json_reply(200, json!({"request_id": "r-1"})),
        json_reply(200, json!({"request_id": 7, "status_url": 8, "response_url": 9})),
        // The key would be sent to another host.
        with_urls("http://localhost:1/", "ORIGIN/"),
        with_urls("ORIGIN/", "http://localhost:1/"),
    ] {
        let script = Script { submission, ..Script::default() };
        let provider = TestProvider::start(script.clone()).await;
        let error = provider.client().submit(&request()).await.unwrap_err();
        assert!(matches!(error, SubmitError::Unknown(_)), "{script:?}: {error:?}");
        assert_eq!(provider.received().len(), 1, "{script:?}");
    }
}

#[tokio::test]
async fn the_key_is_sent_to_no_other_host() {
    let other = TestProvider::start(Script::default()).await;
    let provider =
        TestProvider::start(Script { status: Redirect(other.origin.clone()), ..Script::default() })
            .await;
    submit_and_poll(&provider, &request()).await.unwrap_err();
    // Tickets from before the operator changed the provider.
    let urls = json!({"status": format!("{}/s", other.origin), "response": "http://a.example/"});
    for state in [urls.to_string(), "2026-01-01T00:00:00Z".to_owned()] {
        let ticket = ProviderTicket { request_id: "r".into(), provider_state: state.into() };
        provider.client().poll(&ticket, &request()).await.unwrap_err();
    }
    assert_eq!(other.received().len(), 0);
}

#[tokio::test]
async fn a_poll_that_may_succeed_later_is_an_error() {
    let mut scripts = Vec::new();
    for reply in [Hang, Close, EndlessZeros, file("text/html", "<h1>Hello</h1>")] {
        scripts.push(Script { status: reply, ..Script::default() });
    }
    for code in [401, 429, 500, 502, 503] {
        let status = json_reply(code, json!({"detail": "later"}));
        scripts.push(Script { status, ..Script::default() });
    }
    for status in [json!({"state": "COMPLETED"}), json!({"status": "DREAMING"})] {
        scripts.push(Script { status: json_reply(200, status), ..Script::default() });
    }
    for (code, body) in [(500, json!({})), (503, json!({})), (429, json!({})), (200, json!([]))] {
        scripts.push(Script { result: json_reply(code, body), ..Script::default() });
    }
    for file in [Hang, Close, json_reply(404, json!({})), json_reply(500, json!({}))] {
        scripts.push(Script { file, ..Script::default() });
    }
    for script in scripts {
        let provider = TestProvider::start(script.clone()).await;
        let begun = Instant::now();
        let progress = submit_and_poll(&provider, &request()).await;
        assert!(progress.is_err(), "{script:?}: {progress:?}");
        assert!(begun.elapsed() < Duration::from_secs(10), "{script:?}");
        let mut heads: Vec<_> = provider.received().into_iter().map(|seen| seen.head).collect();
        let sent = heads.len();
        heads.dedup();
        assert_eq!(heads.len(), sent, "{script:?}: one attempt a poll");
    }
}

#[tokio::test]
async fn a_request_that_failed_fails_with_its_reason() {
    let no_type = "an output is not of a type that is asked for";
    let no_address = "an output has no address of the web";
    let error = |error: Value| json_reply(200, json!({"status": "COMPLETED", "error": error}));
    let detail =
        json!({"detail": [{"loc": ["body", "prompt"], "msg": "not allowed", "type": "x"}]});
    let mut rows = Vec::new();
    for (status, reason) in [
        (error(json!("out of memory")), "out of memory"),
        (error(json!({"message": "out of memory"})), "out of memory"),
        (json_reply(200, json!({"status": "FAILED", "error": "no memory"})), "no memory"),
        (json_reply(404, json!({"detail": "no such request"})), "no such request (status 404)"),
        (Body(410, "text/html", "Gone".into()), "the provider answered with status 410"),
    ] {
        rows.push((Script { status, ..Script::default() }, reason));
    }
    for (code, result, reason) in [
        (422, detail, "not allowed (status 422)"),
        (200, json!({"error": format!("boom {KEY}")}), "boom …"),
        (200, json!({}), "the provider was done and sent nothing"),
        (200, json!({"images": []}), "the provider was done and sent nothing"),
        (200, json!({"images": [1]}), "the provider was done and sent nothing"),
        (200, json!({"video": {"url": "x"}}), "the provider was done and sent nothing"),
        (200, json!({"images": [{"url": "1.png"}]}), no_address),
        (200, json!({"images": [{"url": "ftp://127.0.0.1/1.png"}]}), no_address),
        (200, json!({"images": [{"url": "file:///etc/passwd"}]}), no_address),
        (200, json!({"images": [{"url": "data:image/png;base64,AA"}]}), no_address),
    ] {
        rows.push((Script { result: json_reply(code, result), ..Script::default() }, reason));
    }
    for (file, reason) in [
        (file("text/html", picture()), no_type),
        (file("image/png", "<script>alert(1)</script>"), no_type),
        (file("image/svg+xml", "<svg/>"), no_type),
        (file("video/mp4", MP4), no_type),
        (file("image/png", &b"\x89PNG\r\n\x1a\n"[..]), "an output cannot be read"),
        (EndlessZeros, "an output is larger than 1 MiB"),
        (Redirect("http://127.0.0.1:1/".to_owned()), "the address of an output redirects"),
    ] {
        rows.push((Script { file, ..Script::default() }, reason));
    }
    for (mut script, expected) in rows {
        if expected == "an output cannot be read" {
            script.result = json_reply(200, json!({"images": [{"url": "ORIGIN/1.png"}]}));
        }
        match poll(script.clone()).await {
            Ok(Progress::Failed(reason)) => assert_eq!(reason, expected, "{script:?}"),
            other => panic!("{script:?}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_declared_type_that_says_nothing_is_accepted() {
    for kind in ["image/jpg", "application/octet-stream", "IMAGE/PNG; charset=binary"] {
        let progress = poll(Script { file: file(kind, picture()), ..Script::default() }).await;
        assert!(matches!(progress, Ok(Progress::Completed(_))), "{kind}: {progress:?}");
    }
}

#[tokio::test]
async fn outputs_are_downloaded_from_public_addresses_only_unless_configured() {
    let storage = TestProvider::start(Script::default()).await;
    let url = format!("{}/1.png", storage.origin);
    let result = json_reply(200, json!({"images": [{"url": url}]}));
    let provider = TestProvider::start(Script { result, ..Script::default() }).await;
    let Ok(Progress::Failed(reason)) = submit_and_poll(&provider, &request()).await else {
        panic!("it did not fail");
    };
    assert_eq!(reason, "an output is at an address that is not public");
    assert_eq!(storage.received().len(), 0);

    let allowing = client(setting(&provider.origin).with_private_outputs());
    let ticket = allowing.submit(&request()).await.unwrap();
    let progress = allowing.poll(&ticket, &request()).await;
    assert!(matches!(progress, Ok(Progress::Completed(_))), "{progress:?}");
    assert_eq!(storage.received()[0].key, None);
}

#[tokio::test]
async fn the_key_is_in_no_error_and_no_log() {
    let log = Log::default();
    let _guard = log.subscribe();
    tracing::trace!("the log is read");
    poll(Script::default()).await.unwrap();
    let refusal = json_reply(500, json!({"detail": format!("Key {KEY}")}));
    let poll = poll(Script { status: refusal.clone(), ..Script::default() }).await.unwrap_err();
    let provider = TestProvider::start(Script { submission: refusal, ..Script::default() }).await;
    let submission = provider.client().submit(&request()).await.unwrap_err();
    let text = format!("{poll:?} {poll} {submission:?} {submission} {}", log.text());
    assert!(text.contains("the log is read") && !text.contains("the-provider-key"), "{text}");
}
