//! The client against a provider on a real socket that also misbehaves.

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
use super::protocol::output_files;
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
async fn a_request_is_queued_in_progress_and_completed_or_cancelled_with_the_key() {
    for (code, state) in [(202, "IN_QUEUE"), (202, "IN_PROGRESS"), (200, "COMPLETED")] {
        let body = json!({"status": state, "queue_position": 1, "logs": null});
        let provider = start(status(Json(code, body))).await;
        let client = client_of(&provider);
        let ticket = client.submit(&request()).await.unwrap();
        client.cancel(&ticket).await.unwrap();
        match (state, client.poll(&ticket, &request()).await.unwrap()) {
            ("IN_QUEUE", Progress::Queued) | ("IN_PROGRESS", Progress::InProgress) => {}
            ("COMPLETED", Progress::Completed { provider_state: Some(provider_state), .. }) => {
                // The addresses of outputs outlive the result. As many as were asked for.
                let before = received(&provider).await.len();
                let ticket = ProviderTicket { provider_state, ..ticket };
                let files = load(&client, ticket, &request()).await.unwrap();
                assert_eq!(files, vec![(Media::Png, 32, 18, png(32, 18)); 2]);
                assert_eq!(received(&provider).await.len(), before + 2);
            }
            other => panic!("{other:?}"),
        }
        for (at, request) in received(&provider).await.iter().enumerate() {
            let (path, method) = (request.url.path(), request.method.as_str());
            match at {
                0 => assert_eq!((method, path), ("POST", "/acme/flux/dev")),
                1 => assert_eq!((method, path), ("PUT", "/acme/flux/requests/r-1/cancel")),
                _ => assert_eq!(method, "GET", "{path}"),
            }
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

/// What a submission has come to is the name of its error.
#[tokio::test]
async fn a_submission_is_sent_once_and_its_outcome_is_what_is_certain() {
    let detail = || json!({"detail": [{"loc": ["body"], "msg": format!("no, {KEY}")}]});
    let mut rows = Vec::new();
    for (statuses, expected) in [
        (&[400, 404, 422][..], "Refused(\"no, …"),
        (&[401, 402, 403], "NotAuthorized(\"no, …"),
        (&[429, 503], "Unavailable"),
        (&[307, 408, 500, 502, 504], "Unknown"),
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
    rows.extend(unusable.map(|reply| (reply, "Unknown")));
    for (reply, expected) in rows {
        let script = submission(reply);
        let provider = start(script.clone()).await;
        let error = format!("{:?}", client_of(&provider).submit(&request()).await.unwrap_err());
        assert!(error.starts_with(expected), "{script:?}: {error}");
        assert!(!error.contains("the-provider-key"), "{error}");
        assert_eq!(received(&provider).await.len(), 1, "{script:?}");
    }
    // Nothing listens, or what listens does not speak TLS.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let provider = start(Script::default()).await;
    for url in [closed, provider.uri().replace("http:", "https:")] {
        let error = QueueProvider::new(setting(&url)).unwrap().submit(&request()).await;
        assert!(matches!(error, Err(SubmitError::Unavailable(_))), "{url}: {error:?}");
    }
    assert_eq!(received(&provider).await.len(), 0);
}

#[tokio::test]
async fn the_time_to_wait_is_read_from_a_response() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT";
    for (code, after, wait) in [
        (429, "17", Some(17)),
        (503, "Sun, 06 Nov 1994 08:49:57 GMT", Some(20)),
        (503, "Sun, 06 Nov 1994 08:48:57 GMT", None),
        (429, "99999999", Some(99_999_999)),
        (429, "soon", None),
        (429, "-1", None),
    ] {
        let busy = ResponseTemplate::new(code).insert_header("retry-after", after);
        let busy = || Other(busy.clone().insert_header("date", date));
        let (provider, wait) = (start(submission(busy())).await, wait.map(Duration::from_secs));
        let given = match client_of(&provider).submit(&request()).await.unwrap_err() {
            SubmitError::Busy(_, given) => Some(given),
            SubmitError::Unavailable(_) => None,
            other => panic!("{other:?}"),
        };
        assert_eq!(given, wait.map(|wait| wait.min(PROVIDER_RETRY_AFTER_MAX)), "{after}");
        for script in [status(busy()), result(busy())] {
            let Err(Transient { retry_after, .. }) = poll(script).await else { panic!("{after}") };
            assert_eq!(retry_after, wait, "{after}");
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
        let files = load(&client, ticket, &request()).await;
        assert_eq!(files.is_ok(), is_small);
        assert!(!is_small || files.unwrap() == vec![(Media::Png, 32, 18, small.clone()); 2]);
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

const NO_TYPE: Option<&str> = Some("an output is not of a type that is asked for");
const NOT_PUBLIC: Option<&str> = Some("an output: 127.0.0.1 is not a public address");

/// Files that a result leads to, with the reason for which they cannot be used.
fn outputs() -> [(Reply, Option<&'static str>); 9] {
    [
        (hang(), None),
        (Json(404, json!({})), None),
        (Json(500, json!({})), None),
        (file("image/png", "<script>alert(1)</script>"), NO_TYPE),
        (file("image/svg+xml", "<svg/>"), NO_TYPE),
        (file("video/mp4", MP4), NO_TYPE),
        (file("image/png", &b"\x89PNG\r\n\x1a\n\0\0\0\0"[..]), Some("an output cannot be read")),
        (zeros(), Some("an output is larger than 1 MiB")),
        (Other(redirect("http://127.0.0.1:1/")), NOT_PUBLIC),
    ]
}

/// Each row with the reason that the caller is shown, or `None` if the poll may succeed later.
#[tokio::test]
async fn a_poll_fails_for_ever_with_a_reason_or_may_succeed_later() {
    let no_address = Some("an output: no http or https address");
    let no_image = Some("the provider's result has no image that can be read");
    let no_data = Some("an output in a data: address cannot be read");
    let memory = Some("out of memory");
    let html = || file("text/html", "<h1>Hello</h1>");
    let error = |error: Value| Json(200, json!({"status": "COMPLETED", "error": error}));
    let gone = Other(ResponseTemplate::new(410).set_body_string("Gone"));
    let mut rows: Vec<_> = [
        (hang(), None),
        (zeros(), None),
        (html(), None),
        (Json(200, json!({"state": "COMPLETED"})), None),
        (Json(200, json!({"status": "DREAMING"})), None),
        (error(json!("out of memory")), memory),
        (error(json!({"message": "out of memory"})), memory),
        (Json(200, json!({"status": "FAILED", "error": "no memory"})), Some("no memory")),
        (Json(404, json!({"detail": "no such request"})), Some("no such request (status 404)")),
        (gone, Some("the provider answered with status 410")),
    ]
    .map(|(reply, reason)| (status(reply), reason))
    .into();
    // Only a result can be the model's own error.
    let later = [401, 402, 403, 429, 500, 502, 503].map(|code| Json(code, json!({"detail": "x"})));
    rows.extend(later.into_iter().chain(errors_of_models()).map(|reply| (status(reply), None)));
    let of_models = Some("out of memory (status 500)");
    rows.extend(errors_of_models().map(|reply| (result(reply), of_models)));
    let detail =
        json!({"detail": [{"loc": ["body", "prompt"], "msg": "not allowed", "type": "x"}]});
    let image = |url: &str| json!({"images": [{"url": url}]});
    for (code, body, reason) in [
        (429, json!({}), None),
        (500, json!({}), None),
        (503, json!({}), None),
        (200, json!([]), None),
        // An error of a proxy.
        (500, json!({"detail": "out of memory"}), None),
        (422, detail, Some("not allowed (status 422)")),
        (200, json!({"error": format!("boom {KEY}")}), Some("boom …")),
        (200, json!({}), no_image),
        (200, json!({"images": []}), no_image),
        (200, json!({"images": [1]}), no_image),
        (200, json!({"video": {"url": "x"}}), no_image),
        (200, image("1.png"), no_address),
        (200, image("ftp://127.0.0.1/1.png"), no_address),
        (200, image("file:///etc/passwd"), no_address),
        (200, image("data:image/png;base64,AA"), NO_TYPE),
        (200, image("data:image/png;base64,!!"), no_data),
        (200, image("data:image/png;base64"), no_data),
    ] {
        rows.push((result(Json(code, body)), reason));
    }
    for (file, reason) in outputs() {
        rows.push((Script { file, ..result(Json(200, image("ORIGIN/1.png"))) }, reason));
    }
    for (script, expected) in rows {
        let (provider, begun) = (start(script.clone()).await, Instant::now());
        match (run(&provider, &request()).await, expected) {
            (Err(Transient { .. }), None) => {}
            (Err(Permanent(reason)), Some(expected)) => assert_eq!(reason, expected, "{script:?}"),
            (outcome, _) => panic!("{script:?}: {outcome:?}"),
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "{script:?}");
        let sent = received(&provider).await;
        let is_repeated = sent.windows(2).any(|two| two[0].url == two[1].url);
        assert!(!is_repeated, "{script:?}: one attempt a poll");
    }
}

#[tokio::test]
async fn the_key_is_in_no_error_and_no_log() {
    let (log, _guard) = Log::start();
    tracing::trace!("the log is read");
    poll(Script::default()).await.unwrap();
    let refusal = Json(500, json!({"detail": format!("Key {KEY}")}));
    let poll = poll(status(refusal.clone())).await.unwrap_err();
    let provider = start(submission(refusal)).await;
    let client = client_of(&provider);
    let submission = client.submit(&request()).await.unwrap_err();
    let setting = format!("{:?} {:?}", client.setting, client.setting.authorization);
    let text = format!("{poll:?} {poll} {submission:?} {submission} {setting} {}", log.text());
    assert!(text.contains("the log is read") && !text.contains("the-provider-key"), "{text}");
    let redacted = client.redact(&format!("no {KEY}, {}", KEY.replace(':', " or ")));
    assert_eq!(redacted, "no …, … or …");
}

#[test]
fn only_a_plain_web_address_and_a_key_that_a_header_can_hold_are_accepted() {
    const URL: Option<&str> = Some("provider_url");
    const BAD_KEY: Option<&str> = Some("provider_key");
    let (local, fal) = ("http://127.0.0.1:9", "https://queue.fal.run");
    for (url, key, error) in [
        (local, "k", None),
        ("https://a.example/q/", "k", None),
        ("", "k", URL),
        ("queue.fal.run", "k", URL),
        ("ftp://a.example", "k", URL),
        ("https://u@a.example", "k", URL),
        ("https://a.example/?q", "k", URL),
        (fal, "", BAD_KEY),
        (fal, "two words", BAD_KEY),
        (fal, "line\nbreak", BAD_KEY),
        (fal, "schlüssel", BAD_KEY),
    ] {
        assert_eq!(QueueSetting::new(url, key).err().map(|(which, _)| which), error, "{url} {key}");
    }
}

#[test]
fn the_origin_is_all_of_scheme_host_and_port() {
    let client = QueueProvider::new(setting("https://a.example/queue")).unwrap();
    let own = "https://a.example/anything https://a.example:443/";
    let others = "http://a.example/ https://a.example:444/ https://b.a.example/ \
                  https://a.example.org/ https://a.example@evil.example/ \
                  https://user@a.example/ data:text/plain,a";
    for (urls, is_same) in [(own, true), (others, false)] {
        for url in urls.split_whitespace() {
            assert_eq!(client.is_same_origin(&Url::parse(url).unwrap()), is_same, "{url}");
        }
    }
}

#[tokio::test]
async fn a_submission_with_addresses_of_another_origin_is_polled_below_the_configured_one() {
    let foreign = json!({
        "request_id": "r 1",
        "status_url": "https://queue.fal.example/acme/flux/requests/r/status",
        "response_url": "https://queue.fal.example/acme/flux/requests/r",
    });
    let (log, guard) = Log::start();
    for body in [foreign, json!({"request_id": "r 1"})] {
        let provider = start(submission(Json(200, body))).await;
        let client = QueueProvider::new(setting(&format!("{}/queue/", provider.uri()))).unwrap();
        let ticket = client.submit(&request()).await.unwrap();
        assert_eq!(&*ticket.request_id, "r 1");
        // The double has a picture at every other path.
        client.poll(&ticket, &request()).await.unwrap_err();
        client.cancel(&ticket).await.unwrap();
        let sent = received(&provider).await;
        let paths: Vec<_> = sent.iter().map(|sent| sent.url.path()).collect();
        let own = |last: &str| format!("/queue/acme/flux/requests/r%201/{last}");
        assert_eq!(paths, ["/queue/acme/flux/dev", &own("status"), &own("cancel")]);
    }
    drop(guard);
    let log = log.text();
    let lines = log.lines().filter(|line| line.contains("WARN"));
    assert_eq!(lines.filter(|line| line.contains("below --provider-url")).count(), 2, "{log}");
}

#[test]
fn outputs_are_read_in_every_form_that_models_give_them() {
    let (url, file) = (json!("https://a.example/1"), json!({"url": "https://a.example/1"}));
    for (kind, one, many) in
        [(OutputKind::Image, "image", "images"), (OutputKind::Video, "video", "videos")]
    {
        for (value, name) in
            [&url, &file].into_iter().flat_map(|v| [one, many, "output"].map(|n| (v, n)))
        {
            for result in [json!({name: value}), json!({name: [value]})] {
                let files = output_files(result.to_string().as_bytes(), kind).unwrap();
                let urls: Vec<_> = files.iter().map(|file| &*file.url).collect();
                assert_eq!(urls, ["https://a.example/1"], "{result}");
            }
        }
    }
}

/// `ELSEWHERE` stands for another private address.
#[tokio::test]
async fn an_output_is_followed_over_redirects_with_the_same_checks_and_without_the_key() {
    let provider = MockServer::start().await;
    let private = start(Script::default()).await;
    let elsewhere = format!("{}/1.png", private.uri());
    let away = elsewhere.clone();
    let respond = move |request: &wiremock::Request| match request.url.path() {
        "/hops/0" => ResponseTemplate::new(200).set_body_raw(png(32, 18), "image/png"),
        "/away" => redirect(&away),
        "/file" => redirect("file:///etc/passwd"),
        "/unchanged" => ResponseTemplate::new(304),
        path => {
            let left: u32 = path.rsplit('/').next().unwrap().parse().unwrap();
            redirect(&format!("{}", left - 1))
        }
    };
    Mock::given(any()).respond_with(respond).mount(&provider).await;
    for (private_outputs, path, expected) in [
        (false, "ORIGIN/hops/0", None),
        (false, "ORIGIN/hops/1", None),
        (false, "ORIGIN/hops/5", None),
        (false, "ORIGIN/hops/6", Some("the address of an output redirects too often")),
        (false, "ORIGIN/away", NOT_PUBLIC),
        (false, "ELSEWHERE", NOT_PUBLIC),
        (false, "ORIGIN/file", Some("an output: no http or https address")),
        (false, "ORIGIN/unchanged", Some("an output: status 304")),
        (true, "ORIGIN/away", None),
        (true, "ELSEWHERE", None),
    ] {
        let url = provider.uri();
        let path = path.replace("ORIGIN", &url).replace("ELSEWHERE", &elsewhere);
        let outputs = [json!({ "url": path })];
        let state = json!({"status": url, "response": url, "outputs": outputs}).to_string();
        let ticket = ProviderTicket { request_id: "r".into(), provider_state: state.into() };
        let client = QueueProvider::new(QueueSetting { private_outputs, ..setting(&url) }).unwrap();
        let error = load(&client, ticket, &request()).await.err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), expected, "{path}");
    }
    let sent = received(&private).await;
    assert_eq!(sent.len(), 2);
    assert!(sent.iter().all(|sent| !sent.headers.contains_key(AUTHORIZATION)));
}
