//! The client against a provider on a real socket that also misbehaves.

mod answers;

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use data_encoding::BASE64;
use futures::TryStreamExt;
use http::Method;
use http::header::AUTHORIZATION;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::client::QueueProvider;
use super::protocol::{field_names, model_url, output_files};
use super::*;
use crate::domain::{GenerationRequest, OutputKind, ProviderTicket};
use crate::generate::PollError::{self, Transient};
use crate::generate::tests::{Log, png};
use crate::generate::{Progress, SubmitError};
use crate::limits::{PROVIDER_BUSY_WAIT, PROVIDER_RETRY_AFTER_MAX};

const KEY: &str = "the-provider-key-id:the-provider-key-secret";
fn reply(status: u16, body: Value) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(body)
}

/// More than any limit.
fn zeros() -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_raw(vec![0; 2 << 20], "image/png")
}

fn redirect(to: &str) -> ResponseTemplate {
    ResponseTemplate::new(302).insert_header("location", to)
}

/// A provider that completes a request with three pictures, but so replies to a part of it:
/// `submission`, `status`, `result` or `output`.
async fn start(part: &'static str, given: ResponseTemplate) -> MockServer {
    // Not one of the pool, which late requests of another test may reach.
    let server = MockServer::builder().start().await;
    let origin = server.uri();
    let respond = move |request: &wiremock::Request| {
        let (at, usual) = match request.url.path() {
            _ if request.method == Method::POST => {
                let url = format!("{origin}/acme/flux/requests/r-1");
                let [status, cancel] = ["status", "cancel"].map(|last| format!("{url}/{last}"));
                let urls = json!({"request_id": "r-1", "status_url": status, "response_url": url,
                    "cancel_url": cancel, "queue_position": 0});
                ("submission", urls)
            }
            "/acme/flux/requests/r-1/status" => ("status", json!({"status": "COMPLETED"})),
            "/acme/flux/requests/r-1" => {
                let url = |name| format!("{origin}/{name}.png");
                let sized = json!({"url": url(1), "width": 1, "height": 1});
                ("result", json!({"images": [sized, {"url": url(2)}, {"url": url(3)}]}))
            }
            _ if part == "output" => return given.clone(),
            _ => return ResponseTemplate::new(200).set_body_raw(png(32, 18), "image/png"),
        };
        if at == part { given.clone() } else { reply(200, usual) }
    };
    Mock::given(any()).respond_with(respond).mount(&server).await;
    server
}

async fn usual() -> MockServer {
    start("", ResponseTemplate::new(200)).await
}

async fn received(provider: &MockServer) -> Vec<wiremock::Request> {
    provider.received_requests().await.unwrap()
}

