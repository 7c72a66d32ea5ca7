//! The provider's client against a stand-in that also misbehaves.

use std::io::Cursor;
use std::time::{Duration, Instant};

use image::{ImageFormat, RgbImage};
use serde_json::{Value, json};

use super::stand_in::{Does, Seen, StandIn, answer, json as reply};
use super::*;
use crate::domain::Media;
use crate::outbound::AddressPolicy;

const KEY: &str = "the-provider-key-id:the-provider-key-secret";

fn request() -> GenerationRequest {
    GenerationRequest {
        model_id: "acme/flux/dev".into(),
        prompt: "a lighthouse".into(),
        aspect_ratio: "16:9".into(),
        batch_count: 2,
        ..GenerationRequest::default()
    }
}

fn setting(url: &str) -> QueueSetting {
    let mut setting = QueueSetting::new(url, KEY).unwrap();
    for limits in [&mut setting.submit_limits, &mut setting.poll_limits, &mut setting.output_limits]
    {
        limits.time = Duration::from_millis(1500);
    }
    setting
}

fn provider(url: &str) -> QueueProvider {
    QueueProvider::new(setting(url), Outbound::new(AddressPolicy::Any).unwrap())
}

fn picture(width: u32, height: u32) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    RgbImage::new(width, height).write_to(&mut file, ImageFormat::Png).unwrap();
    file.into_inner()
}

/// The answer to an request.
fn taken(origin: &str) -> Does {
    reply(
        200,
        &json!({
            "request_id": "r-1",
            "status_url": format!("{origin}/acme/flux/requests/r-1/status"),
            "response_url": format!("{origin}/acme/flux/requests/r-1"),
            "cancel_url": format!("{origin}/acme/flux/requests/r-1/cancel"),
            "queue_position": 0,
        }),
    )
}

/// A provider that takes orders and does something else for other requests.
async fn taking(otherwise: impl Fn(&Seen, &str) -> Does + Send + Sync + 'static) -> StandIn {
    StandIn::start(move |seen, origin| {
        if seen.head.starts_with("POST ") { taken(origin) } else { otherwise(seen, origin) }
    })
    .await
}

/// A provider whose requests have all completed with these outputs; `files` are
/// what is at their addresses.
async fn done(
    result: impl Fn(&str) -> Value + Send + Sync + 'static,
    files: impl Fn(&Seen) -> Does + Send + Sync + 'static,
) -> StandIn {
    taking(move |seen, origin| match &*seen.head {
        "GET /acme/flux/requests/r-1/status" => reply(200, &json!({"status": "COMPLETED"})),
        "GET /acme/flux/requests/r-1" => reply(200, &result(origin)),
        _ => files(seen),
    })
    .await
}

async fn polled(stand_in: &StandIn, request: &GenerationRequest) -> Result<Progress, PollError> {
    polled_by(&provider(&stand_in.origin), request).await
}

async fn polled_by(
    provider: &QueueProvider,
    request: &GenerationRequest,
) -> Result<Progress, PollError> {
    let ticket = provider.submit(request).await.unwrap();
    provider.poll(&ticket, request).await
}

