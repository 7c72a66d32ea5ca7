//! Generations: submissions of unknown result, limits, clients that disconnect.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use promptarium::limits;
use promptarium_server::EmbeddedServer;
use promptarium_server::provider::{GenerationRequest, ProviderTicket};
use promptarium_server::provider::{PollError, Progress, Provider, SubmitError};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::support::TIMEOUT;
use crate::support::client::{Connection, Response, call, request};

/// Accepts or refuses requests after a delay, and never completes one.
pub(crate) struct SlowProvider {
    result: Result<(), SubmitError>,
    delay: Duration,
    pub(crate) submits: AtomicUsize,
}

impl SlowProvider {
    pub(crate) fn new(result: Result<(), SubmitError>, delay_ms: u64) -> Arc<Self> {
        let delay = Duration::from_millis(delay_ms);
        Arc::new(Self { result, delay, submits: AtomicUsize::new(0) })
    }
}

#[async_trait]
impl Provider for SlowProvider {
    async fn submit(&self, request: &GenerationRequest) -> Result<ProviderTicket, SubmitError> {
        let number = self.submits.fetch_add(1, Ordering::SeqCst);
        sleep(self.delay).await;
        assert_ne!(&*request.model_id, "local/panic", "a panic of the provider");
        self.result.clone()?;
        Ok(ProviderTicket {
            request_id: format!("r-{number}").into(),
            provider_state: "secret".into(),
        })
    }

    async fn poll(&self, _: &ProviderTicket, _: &GenerationRequest) -> Result<Progress, PollError> {
        Ok(Progress::InProgress)
    }
}

async fn server_with(provider: &Arc<SlowProvider>) -> EmbeddedServer {
    EmbeddedServer::builder().provider(provider.clone()).start().await.unwrap()
}

async fn generate(server: &EmbeddedServer, body: Value) -> Response {
    call(server, "POST", "/generations", Some(&body.to_string())).await
}

async fn status(server: &EmbeddedServer, path: &str) -> Value {
    let response = call(server, "GET", path, None).await;
    assert_eq!(response.status, 200, "{response:?}");
    response.json()["data"].clone()
}

#[tokio::test]
async fn a_submission_of_unknown_result_is_a_failed_job_and_not_repeated() {
    let unknown = SubmitError::Unknown("secret".to_owned());
    for (model, result) in [("local/panic", Ok(())), ("m", Err(unknown))] {
        let provider = SlowProvider::new(result, 0);
        let server = server_with(&provider).await;
        for _ in 0..2 {
            let body = json!({"modelId": model, "prompt": "p", "clientJobId": "j"});
            let response = generate(&server, body).await;
            assert_eq!(response.status, 502, "{response:?}");
            assert!(!response.body.contains("secret") && !response.body.contains("a panic"));
        }
        assert_eq!(provider.submits.load(Ordering::SeqCst), 1);
        let failed = status(&server, "/generations/j/status").await;
        assert_eq!(
            (&failed["status"], &failed["providerRequestId"]),
            (&json!("failed"), &Value::Null)
        );
        assert!(failed["error"].as_str().unwrap().contains("not known"), "{failed}");
    }
}

#[tokio::test]
async fn a_busy_provider_says_when_to_repeat_the_request() {
    let busy = SubmitError::Busy("secret".to_owned(), Duration::from_secs(17));
    let server = server_with(&SlowProvider::new(Err(busy), 0)).await;
    let body = json!({"modelId": "m", "prompt": "p", "clientJobId": "j"});
    let response = generate(&server, body).await;
    assert_eq!((response.status, response.header("retry-after")), (503, Some("17")));
    assert!(!response.body.contains("secret"));
    let status = call(&server, "GET", "/generations/j/status", None).await.status;
    assert_eq!(status, 404, "its name is free");
}

#[tokio::test]
async fn a_provider_that_refuses_the_service_is_no_fault_of_the_request() {
    let refusal = SubmitError::NotAuthorized("User is locked. Exhausted balance".to_owned());
    let server = server_with(&SlowProvider::new(Err(refusal), 0)).await;
    let response = generate(&server, json!({"modelId": "m", "prompt": "p"})).await;
    assert_eq!((response.status, response.header("retry-after").is_some()), (503, true));
    let text = "the provider does not accept requests of this service at the moment; nothing was \
                queued";
    assert_eq!(response.json()["error"], text);
}