fn setting(url: &str) -> QueueSetting {
    QueueSetting::new(url, KEY).unwrap()
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

/// The size that the result gives, and the bytes.
type Loaded = (Option<(u32, u32)>, Bytes);

/// Submits a request, polls once, and loads the outputs.
async fn run(provider: &MockServer) -> Result<Vec<Loaded>, PollError> {
    let client = client_of(provider);
    let ticket = client.submit(&request()).await.unwrap();
    load(&client, &ticket).await
}

async fn load(client: &QueueProvider, ticket: &ProviderTicket) -> Result<Vec<Loaded>, PollError> {
    let progress = client.poll(ticket, &request()).await?;
    let Progress::Completed { outputs, .. } = progress else { panic!("{progress:?}") };
    let mut files = Vec::new();
    for output in outputs {
        files.push((output.size, output.bytes.try_collect::<BytesMut>().await?.freeze()));
    }
    Ok(files)
}

#[tokio::test]
async fn a_request_is_queued_in_progress_and_completed_or_cancelled_with_the_key() {
    for (code, state) in [(202, "IN_QUEUE"), (202, "IN_PROGRESS"), (200, "COMPLETED")] {
        let body = json!({"status": state, "queue_position": 1, "logs": null});
        let provider = start("status", reply(code, body)).await;
        let client = client_of(&provider);
        let ticket = client.submit(&request()).await.unwrap();
        client.cancel(&ticket).await.unwrap();
        match (state, client.poll(&ticket, &request()).await.unwrap()) {
            ("IN_QUEUE", Progress::Queued) | ("IN_PROGRESS", Progress::InProgress) => {}
            ("COMPLETED", Progress::Completed { provider_state: Some(provider_state), .. }) => {
                // The addresses of outputs outlive the result. As many as were asked for.
                let before = received(&provider).await.len();
                let ticket = ProviderTicket { provider_state, ..ticket };
                let files = load(&client, &ticket).await.unwrap();
                assert_eq!(files, [(Some((1, 1)), png(32, 18)), (None, png(32, 18))]);
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

#[test]
fn a_model_id_leads_to_a_model_only() {
    let models = "|/|/acme|acme/|acme//flux|../admin|acme/../admin|acme/./flux|acme?x=y|acme#x|\
                  acme flux|acme%2f..|@evil.example|http://evil.example|acme\\flux|\
                  acme/flux/requests/r-1/cancel";
    for model in models.split('|') {
        let request = GenerationRequest { model_id: model.into(), ..request() };
        assert!(model_url(&setting("http://a.example").url, &request).is_err(), "{model}");
    }
}

/// Nothing listens, or what listens does not speak TLS.
#[tokio::test]
async fn a_submission_that_reached_nobody_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let provider = usual().await;
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
        let busy = busy.insert_header("date", date);
        let provider = start("submission", busy.clone()).await;
        let wait = wait.map(Duration::from_secs);
        let outcome = client_of(&provider).submit(&request()).await;
        let Err(SubmitError::Busy(_, given)) = outcome else { panic!("{outcome:?}") };
        assert_eq!(
            given,
            wait.unwrap_or(PROVIDER_BUSY_WAIT).min(PROVIDER_RETRY_AFTER_MAX),
            "{after}"
        );
        let provider = start("status", busy).await;
        let Err(Transient { retry_after, .. }) = run(&provider).await else { panic!("{after}") };
        assert_eq!(retry_after, wait, "{after}");
    }
}

#[tokio::test]
async fn outputs_in_the_result_itself_are_loaded_and_give_their_memory_back() {
    let (small, large) = (png(32, 18), Bytes::from(vec![0; 2 << 20]));
    let base64 = BASE64.encode(&small);
    let percent = percent_encoding::percent_encode(&small, percent_encoding::NON_ALPHANUMERIC);
    for (url, is_small) in [
        (format!("data:image/png;base64,{base64}"), true),
        (format!("DATA:;Base64,{}", base64.trim_end_matches('=')), true),
        (format!("data:image/png;base64,{}", base64.replace('+', "%2B")), true),
        (format!("data:image/png,{percent}"), true),
        (format!("data:image/png;base64, {}", base64.replace('a', "a\n")), true),
        (format!("data:image/png;base64,{}", BASE64.encode(&large)), false),
    ] {
        let provider = start("result", reply(200, json!({"images": [{"url": url}, url]}))).await;
        let client = client_of(&provider);
        let used = || client.setting.results.usage().used;
        let ticket = client.submit(&request()).await.unwrap();
        let held = client.poll(&ticket, &request()).await.unwrap();
        assert_eq!(used() == 0, is_small, "only large ones take a part");
        drop(held);
        assert_eq!(used(), 0);
        let expected = if is_small { small.clone() } else { large.clone() };
        assert!(load(&client, &ticket).await.unwrap() == vec![(None, expected); 2], "{is_small}");
    }
}

#[tokio::test]
async fn the_key_is_sent_to_no_other_host() {
    let other = usual().await;
    let provider = start("status", redirect(&other.uri())).await;
    run(&provider).await.unwrap_err();
    // Tickets from before the operator changed the provider.
    let urls = json!({"status": format!("{}/s", other.uri()), "response": "http://a.example/"});
    for state in [urls.to_string(), "2026-01-01T00:00:00Z".to_owned()] {
        let ticket = ProviderTicket { request_id: "r".into(), provider_state: state.into() };
        let error = client_of(&provider).poll(&ticket, &request()).await.unwrap_err();
        assert!(matches!(error, Transient { .. }), "{error:?}");
    }
    assert_eq!(received(&other).await.len(), 0);
}

#[tokio::test]
async fn the_key_is_in_no_error_and_no_log() {
    let (log, _guard) = Log::start();
    tracing::trace!("the log is read");
    run(&usual().await).await.unwrap();
    let refusal = reply(500, json!({"detail": format!("Key {KEY}")}));
    let poll = run(&start("status", refusal.clone()).await).await.unwrap_err();
    let client = client_of(&start("submission", refusal).await);
    let submission = client.submit(&request()).await.unwrap_err();
    let text = format!("{poll:?} {submission:?} {:?} {}", client.setting, log.text());
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
        let provider = start("submission", reply(200, body)).await;
        let client = QueueProvider::new(setting(&format!("{}/queue/", provider.uri()))).unwrap();
        let ticket = client.submit(&request()).await.unwrap();
        assert_eq!(&*ticket.request_id, "r 1");
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
    let url = json!("https://a.example/1");
    for (kind, names) in [
        (OutputKind::Image, ["image", "images", "output"]),
        (OutputKind::Video, ["video", "videos", "output"]),
    ] {
        for (name, value) in
            names.iter().flat_map(|name| [(name, url.clone()), (name, json!({"url": url}))])
        {
            for result in [json!({*name: value}), json!({*name: [value]})] {
                let files = output_files(&mut result.clone(), kind).unwrap();
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
    let private = usual().await;
    let elsewhere = format!("{}/1.png", private.uri());
    let away = elsewhere.clone();
    let respond = move |request: &wiremock::Request| match request.url.path() {
        "/hops/0" => ResponseTemplate::new(200).set_body_raw(png(32, 18), "image/png"),
        "/away" => redirect(&away),
        "/file" => redirect("file:///etc/passwd"),
        "/named" => redirect("/hops/0?é"),
        path => match path.rsplit('/').next().unwrap().parse().unwrap() {
            left @ ..100_u16 => redirect(&format!("{}", left - 1)),
            status => ResponseTemplate::new(status),
        },
    };
    Mock::given(any()).respond_with(respond).mount(&provider).await;
    let not_public = Some("an output: 127.0.0.1 is not a public address");
    for (private_outputs, path, expected) in [
        (false, "ORIGIN/hops/0", None),
        (false, "ORIGIN/hops/1", None),
        (false, "ORIGIN/named", None),
        (false, "ORIGIN/hops/5", None),
        (false, "ORIGIN/hops/6", Some("the address of an output redirects too often")),
        (false, "ORIGIN/away", not_public),
        (false, "ELSEWHERE", not_public),
        (false, "ORIGIN/file", Some("an output: no http or https address")),
        (false, "ORIGIN/304", Some("an output cannot be fetched: status 304")),
        (true, "ORIGIN/away", None),
        (true, "ELSEWHERE", None),
    ] {
        let url = provider.uri();
        let path = path.replace("ORIGIN", &url).replace("ELSEWHERE", &elsewhere);
        let outputs = [json!({ "url": path })];
        let state = json!({"status": url, "response": url, "outputs": outputs}).to_string();
        let ticket = ProviderTicket { request_id: "r".into(), provider_state: state.into() };
        let client = QueueProvider::new(QueueSetting { private_outputs, ..setting(&url) }).unwrap();
        let error = load(&client, &ticket).await.err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), expected, "{path}");
    }
    let sent = received(&private).await;
    assert_eq!(sent.len(), 2);
    assert!(sent.iter().all(|sent| !sent.headers.contains_key(AUTHORIZATION)));
}

#[tokio::test]
async fn a_result_that_is_not_read_is_found_by_the_names_of_its_fields() {
    let result = json!({"data": {"images": []}, "image_url": "https://a.example/1", KEY: 1});
    let expected = format!("data, image_url, {KEY}");
    assert_eq!(field_names(&result), expected);
    let (log, guard) = Log::start();
    run(&start("result", reply(200, result)).await).await.unwrap_err();
    drop(guard);
    let log = log.text();
    let line = log.lines().find(|line| line.contains("no output can be read")).unwrap();
    assert!(line.contains("r-1") && line.contains("data, image_url, …"), "{line}");
    assert!(!log.contains("the-provider-key"), "{log}");
}

/// One of two pictures.
#[tokio::test]
async fn a_picture_of_the_safety_filter_is_told_from_the_others_in_each_poll() {
    let provider = usual().await;
    let image = |name: &str| json!({"url": format!("{}/{name}", provider.uri())});
    let result = json!({"images": [image("1"), image("2")], "has_nsfw_concepts": [true, false]});
    let provider = start("result", reply(200, result)).await;
    let client = client_of(&provider);
    let mut ticket = client.submit(&request()).await.unwrap();
    for _ in 0..2 {
        let progress = client.poll(&ticket, &request()).await.unwrap();
        let Progress::Completed { outputs, provider_state } = progress else { panic!() };
        let mut loaded = Vec::new();
        for output in outputs {
            loaded
                .push(output.bytes.try_collect::<Vec<_>>().await.map_err(|e| e.to_string()).err());
        }
        let filtered = "the provider's safety filter replaced the output".to_owned();
        assert_eq!(loaded[0], Some(filtered));
        assert_eq!(loaded.len(), 2);
        ticket.provider_state = provider_state.unwrap_or(ticket.provider_state);
    }
}
