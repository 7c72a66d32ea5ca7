//! The client against a provider on a real socket that also misbehaves.

mod fal;

use std::time::{Duration, Instant};

use bytes::Bytes;
use data_encoding::BASE64;
use http::Method;
use http::header::AUTHORIZATION;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::client::QueueProvider;
use super::*;
use crate::blobs::Blobs;
use crate::domain::{GenerationRequest, JobRecord, Media, OutputKind, ProviderTicket};
use crate::generate::PollError::{self, Permanent, Transient};
use crate::generate::output::WaitsFor;
use crate::generate::tests::{Log, output_store, png, queued_job};
use crate::generate::{Progress, Provider, SubmitError};
use crate::limits::PROVIDER_RETRY_AFTER_MAX;

const KEY: &str = "the-provider-key-id:the-provider-key-secret";
const MP4: &[u8] = b"\0\0\0\x10ftypisom\0\0\0\0";

#[derive(Clone, Debug)]
enum Reply {
    /// In the text `ORIGIN` stands for the address of the provider.
    Json(u16, Value),
    Other(ResponseTemplate),
}

use Reply::{Json, Other};

fn file(content_type: &str, bytes: impl Into<Vec<u8>>) -> Reply {
    Other(ResponseTemplate::new(200).set_body_raw(bytes, content_type))
}

/// More than any limit.
fn zeros() -> Reply {
    file("image/png", vec![0; 2 << 20])
}

fn hang() -> Reply {
    Other(ResponseTemplate::new(200).set_delay(Duration::from_secs(60)))
}

fn redirect(to: &str) -> ResponseTemplate {
    ResponseTemplate::new(302).insert_header("location", to)
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
            submission: Json(200, submission),
            status: Json(200, json!({"status": "COMPLETED"})),
            result: Json(200, json!({"images": images})),
            file: file("image/png", png(32, 18)),
        }
    }
}

fn submission(submission: Reply) -> Script {
    Script { submission, ..Script::default() }
}

fn status(status: Reply) -> Script {
    Script { status, ..Script::default() }
}

fn result(result: Reply) -> Script {
    Script { result, ..Script::default() }
}

async fn start(script: Script) -> MockServer {
    let server = MockServer::start().await;
    let origin = server.uri();
    let respond = move |request: &wiremock::Request| {
        let reply = match request.url.path() {
            _ if request.method == Method::POST => &script.submission,
            "/acme/flux/requests/r-1/status" => &script.status,
            "/acme/flux/requests/r-1" => &script.result,
            _ => &script.file,
        };
        match reply.clone() {
            Json(status, body) => {
                let body = body.to_string().replace("ORIGIN", &origin);
                ResponseTemplate::new(status).set_body_raw(body, "application/json")
            }
            Other(response) => response,
        }
    };
    Mock::given(any()).respond_with(respond).mount(&server).await;
    server
}

async fn received(provider: &MockServer) -> Vec<wiremock::Request> {
    provider.received_requests().await.unwrap()
}

fn setting(url: &str) -> QueueSetting {
    let timeouts = [Duration::from_millis(1500); 2];
    QueueSetting { timeouts, ..QueueSetting::new(url, KEY).unwrap() }
}

fn client_of(provider: &MockServer) -> QueueProvider {
    QueueProvider::new(setting(&provider.uri())).unwrap()
}

fn request() -> GenerationRequest {
    GenerationRequest {
        model_id: "acme/flux/dev".into(),
        aspect_ratio: "16:9".into(),
        batch_count: 2,
        ..crate::generate::tests::request("a lighthouse")
    }
}

/// Type, width, height and bytes.
type Stored = (Media, u32, u32, Bytes);

/// Submits a request, polls once, and loads the outputs.
async fn run(provider: &MockServer, request: &GenerationRequest) -> Result<Vec<Stored>, PollError> {
    let client = client_of(provider);
    let ticket = client.submit(request).await.unwrap();
    load(&client, ticket, request).await
}

/// Polls and then loads the outputs, as a worker does.
async fn load(
    client: &QueueProvider,
    ticket: ProviderTicket,
    request: &GenerationRequest,
) -> Result<Vec<Stored>, PollError> {
    let progress = client.poll(&ticket, request).await?;
    let Progress::Completed { outputs, .. } = progress else { panic!("{progress:?}") };
    let store = output_store(Blobs::in_memory());
    let job = JobRecord { request: request.clone().into(), ..queued_job(ticket) };
    let mut files = Vec::new();
    for (at, output) in outputs.into_iter().enumerate() {
        let image = store.put(&job, at, output, &WaitsFor::new("")).await?;
        let name = store.assets.name_of(&image.source).unwrap();
        let bytes = store.blobs.read_all(&name).await.unwrap().unwrap();
        files.push((name.media(), image.width, image.height, bytes));
    }
    Ok(files)
}