async fn failure(stand_in: &StandIn, request: &GenerationRequest) -> String {
    match polled(stand_in, request).await {
        Ok(Progress::Failed(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

/// One picture at this path.
fn image_at(path: &'static str) -> impl Fn(&str) -> Value {
    move |origin| json!({"images": [{"url": format!("{origin}{path}")}]})
}

#[tokio::test]
async fn a_request_is_queued_in_progress_and_completed_with_its_images() {
    let states = [(202, "IN_QUEUE"), (202, "IN_PROGRESS"), (200, "COMPLETED")];
    for (at, (status, name)) in states.into_iter().enumerate() {
        let files = picture(32, 18);
        let stand_in = StandIn::start(move |seen, origin| match &*seen.head {
            "POST /acme/flux/dev" => taken(origin),
            "GET /acme/flux/requests/r-1/status" => {
                reply(status, &json!({"status": name, "queue_position": 1, "logs": null}))
            }
            "GET /acme/flux/requests/r-1" => reply(
                200,
                &json!({"images": [
                    {"url": format!("{origin}/1.png"), "width": 1, "height": 1},
                    {"url": format!("{origin}/2.png")},
                    {"url": format!("{origin}/3.png")},
                ]}),
            ),
            _ => answer(200, "image/png", files.clone()),
        })
        .await;
        let progress = polled(&stand_in, &request()).await.unwrap();
        match (at, progress) {
            (0, Progress::Queued) | (1, Progress::InProgress) => {}
            (2, Progress::Completed(outputs)) => {
                assert_eq!(outputs.len(), 2, "as many as were asked for");
                let first = &outputs[0];
                assert_eq!((first.media, first.width, first.height), (Media::Png, 32, 18));
                assert_eq!(first.bytes, picture(32, 18));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(stand_in.count("POST "), 1);
        for seen in stand_in.seen() {
            let expected = (!seen.head.ends_with(".png")).then(|| format!("Key {KEY}"));
            assert_eq!(seen.key, expected, "{}", seen.head);
        }
    }
}

#[tokio::test]
async fn all_fields_are_sent() {
    let stand_in = taking(|_, _| Does::Break).await;
    let request = GenerationRequest {
        negative_prompt: Some("people".into()),
        image_input: Some("https://a.example/a.png".into()),
        image_inputs: vec!["https://a.example/b.png".into()],
        reference_image_urls: vec!["https://a.example/c.png".into()],
        image_edit_endpoint_id: Some("acme/flux/edit".into()),
        parameters: json!({"steps": 20, "prompt": "another", "num_images": 9}).as_object().cloned(),
        ..request()
    };
    let url = format!("{}/queue/", stand_in.origin);
    provider(&url).submit(&request).await.unwrap();
    let seen = &stand_in.seen()[0];
    assert_eq!(seen.head, "POST /queue/acme/flux/edit");
    assert_eq!(
        serde_json::from_slice::<Value>(&seen.body).unwrap(),
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
    let mp4: &[u8] = b"\0\0\0\x10ftypisom\0\0\0\0";
    let result = |origin: &str| json!({"video": {"url": format!("{origin}/1.mp4"), "width": 1280, "height": 720}});
    let stand_in = done(result, move |_| answer(200, "video/mp4", mp4)).await;
    let request = GenerationRequest { kind: OutputKind::Video, batch_count: 1, ..request() };
    let Ok(Progress::Completed(outputs)) = polled(&stand_in, &request).await else {
        panic!("it did not complete");
    };
    let video = &outputs[0];
    assert_eq!((video.media, video.width, video.height), (Media::Mp4, 1280, 720));
    let body: Value = serde_json::from_slice(&stand_in.seen()[0].body).unwrap();
    assert_eq!(body.get("num_images"), None);

    let several = GenerationRequest { batch_count: 2, ..request };
    let error = provider(&stand_in.origin).submit(&several).await.unwrap_err();
    assert!(matches!(error, SubmitError::Refused(_)), "{error:?}");
}

#[tokio::test]
async fn a_model_id_leads_to_a_model_only() {
    let stand_in = taking(|_, _| Does::Break).await;
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
        let error = provider(&stand_in.origin).submit(&request).await.unwrap_err();
        assert!(matches!(error, SubmitError::Refused(_)), "{model}: {error:?}");
    }
    assert_eq!(stand_in.seen().len(), 0);
}

#[tokio::test]
async fn a_submission_that_was_not_accepted_is_refused_or_unavailable() {
    for (status, is_refused) in
        [(400, true), (401, true), (404, true), (422, true), (429, false), (503, false)]
    {
        let body = json!({"detail": [{"loc": ["body"], "msg": format!("no, {KEY}")}]});
        let stand_in = StandIn::start(move |_, _| reply(status, &body)).await;
        let error = provider(&stand_in.origin).submit(&request()).await.unwrap_err();
        match &error {
            SubmitError::Refused(reason) if is_refused => {
                assert!(reason.contains("no, …") || status == 401, "{reason}");
            }
            SubmitError::Unavailable(_) if !is_refused => {}
            other => panic!("{status}: {other:?}"),
        }
        assert!(!format!("{error:?}").contains("the-provider-key"), "{error:?}");
        assert_eq!(stand_in.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_provider_that_cannot_be_connected_to_is_unavailable() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    // Not there, and there without TLS.
    let stand_in = taking(|_, _| Does::Hang).await;
    for url in [origin, stand_in.origin.replace("http:", "https:")] {
        let error = provider(&url).submit(&request()).await.unwrap_err();
        assert!(matches!(error, SubmitError::Unavailable(_)), "{url}: {error:?}");
    }
    assert_eq!(stand_in.seen().len(), 0);
}

#[tokio::test]
async fn a_submission_that_may_have_been_accepted_is_unknown_and_sent_once() {
    let answers: [fn() -> Does; 12] = [
        || Does::Hang,
        || Does::Break,
        || Does::FloodWithZeros,
        || reply(500, &json!({"detail": "oops"})),
        || answer(502, "text/html", "<h1>Bad gateway</h1>"),
        || reply(504, &json!({})),
        || reply(408, &json!({})),
        || reply(307, &json!({})),
        || answer(200, "text/html", "<h1>Hello</h1>"),
        || reply(200, &json!([])),
        || reply(200, &json!({"request_id": "r-1"})),
        || reply(200, &json!({"request_id": 7, "status_url": 8, "response_url": 9})),
    ];
    for (at, act) in answers.into_iter().enumerate() {
        let stand_in = StandIn::start(move |_, _| act()).await;
        let error = provider(&stand_in.origin).submit(&request()).await.unwrap_err();
        assert!(matches!(error, SubmitError::Unknown(_)), "{at}: {error:?}");
        assert_eq!(stand_in.seen().len(), 1, "{at}");
    }
}

#[tokio::test]
async fn the_key_is_sent_to_no_other_host() {
    let thief = taking(|_, _| reply(200, &json!({"status": "IN_QUEUE"}))).await;
    let elsewhere = [thief.origin.clone(), thief.origin.replace("127.0.0.1", "localhost")];
    for other in elsewhere {
        for field in ["status_url", "response_url"] {
            let other = other.clone();
            let stand_in = StandIn::start(move |_, origin| {
                let mut body = json!({
                    "request_id": "r-1",
                    "status_url": format!("{origin}/status"),
                    "response_url": format!("{origin}/response"),
                });
                body[field] = json!(format!("{other}/status"));
                reply(200, &body)
            })
            .await;
            let error = provider(&stand_in.origin).submit(&request()).await.unwrap_err();
            assert!(matches!(error, SubmitError::Unknown(_)), "{error:?}");
        }
    }
    // A ticket from before the provider was changed.
    let memo =
        json!({"status": format!("{}/s", thief.origin), "response": format!("{}/r", thief.origin)});
    let ticket =
        ProviderTicket { request_id: "r-1".into(), provider_state: memo.to_string().into() };
    let stand_in = taking(|_, _| Does::Break).await;
    provider(&stand_in.origin).poll(&ticket, &request()).await.unwrap_err();
    // A status address that redirects.
    let location = thief.origin.clone();
    let stand_in = taking(move |_, _| {
        let answer = Response::builder().status(302).header("location", &location);
        Does::Answer(answer.body(Bytes::new()).unwrap())
    })
    .await;
    polled(&stand_in, &request()).await.unwrap_err();
    assert_eq!(thief.seen().len(), 0);
}

#[tokio::test]
async fn a_failed_status_request_is_an_error_that_may_pass() {
    let answers: [fn() -> Does; 11] = [
        || Does::Hang,
        || Does::Break,
        || Does::FloodWithZeros,
        || reply(429, &json!({})),
        || reply(500, &json!({})),
        || reply(502, &json!({})),
        || reply(503, &json!({})),
        || reply(401, &json!({"detail": "no"})),
        || answer(200, "text/html", "<h1>Hello</h1>"),
        || reply(200, &json!({"state": "COMPLETED"})),
        || reply(200, &json!({"status": "DREAMING"})),
    ];
    for (at, act) in answers.into_iter().enumerate() {
        let stand_in = taking(move |_, _| act()).await;
        let begun = Instant::now();
        let progress = polled(&stand_in, &request()).await;
        assert!(progress.is_err(), "{at}: {progress:?}");
        assert!(begun.elapsed() < Duration::from_secs(10), "{at}");
        assert_eq!(stand_in.count("GET "), 1, "{at}: one attempt a poll");
        assert_eq!(stand_in.count("POST "), 1, "{at}");
    }
}

#[tokio::test]
async fn a_request_that_failed_fails_with_its_reason() {
    for body in [
        json!({"status": "COMPLETED", "error": "out of memory", "error_type": "runner_error"}),
        json!({"status": "COMPLETED", "error": {"message": "out of memory"}}),
        json!({"status": "FAILED", "error": "out of memory"}),
    ] {
        let stand_in = taking(move |_, _| reply(200, &body)).await;
        assert_eq!(failure(&stand_in, &request()).await, "out of memory");
    }
    let stand_in = taking(|_, _| reply(404, &json!({"detail": "no such request"}))).await;
    assert_eq!(failure(&stand_in, &request()).await, "no such request (status 404)");
    let stand_in = taking(|_, _| answer(410, "text/html", "<h1>Gone</h1>")).await;
    assert_eq!(failure(&stand_in, &request()).await, "the provider answered with status 410");
}

#[tokio::test]
async fn a_result_that_is_an_error_fails_with_its_reason() {
    let with = |status: u16, body: Value| {
        taking(move |seen, _| match &*seen.head {
            "GET /acme/flux/requests/r-1/status" => reply(200, &json!({"status": "COMPLETED"})),
            _ => reply(status, &body),
        })
    };
    let refused =
        json!({"detail": [{"loc": ["body", "prompt"], "msg": "not allowed", "type": "x"}]});
    let stand_in = with(422, refused).await;
    assert_eq!(failure(&stand_in, &request()).await, "not allowed (status 422)");
    let stand_in = with(200, json!({"error": format!("boom {KEY}")})).await;
    assert_eq!(failure(&stand_in, &request()).await, "boom …");
    for nothing in
        [json!({}), json!({"images": []}), json!({"images": [1]}), json!({"video": {"url": "x"}})]
    {
        let stand_in = with(200, nothing).await;
        assert!(failure(&stand_in, &request()).await.contains("sent nothing"));
    }
    for status in [500, 503, 429] {
        let stand_in = with(status, json!({"detail": "later"})).await;
        polled(&stand_in, &request()).await.unwrap_err();
    }
    let stand_in = with(200, json!([])).await;
    polled(&stand_in, &request()).await.unwrap_err();
}

#[tokio::test]
async fn a_failed_download_is_an_error_that_may_pass() {
    let answers: [fn() -> Does; 4] =
        [|| Does::Hang, || Does::Break, || reply(404, &json!({})), || reply(500, &json!({}))];
    for (at, act) in answers.into_iter().enumerate() {
        let stand_in = done(image_at("/1.png"), move |_| act()).await;
        let progress = polled(&stand_in, &request()).await;
        assert!(progress.is_err(), "{at}: {progress:?}");
    }
}

#[tokio::test]
async fn an_output_of_a_wrong_type_fails() {
    let html = || answer(200, "text/html", picture(4, 4));
    let lies = || answer(200, "image/png", "<script>alert(1)</script>");
    let svg = || answer(200, "image/svg+xml", "<svg/>");
    let video = || answer(200, "video/mp4", &b"\0\0\0\x10ftypisom\0\0\0\0"[..]);
    let answers: [fn() -> Does; 4] = [html, lies, svg, video];
    for act in answers {
        let stand_in = done(image_at("/1.png"), move |_| act()).await;
        let reason = failure(&stand_in, &request()).await;
        assert!(reason.contains("type"), "{reason}");
    }
    for kind in ["image/jpg", "application/octet-stream", "IMAGE/PNG; charset=binary"] {
        let stand_in = done(image_at("/1"), move |_| answer(200, kind, picture(4, 4))).await;
        assert!(
            matches!(polled(&stand_in, &request()).await, Ok(Progress::Completed(_))),
            "{kind}"
        );
    }
    let broken = || answer(200, "image/png", &b"\x89PNG\r\n\x1a\n"[..]);
    let stand_in = done(image_at("/1.png"), move |_| broken()).await;
    assert!(failure(&stand_in, &request()).await.contains("cannot be read"));
}

#[tokio::test]
async fn an_output_that_is_too_large_fails() {
    let stand_in = done(image_at("/1.png"), |_| Does::FloodWithZeros).await;
    let mut setting = setting(&stand_in.origin);
    setting.output_limits.bytes = 1 << 20;
    let provider = QueueProvider::new(setting, Outbound::new(AddressPolicy::Any).unwrap());
    let Ok(Progress::Failed(reason)) = polled_by(&provider, &request()).await else {
        panic!("it did not fail");
    };
    assert_eq!(reason, "an output is larger than 1 MiB");
}

#[tokio::test]
async fn outputs_are_downloaded_from_public_addresses_only_unless_configured() {
    let storage = StandIn::start(|_, _| answer(200, "image/png", picture(4, 4))).await;
    let address = format!("{}/1.png", storage.origin);
    let result = move |_: &str| json!({"images": [{"url": address}]});
    let stand_in = done(result, |_| Does::Break).await;
    let reason = failure(&stand_in, &request()).await;
    assert!(reason.contains("not public"), "{reason}");
    assert_eq!(storage.seen().len(), 0);

    let setting = setting(&stand_in.origin).with_private_outputs();
    let allowing = QueueProvider::new(setting, Outbound::new(AddressPolicy::Any).unwrap());
    let progress = polled_by(&allowing, &request()).await;
    assert!(matches!(progress, Ok(Progress::Completed(_))), "{progress:?}");
    assert_eq!(storage.seen()[0].key, None);
}

#[tokio::test]
async fn an_output_url_that_is_invalid_or_redirects_fails() {
    for address in
        ["", "1.png", "ftp://127.0.0.1/1.png", "file:///etc/passwd", "data:image/png;base64,AA"]
    {
        let stand_in = done(move |_| json!({"images": [{"url": address}]}), |_| Does::Break).await;
        let reason = failure(&stand_in, &request()).await;
        assert!(reason.contains("address"), "{address}: {reason}");
    }
    let redirect = |_: &Seen| {
        let answer = Response::builder().status(302).header("location", "http://127.0.0.1:1/");
        Does::Answer(answer.body(Bytes::new()).unwrap())
    };
    let stand_in = done(image_at("/1.png"), redirect).await;
    assert!(failure(&stand_in, &request()).await.contains("redirects"));
}

#[tokio::test]
async fn the_key_is_in_no_text() {
    let stand_in = taking(|_, _| reply(500, &json!({"detail": format!("Key {KEY}")}))).await;
    let provider = provider(&stand_in.origin);
    let ticket = provider.submit(&request()).await.unwrap();
    let error = provider.poll(&ticket, &request()).await.unwrap_err();
    for text in [format!("{provider:?}"), format!("{ticket:?}"), format!("{error:?} {error}")] {
        assert!(!text.contains("the-provider-key"), "{text}");
    }
}

/// Writes into a text.
#[derive(Clone, Default)]
struct Log(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_key_is_in_no_log() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    tracing::trace!("the log is read");
    let stand_in = done(image_at("/1.png"), |_| answer(200, "image/png", picture(4, 4))).await;
    polled(&stand_in, &request()).await.unwrap();
    let stand_in =
        StandIn::start(|_, _| reply(500, &json!({"detail": format!("Key {KEY}")}))).await;
    provider(&stand_in.origin).submit(&request()).await.unwrap_err();
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("the log is read") && !log.contains("the-provider-key"), "{log}");
}

#[tokio::test]
async fn a_ticket_of_another_provider_is_an_error() {
    let provider = provider("http://127.0.0.1:1");
    let ticket =
        ProviderTicket { request_id: "a".into(), provider_state: "2026-01-01T00:00:00Z".into() };
    assert!(provider.poll(&ticket, &request()).await.is_err());
}
