//! Everything that is logged and traced at the most verbose level, and the texts of errors and
//! panics, while calls succeed and fail.

use std::cell::RefCell;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use log::{LevelFilter, Log, Metadata, Record};
use promptarium::{Asset, Client, Error, UploadSource, UploadedImage};
use serde_json::json;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use super::{MARK, client, shows_nothing, signed, slot};
use crate::listening::listen;
use crate::stub::{KEY, envelope, get, prompt};
use crate::uploads::all_of;

thread_local! {
    /// Log lines of this thread. The servers of the tests run on other threads, and log what
    /// they receive.
    static LOGGED: RefCell<Option<String>> = const { RefCell::new(None) };
}

struct Logger;

impl Log for Logger {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        keep(&format!("{} {}\n", record.target(), record.args()));
    }

    fn flush(&self) {}
}

fn keep(line: &str) {
    // A log line of a thread that ends is lost.
    let _ = LOGGED.try_with(|logged| {
        if let Some(logged) = logged.borrow_mut().as_mut() {
            logged.push_str(line);
        }
    });
}

/// Records log lines and panic messages of this thread from now on.
fn keep_all() {
    log::set_logger(&Logger).unwrap();
    log::set_max_level(LevelFilter::Trace);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        keep(&format!("{panic}\n"));
        before(panic);
    }));
    LOGGED.set(Some(String::new()));
}

/// A service and a storage that answer as the path says: `/404` with that status and a body that
/// quotes the whole request.
async fn quoting() -> MockServer {
    let server = MockServer::start().await;
    let (uri, elsewhere) = (server.uri(), signed("http", "127.0.0.1:1"));
    let answer = move |request: &Request| {
        let path = request.url.path();
        let quoted = format!("{} {:?}", request.url, quoted(request));
        match path.split('/').find_map(|segment| segment.parse::<u16>().ok()) {
            _ if path.ends_with("/uploads/images") => {
                ResponseTemplate::new(201).set_body_json(envelope(&slot(&format!("{uri}/200"))))
            }
            _ if path.ends_with("/prompts/7") => {
                ResponseTemplate::new(200).set_body_json(envelope(&prompt(7)))
            }
            _ if path.ends_with("/status") => ResponseTemplate::new(200)
                .set_body_json(envelope(&json!({ "clientJobId": "j", "status": "queued" }))),
            Some(302) => ResponseTemplate::new(302).insert_header("location", elsewhere.as_str()),
            Some(400) => ResponseTemplate::new(400).set_body_json(
                json!({ "data": null, "error": quoted, "details": { "q": quoted } }),
            ),
            Some(status) => ResponseTemplate::new(status).set_body_string(quoted),
            None => ResponseTemplate::new(200).set_body_json(json!({ "quoted": quoted })),
        }
    };
    Mock::given(any()).respond_with(answer).mount(&server).await;
    server
}

/// The headers of a request as text, which the server quotes.
fn quoted(request: &Request) -> Vec<String> {
    let header = |(name, value): (_, &http::HeaderValue)| {
        format!("{name}: {}", String::from_utf8_lossy(value.as_bytes()))
    };
    request.headers.iter().map(header).collect()
}

/// Calls that succeed, fail with a status, are quoted, redirected, or cannot be decoded.
async fn calls(client: &Client) -> Vec<Error> {
    let mut errors = Vec::new();
    get(client).header("x-secret", "s3cretHeader").await.unwrap();
    for status in [302, 400, 401, 404, 500, 503] {
        let call = client.get(format!("/{status}")).query("secret", "of no call");
        errors.push(call.await.unwrap_err());
        errors.push(client.post(format!("/{status}")).json(&"body").await.unwrap_err());
    }
    errors.push(client.vaults().list().await.unwrap_err());
    let answer = client.get("/200").await.unwrap();
    errors.push(answer.json::<Vec<u8>>().unwrap_err());
    errors.push(get(client).header("x-secret", "s3cret\nHeader").await.unwrap_err());
    errors.push(get(client).header("authorization", "s3cretHeader").await.unwrap_err());
    errors
}