async fn poll(script: Script) -> Result<Vec<Stored>, PollError> {
    run(&start(script).await, &request()).await
}

#[tokio::test]
async fn a_request_is_queued_in_progress_and_completed_with_its_images() {
    for (code, state) in [(202, "IN_QUEUE"), (202, "IN_PROGRESS"), (200, "COMPLETED")] {
        let body = json!({"status": state, "queue_position": 1, "logs": null});
        let provider = start(status(Json(code, body))).await;
        let client = client_of(&provider);
        let ticket = client.submit(&request()).await.unwrap();
        match (state, client.poll(&ticket, &request()).await.unwrap()) {
            ("IN_QUEUE", Progress::Queued) | ("IN_PROGRESS", Progress::InProgress) => {}
            ("COMPLETED", Progress::Completed { .. }) => {
                let files = load(&client, ticket, &request()).await.unwrap();
                // As many as were asked for.
                assert_eq!(files, vec![(Media::Png, 32, 18, png(32, 18)); 2]);
            }
            other => panic!("{other:?}"),
        }
        for (at, request) in received(&provider).await.iter().enumerate() {
            let path = request.url.path();
            let expected = if at == 0 { Method::POST } else { Method::GET };
            assert!(request.method == expected && (at > 0 || path == "/acme/flux/dev"), "{path}");
            let key = request.headers.get(AUTHORIZATION).map(|key| key.to_str().unwrap());
            let expected = (!path.ends_with(".png")).then(|| format!("Key {KEY}"));
            assert_eq!(key, expected.as_deref(), "{path}");
        }
    }
}

#[tokio::test]
async fn a_video_has_the_size_that_the_result_gives() {
    let video = json!({"url": "ORIGIN/1.mp4", "width": 1280, "height": 720});
    let script = result(Json(200, json!({"video": video})));
    let provider = start(Script { file: file("video/mp4", MP4), ..script }).await;
    let one = GenerationRequest { kind: OutputKind::Video, batch_count: 1, ..request() };
    let files = run(&provider, &one).await.unwrap();
    assert_eq!(files, [(Media::Mp4, 1280, 720, Bytes::from_static(MP4))]);

    let several = GenerationRequest { batch_count: 2, ..one };
    let error = client_of(&provider).submit(&several).await.unwrap_err();
    assert!(matches!(error, SubmitError::Refused(_)), "{error:?}");
}

#[tokio::test]
async fn a_model_id_leads_to_a_model_only() {
    let provider = start(Script::default()).await;
    let models = "|/|/acme|acme/|acme//flux|../admin|acme/../admin|acme/./flux|acme?x=y|acme#x|\
                  acme flux|acme%2f..|@evil.example|http://evil.example|acme\\flux|\
                  acme/flux/requests/r-1/cancel";
    for model in models.split('|') {
        let request = GenerationRequest { model_id: model.into(), ..request() };
        let error = client_of(&provider).submit(&request).await.unwrap_err();
        assert!(matches!(error, SubmitError::Refused(_)), "{model}: {error:?}");
    }
    assert_eq!(received(&provider).await.len(), 0);
}

/// What is certain after a submission.
fn outcome(error: &SubmitError) -> &'static str {
    match error {
        SubmitError::Refused(_) => "refused",
        SubmitError::NotAuthorized(_) => "not authorized",
        SubmitError::Unavailable(_) | SubmitError::Busy(..) => "unavailable",
        SubmitError::Unknown(_) => "unknown",
    }
}

