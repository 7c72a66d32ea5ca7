//! Uploads: both requests, their errors, retries and secrets.

mod attempts;
mod files;
mod refusals;
mod sending;
mod slow;
mod sources;
mod streaming;

use std::sync::Mutex;

use promptarium::{Client, Error, UploadProgress, UploadSource, UploadedImage};
use serde_json::{Value, json};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::stub::{envelope, patient};

/// Bytes that begin as a PNG image does.
pub(crate) fn png(size: usize) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    bytes.extend((bytes.len()..size).map(|at| (at % 251) as u8));
    bytes
}

/// The slot of the `n`th request, for a storage at this address.
fn slot(storage: &str, n: usize, asked: &Value) -> Value {
    json!({
        "uploadUrl": format!("{storage}/put/{n}?signature=s3cretSignature{n}"),
        "token": format!("s3cretToken{n}"), "url": format!("https://cdn.example/{n}.png"),
        "path": format!("images/{n}.png"), "contentType": asked["contentType"],
        "size": asked["size"], "expiresIn": 7200,
    })
}

/// A service that answers with slots of this storage.
pub(crate) async fn giving_slots(
    storage: String,
    change: impl Fn(&mut Value) + Send + Sync + 'static,
) -> MockServer {
    let (server, given) = (MockServer::start().await, Mutex::new(0));
    let answer = move |request: &Request| {
        let mut given = given.lock().unwrap();
        *given += 1;
        let mut slot = slot(&storage, *given, &request.body_json().unwrap());
        change(&mut slot);
        ResponseTemplate::new(201).set_body_json(envelope(&slot))
    };
    Mock::given(any()).respond_with(answer).mount(&server).await;
    server
}

/// A storage that gives each `PUT` the next of these answers, and 200 after the last.
pub(crate) async fn storage(answers: Vec<ResponseTemplate>) -> MockServer {
    let (server, answers) = (MockServer::start().await, Mutex::new(answers.into_iter()));
    let answer = move |_: &Request| {
        answers.lock().unwrap().next().unwrap_or_else(|| ResponseTemplate::new(200))
    };
    Mock::given(any()).respond_with(answer).mount(&server).await;
    server
}

/// A service and its storage, a client, and the progress that was reported.
struct Servers {
    service: MockServer,
    storage: MockServer,
    client: Client,
    progress: Mutex<Vec<UploadProgress>>,
}

impl Servers {
    async fn new(answers: Vec<ResponseTemplate>) -> Self {
        let storage = storage(answers).await;
        let service = giving_slots(storage.uri(), |_| ()).await;
        let client = patient(service.uri()).build().unwrap();
        Self { service, storage, client, progress: Mutex::default() }
    }

    async fn upload(&self, source: impl Into<UploadSource>) -> Result<UploadedImage, Error> {
        let upload = self.client.uploads().image(source);
        upload.on_progress(|step| self.progress.lock().unwrap().push(step)).await
    }

    /// The number of requests to the service and to the storage.
    async fn traffic(&self) -> (usize, usize) {
        let count = async |server: &MockServer| server.received_requests().await.unwrap().len();
        (count(&self.service).await, count(&self.storage).await)
    }

    /// Attempt and bytes of each report.
    fn progress(&self) -> Vec<(u32, u64)> {
        let reports = self.progress.lock().unwrap();
        reports.iter().map(|report| (report.attempt, report.sent)).collect()
    }
}

/// Everything an error can show.
pub(crate) fn all_of(error: &Error) -> String {
    let mut text = format!("{error} {error:?} {error:#?}");
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        text += &format!(" {inner} {inner:?}");
        source = inner.source();
    }
    text
}