async fn asset(client: &Client, url: String) -> Result<Asset, Error> {
    client.assets().download(url).timeout(Duration::from_secs(20)).await
}

async fn assets(client: &Client, host: &str) -> Vec<Error> {
    asset(client, signed("http", host)).await.unwrap();
    let mut errors = Vec::new();
    for host in ["127.0.0.1:1", &format!("{host}/302"), &format!("{host}/503")] {
        errors.push(asset(client, signed("http", host)).await.unwrap_err());
    }
    // It does not speak TLS.
    errors.push(asset(client, signed("https", host)).await.unwrap_err());
    errors.push(asset(client, format!("s3cret{host}?s3cret")).await.unwrap_err());
    // Accepts connections and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = signed("http", &silent.local_addr().unwrap().to_string());
    let soon = client.assets().download(url).timeout(Duration::from_millis(1));
    errors.push(soon.await.unwrap_err());
    errors
}

/// An upload to this storage.
async fn upload(storage: &str) -> Result<UploadedImage, Error> {
    let service = MockServer::start().await;
    let answer = ResponseTemplate::new(201).set_body_json(envelope(&slot(storage)));
    Mock::given(any()).respond_with(answer).mount(&service).await;
    client(&service.uri()).uploads().image(image()).await
}

fn image() -> UploadSource {
    UploadSource::bytes(&b"GIF89a......"[..])
}

async fn uploads(uri: &str) -> Vec<Error> {
    upload(&format!("{uri}/200")).await.unwrap();
    upload(&format!("{}/200", uri.replace("://", "://s3cretUser:s3cretPassword@"))).await.unwrap();
    let mut errors = Vec::new();
    for path in ["302", "400", "401", "403", "404"] {
        errors.push(upload(&format!("{uri}/{path}")).await.unwrap_err());
    }
    errors.push(client("http://127.0.0.1:1").uploads().image(image()).await.unwrap_err());
    errors.push(upload(&signed("http", "127.0.0.1:1")).await.unwrap_err());
    let odd = "s3cret of no use";
    errors.push(upload(odd).await.unwrap_err());
    errors.push(upload(&signed("https", &uri.replace("http://", ""))).await.unwrap_err());
    errors
}

/// Panics in callbacks of the caller.
async fn panics(client: &Client) {
    let told = |_| panic!("the caller's own fault");
    let upload = client.uploads().image(image()).on_progress(told).into_future();
    assert!(AssertUnwindSafe(upload).catch_unwind().await.is_err());
    let wait = client.generations().wait("j").on_change(|_| panic!("the caller's own fault"));
    assert!(AssertUnwindSafe(wait.into_future()).catch_unwind().await.is_err());
}

#[tokio::test]
async fn no_log_trace_error_or_panic_contains_a_secret() {
    keep_all();
    let (recorder, _guard) = listen();
    let server = quoting().await;
    let client = client(&server.uri());
    let mut errors = calls(&client).await;
    errors.extend(assets(&client, &server.address().to_string()).await);
    errors.extend(uploads(&server.uri()).await);
    panics(&client).await;

    let logged = LOGGED.take().unwrap();
    for said in ["reqwest", "the caller's own fault"] {
        assert!(logged.contains(said), "{said} is missing from {logged}");
    }
    shows_nothing(&logged);
    let traced = recorder.all();
    for said in ["promptarium INFO attempt", "hyper_util", "url.template: /prompts/{promptId}"] {
        assert!(traced.contains(said), "{said} is missing from {traced}");
    }
    shows_nothing(&traced);
    assert!(errors.len() > 25);
    for error in errors {
        shows_nothing(&all_of(&error));
        let body = error.body().unwrap_or_default();
        assert!(!String::from_utf8_lossy(body).contains(KEY), "{error}");
    }
    assert!(KEY.contains(MARK));
}