#[tokio::test]
async fn a_submission_is_sent_once_and_its_outcome_is_what_is_certain() {
    let detail = || json!({"detail": [{"loc": ["body"], "msg": format!("no, {KEY}")}]});
    let mut rows = Vec::new();
    for (statuses, expected) in [
        (&[400, 404, 422][..], "refused"),
        (&[401, 402, 403], "not authorized"),
        (&[429, 503], "unavailable"),
        (&[307, 408, 500, 502, 504], "unknown"),
    ] {
        rows.extend(statuses.iter().map(|status| (Json(*status, detail()), expected)));
    }
    let unusable = [
        hang(),
        zeros(),
        file("text/html", "<h1>Hello</h1>"),
        Json(200, json!([])),
        Json(200, json!({"request_id": 7, "status_url": 8, "response_url": 9})),
        Json(200, json!({"request_id": "r".repeat(257)})),
    ];
    rows.extend(unusable.map(|reply| (reply, "unknown")));
    for (reply, expected) in rows {
        let script = submission(reply);
        let provider = start(script.clone()).await;
        let error = client_of(&provider).submit(&request()).await.unwrap_err();
        assert_eq!(outcome(&error), expected, "{script:?}: {error:?}");
        assert_eq!(received(&provider).await.len(), 1, "{script:?}");
        assert!(!format!("{error:?}").contains("the-provider-key"), "{error:?}");
        if let SubmitError::Refused(reason) | SubmitError::NotAuthorized(reason) = &error {
            assert!(reason.contains("no, …"), "{reason}");
        }
    }
    // Nothing listens, or what listens does not speak TLS.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let provider = start(Script::default()).await;
    for url in [closed, provider.uri().replace("http:", "https:")] {
        let error = QueueProvider::new(setting(&url)).unwrap().submit(&request()).await;
        assert_eq!(outcome(&error.unwrap_err()), "unavailable", "{url}");
    }
    assert_eq!(received(&provider).await.len(), 0);
}

#[tokio::test]
async fn the_time_to_wait_is_read_from_a_response() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT";
    for (after, wait) in [
        ("17", Some(17)),
        ("Sun, 06 Nov 1994 08:49:57 GMT", Some(20)),
        ("Sun, 06 Nov 1994 08:48:57 GMT", None),
        ("99999999", Some(99_999_999)),
        ("soon", None),
        ("-1", None),
    ] {
        for code in [429, 503] {
            let busy = ResponseTemplate::new(code).insert_header("retry-after", after);
            let busy = || Other(busy.clone().insert_header("date", date));
            let provider = start(submission(busy())).await;
            let expected = wait.map(Duration::from_secs);
            match client_of(&provider).submit(&request()).await.unwrap_err() {
                SubmitError::Busy(_, given) => {
                    assert_eq!(Some(given), expected.map(|at| at.min(PROVIDER_RETRY_AFTER_MAX)));
                }
                SubmitError::Unavailable(_) => assert_eq!(expected, None, "{after}"),
                other => panic!("{other:?}"),
            }
            for script in [status(busy()), result(busy())] {
                match poll(script).await {
                    Err(Transient { retry_after, .. }) => assert_eq!(retry_after, expected),
                    other => panic!("{other:?}"),
                }
            }
        }
    }
}

#[tokio::test]
async fn outputs_in_the_result_itself_are_loaded_and_give_their_memory_back() {
    let small = png(32, 18);
    let base64 = BASE64.encode(&small);
    let percent = percent_encoding::percent_encode(&small, percent_encoding::NON_ALPHANUMERIC);
    for (url, is_small) in [
        (format!("data:image/png;base64,{base64}"), true),
        (format!("DATA:;Base64,{}", base64.trim_end_matches('=')), true),
        (format!("data:image/png;base64,{}", base64.replace('+', "%2B")), true),
        (format!("data:image/png,{percent}"), true),
        (format!("data:image/png;base64, {}", base64.replace('a', "a\n")), true),
        // More than the limit of the store.
        (format!("data:image/png;base64,{}", BASE64.encode(&[0; 2 << 20])), false),
    ] {
        let provider = start(result(Json(200, json!({"images": [{"url": url}, url]})))).await;
        let client = client_of(&provider);
        let used = || client.setting.results.usage().used;
        let ticket = client.submit(&request()).await.unwrap();
        let held = client.poll(&ticket, &request()).await.unwrap();
        assert_eq!(used() == 0, is_small, "only large ones take a part");
        drop(held);
        assert_eq!(used(), 0);
        match load(&client, ticket, &request()).await {
            Ok(files) => assert_eq!(files, vec![(Media::Png, 32, 18, small.clone()); 2]),
            Err(error) => {
                assert!(!is_small && error.to_string() == "an output is larger than 1 MiB");
            }
        }
    }
}