#[tokio::test]
async fn a_job_says_what_it_waits_for() {
    let server = server_with(&SlowProvider::new(Ok(()), 0)).await;
    let body = json!({"modelId": "m", "prompt": "p", "clientJobId": "j"});
    assert_eq!(generate(&server, body).await.status, 202);
    assert_eq!(status(&server, "/generations/j/status").await["waitsFor"], "the provider");
}

#[tokio::test]
async fn texts_are_bounded() {
    let server = server_with(&SlowProvider::new(Ok(()), 0)).await;
    let url = |chars: usize| format!("https://a.example/{}", "é".repeat(chars - 18));
    let urls = limits::URL_CHARS_MAX;
    for (field, good, bad) in [
        ("modelId", json!("漢".repeat(256)), json!("m".repeat(257))),
        ("imageEditEndpointId", json!("m".repeat(256)), json!("m".repeat(257))),
        ("aspectRatio", json!("1".repeat(64)), json!("1".repeat(65))),
        ("imageInput", json!(url(urls)), json!(url(urls + 1))),
        ("imageInputs", json!([url(urls)]), json!([url(urls + 1)])),
        ("referenceImageUrls", json!([url(urls)]), json!([url(urls), url(urls + 1)])),
        ("clientJobId", json!("j".repeat(256)), json!("j".repeat(257))),
        ("clientJobId", json!("..."), json!(".")),
        ("clientJobId", json!("a.."), json!("..")),
    ] {
        for (value, status) in [(good, 202), (bad, 400)] {
            let mut body = json!({"modelId": "m", "prompt": "p"});
            body[field] = value;
            let response = generate(&server, body).await;
            assert_eq!(response.status, status, "{field}: {}", response.body);
            assert_eq!(response.json()["details"][field].is_string(), status == 400, "{field}");
        }
    }
}

#[tokio::test]
async fn parameters_are_bounded_in_depth_and_size() {
    let server = server_with(&SlowProvider::new(Ok(()), 0)).await;
    // `{"p":…}` is the first of the levels.
    let nested = |levels: usize| {
        let deep = (1..levels).fold(json!("x"), |inner, _| json!([inner]));
        json!({"modelId": "m", "prompt": "p", "parameters": {"p": deep}})
    };
    let sized = |bytes: usize| {
        let text = "x".repeat(bytes - r#"{"p":""}"#.len());
        json!({"modelId": "m", "prompt": "p", "parameters": {"p": text}})
    };
    let (depth, bytes) =
        (limits::GENERATION_PARAMETERS_DEPTH_MAX, limits::GENERATION_PARAMETERS_BYTES_MAX);
    for (body, refused) in [
        (nested(depth), None),
        (nested(depth + 1), Some("must be nested at most 64 levels deep, but has 65")),
        (nested(126), Some("must be nested at most 64 levels deep, but has 126")),
        (sized(bytes), None),
        (sized(bytes + 1), Some("must be at most 262144 bytes of JSON, but has 262145")),
    ] {
        let response = generate(&server, body).await;
        assert_eq!(response.status, if refused.is_some() { 400 } else { 202 }, "{refused:?}");
        assert_eq!(response.json()["details"]["parameters"].as_str(), refused);
    }
}

#[tokio::test]
async fn a_client_that_disconnects_finds_the_job_later() {
    let provider = SlowProvider::new(Ok(()), 300);
    let server = server_with(&provider).await;
    let body = r#"{"modelId":"m","prompt":"p","clientJobId":"j"}"#;
    let mut connection = Connection::to(&server).await;
    connection.send(request(server.api_key(), "POST", "/generations", Some(body))).await;
    while provider.submits.load(Ordering::SeqCst) == 0 {
        sleep(Duration::from_millis(5)).await;
    }
    drop(connection);
    let begun = Instant::now();
    while call(&server, "GET", "/generations/j/status", None).await.status == 404 {
        assert!(begun.elapsed() < TIMEOUT);
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(generate(&server, serde_json::from_str(body).unwrap()).await.status, 202);
    assert_eq!(provider.submits.load(Ordering::SeqCst), 1);
}