#[tokio::test]
async fn the_key_is_sent_to_no_other_host() {
    let other = start(Script::default()).await;
    let provider = start(status(Other(redirect(&other.uri())))).await;
    run(&provider, &request()).await.unwrap_err();
    // Tickets from before the operator changed the provider.
    let urls = json!({"status": format!("{}/s", other.uri()), "response": "http://a.example/"});
    for state in [urls.to_string(), "2026-01-01T00:00:00Z".to_owned()] {
        let ticket = ProviderTicket { request_id: "r".into(), provider_state: state.into() };
        let error = client_of(&provider).poll(&ticket, &request()).await.unwrap_err();
        assert!(matches!(error, Transient { .. }), "{error:?}");
    }
    assert_eq!(received(&other).await.len(), 0);
}

/// Failed responses that come from the model itself, and not from a proxy on the way to it.
fn errors_of_models() -> [Reply; 3] {
    let memory = || ResponseTemplate::new(500).set_body_json(json!({"detail": "out of memory"}));
    let of_body = json!({"detail": "out of memory", "error_type": "runner_server_error"});
    [
        Other(memory().insert_header("x-fal-request-id", "r-1")),
        Other(memory().insert_header("x-fal-error-type", "runner_server_error")),
        Json(500, of_body),
    ]
}

#[tokio::test]
async fn a_poll_that_may_succeed_later_is_an_error() {
    let mut scripts: Vec<_> = [hang(), zeros(), file("text/html", "<h1>Hello</h1>")].into();
    for code in [401, 402, 403, 429, 500, 502, 503] {
        scripts.push(Json(code, json!({"detail": "later"})));
    }
    for state in [json!({"state": "COMPLETED"}), json!({"status": "DREAMING"})] {
        scripts.push(Json(200, state));
    }
    // Only a result can be the model's own error.
    scripts.extend(errors_of_models());
    let mut scripts: Vec<_> = scripts.into_iter().map(status).collect();
    for (code, body) in [
        (500, json!({})),
        (503, json!({})),
        (429, json!({})),
        (200, json!([])),
        // An error of a proxy.
        (500, json!({"detail": "out of memory"})),
    ] {
        scripts.push(result(Json(code, body)));
    }
    for file in [hang(), Json(404, json!({})), Json(500, json!({}))] {
        scripts.push(Script { file, ..Script::default() });
    }
    for script in scripts {
        let provider = start(script.clone()).await;
        let begun = Instant::now();
        let outcome = run(&provider, &request()).await;
        assert!(matches!(outcome, Err(Transient { .. })), "{script:?}: {outcome:?}");
        assert!(begun.elapsed() < Duration::from_secs(10), "{script:?}");
        let sent = received(&provider).await;
        let is_repeated = sent.windows(2).any(|two| two[0].url == two[1].url);
        assert!(!is_repeated, "{script:?}: one attempt a poll");
    }
}

#[tokio::test]
async fn a_request_that_failed_fails_with_its_reason() {
    let no_type = "an output is not of a type that is asked for";
    let no_address = "an output: no http or https address";
    let no_image = "the provider's result has no image that can be read";
    let not_public = "an output: 127.0.0.1 is not a public address";
    let no_data = "an output in a data: address cannot be read";
    let error = |error: Value| Json(200, json!({"status": "COMPLETED", "error": error}));
    let gone = Other(ResponseTemplate::new(410).set_body_string("Gone"));
    let mut rows: Vec<_> = [
        (error(json!("out of memory")), "out of memory"),
        (error(json!({"message": "out of memory"})), "out of memory"),
        (Json(200, json!({"status": "FAILED", "error": "no memory"})), "no memory"),
        (Json(404, json!({"detail": "no such request"})), "no such request (status 404)"),
        (gone, "the provider answered with status 410"),
    ]
    .map(|(reply, reason)| (status(reply), reason))
    .into();
    let detail =
        json!({"detail": [{"loc": ["body", "prompt"], "msg": "not allowed", "type": "x"}]});
    let image = |url: &str| json!({"images": [{"url": url}]});
    for (code, body, reason) in [
        (422, detail, "not allowed (status 422)"),
        (200, json!({"error": format!("boom {KEY}")}), "boom …"),
        (200, json!({}), no_image),
        (200, json!({"images": []}), no_image),
        (200, json!({"images": [1]}), no_image),
        (200, json!({"video": {"url": "x"}}), no_image),
        (200, image("1.png"), no_address),
        (200, image("ftp://127.0.0.1/1.png"), no_address),
        (200, image("file:///etc/passwd"), no_address),
        (200, image("data:image/png;base64,AA"), no_type),
        (200, image("data:image/png;base64,!!"), no_data),
        (200, image("data:image/png;base64"), no_data),
    ] {
        rows.push((result(Json(code, body)), reason));
    }
    rows.extend(errors_of_models().map(|reply| (result(reply), "out of memory (status 500)")));
    for (file, reason) in [
        (file("image/png", "<script>alert(1)</script>"), no_type),
        (file("image/svg+xml", "<svg/>"), no_type),
        (file("video/mp4", MP4), no_type),
        (file("image/png", &b"\x89PNG\r\n\x1a\n\0\0\0\0"[..]), "an output cannot be read"),
        (zeros(), "an output is larger than 1 MiB"),
        (Other(redirect("http://127.0.0.1:1/")), not_public),
    ] {
        rows.push((Script { file, ..result(Json(200, image("ORIGIN/1.png"))) }, reason));
    }
    for (script, expected) in rows {
        let outcome = poll(script.clone()).await;
        assert_eq!(outcome, Err(Permanent(expected.to_owned())), "{script:?}");
    }
}

#[tokio::test]
async fn outputs_are_downloaded_from_public_addresses_only_unless_configured() {
    let storage = start(Script::default()).await;
    let url = format!("{}/1.png", storage.uri());
    let provider = start(result(Json(200, json!({"images": [{"url": url}]})))).await;
    for (private_outputs, requests) in [(false, 0), (true, 1)] {
        let setting = QueueSetting { private_outputs, ..setting(&provider.uri()) };
        let client = QueueProvider::new(setting).unwrap();
        let ticket = client.submit(&request()).await.unwrap();
        let outcome = load(&client, ticket, &request()).await;
        assert_eq!(outcome.is_ok(), private_outputs, "{outcome:?}");
        let sent = received(&storage).await;
        assert_eq!(sent.len(), requests);
        assert!(sent.iter().all(|sent| !sent.headers.contains_key(AUTHORIZATION)));
    }
}

#[tokio::test]
async fn the_key_is_in_no_error_and_no_log() {
    let log = Log::default();
    let _guard = log.subscribe();
    tracing::trace!("the log is read");
    poll(Script::default()).await.unwrap();
    let refusal = Json(500, json!({"detail": format!("Key {KEY}")}));
    let poll = poll(status(refusal.clone())).await.unwrap_err();
    let provider = start(submission(refusal)).await;
    let submission = client_of(&provider).submit(&request()).await.unwrap_err();
    let text = format!("{poll:?} {poll} {submission:?} {submission} {}", log.text());
    assert!(text.contains("the log is read") && !text.contains("the-provider-key"), "{text}");

    let setting = QueueSetting::new("https://a.example", "id-of-key:secret-of-key").unwrap();
    let shown = format!("{setting:?} {:?}", setting.authorization);
    assert!(!shown.contains("of-key"), "{shown}");
    let client = QueueProvider::new(setting).unwrap();
    let redacted = client.redact("no id-of-key:secret-of-key, id-of-key or secret-of-key");
    assert_eq!(redacted, "no …, … or …");
}

#[test]
fn only_a_plain_web_address_and_a_key_that_a_header_can_hold_are_accepted() {
    for url in ["http://127.0.0.1:9", "https://queue.fal.run", "https://a.example/q/"] {
        assert!(QueueSetting::new(url, "k").is_ok(), "{url}");
    }
    for url in
        ["", "queue.fal.run", "ftp://a.example", "https://u@a.example", "https://a.example/?q"]
    {
        assert_eq!(QueueSetting::new(url, "k").unwrap_err(), QueueSettingError::Url, "{url}");
    }
    for key in ["", "two words", "line\nbreak", "schlüssel"] {
        let error = QueueSetting::new("https://a.example", key).unwrap_err();
        assert_eq!(error, QueueSettingError::Key);
        assert!(key.is_empty() || !error.to_string().contains(key));
    }
}

#[test]
fn the_origin_is_all_of_scheme_host_and_port() {
    let setting = QueueSetting::new("https://a.example/queue", "k").unwrap();
    let client = QueueProvider::new(setting).unwrap();
    for (url, same) in [
        ("https://a.example/anything", true),
        ("https://a.example:443/", true),
        ("http://a.example/", false),
        ("https://a.example:444/", false),
        ("https://b.a.example/", false),
        ("https://a.example.org/", false),
        ("https://a.example@evil.example/", false),
        ("https://user@a.example/", false),
        ("data:text/plain,a", false),
    ] {
        assert_eq!(client.is_same_origin(&Url::parse(url).unwrap()), same, "{url}");
    }
}
