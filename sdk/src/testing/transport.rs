//! The script as a transport, the requests that it records, and its storage.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Method, Request, Response, Uri};
use serde_json::Value;

use super::script::Source;
use super::{ASSETS_URL, Answer, STORAGE_URL, Script, fixture};
use crate::transport::{Body, Failure, Transport};
use crate::{Asset, path};

/// The path of the API on its host, by the specification.
const API_ROOT: &str = "/api/v1";

/// A request that a [`Script`] received.
///
/// `Display` is one line, such as `GET /prompts?limit=2`, without the API key and the token of an
/// upload.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SeenRequest {
    /// The method.
    pub method: Method,
    /// The path after the base URL, such as `/prompts/7`; for a URL outside of the API all of it,
    /// without its query.
    pub path: String,
    /// The query parameters, decoded, in order.
    pub query: Vec<(String, String)>,
    /// The headers except `Authorization`.
    pub headers: HeaderMap,
    /// Whether the request had an `Authorization` header: the API key, or the token of an upload.
    pub authorized: bool,
    /// The body. Empty if there was none, or if the call was cancelled before all of it came.
    pub body: Bytes,
}

impl SeenRequest {
    fn of(request: &Request<Body>) -> Self {
        let mut headers = request.headers().clone();
        let authorized = headers.remove(AUTHORIZATION).is_some();
        let uri = request.uri();
        let query = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        let query = query.into_owned().collect();
        let (method, path) = (request.method().clone(), path_of(uri));
        Self { method, path, query, headers, authorized, body: Bytes::new() }
    }

    /// The value of a query parameter.
    #[must_use]
    pub fn query_value(&self, name: &str) -> Option<&str> {
        self.query.iter().find_map(|(found, value)| (found == name).then_some(value.as_str()))
    }

    /// The value of a header, if it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body as JSON; `null` if it is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// Any host may have the API, since the client may have any base URL.
fn path_of(uri: &Uri) -> String {
    match uri.path().strip_prefix(API_ROOT) {
        Some(path) if path.starts_with('/') => path.to_owned(),
        _ => uri.to_string().split('?').next().unwrap_or_default().to_owned(),
    }
}

impl fmt::Display for SeenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)?;
        for (index, (name, value)) in self.query.iter().enumerate() {
            write!(f, "{}{name}={value}", if index == 0 { '?' } else { '&' })?;
        }
        Ok(())
    }
}

impl Transport for Script {
    fn send(&self, request: Request<Body>) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
        let script = self.clone();
        Box::pin(async move {
            let (number, source) = script.record(SeenRequest::of(&request));
            if !matches!(&source, Source::Once(answer) if answer.refuses_connection()) {
                let body = request.into_body().collect().await?;
                script.state().seen[number].body = body;
            }
            let answer = match source {
                Source::Once(answer) => answer,
                Source::Always(answer) => {
                    let seen = script.state().seen[number].clone();
                    answer(&seen)
                }
            };
            answer.send().await
        })
    }
}

/// Files by the last segment of their URLs; without bytes before the upload.
type Files = HashMap<String, Asset>;

impl Script {
    /// Answers requests for upload slots, uploads to them, and downloads of what was uploaded.
    /// None is required.
    ///
    /// Failures are declared before it, as for any path:
    /// `script.put(format!("{STORAGE_URL}/{{name}}")).answer(Answer::error(403, "expired"))`.
    ///
    /// ```
    /// use promptarium::testing::{Script, client, fixture};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), promptarium::Error> {
    /// let script = Script::new();
    /// script.storage();
    /// let client = client(&script);
    /// let image = client.uploads().image(fixture::png()).await?;
    /// assert_eq!(client.assets().download(&image.url).await?.bytes, fixture::png());
    /// # Ok(()) }
    /// ```
    pub fn storage(&self) {
        let files = Arc::new(Mutex::new(Files::new()));
        for (method, path) in [
            (Method::POST, path::UPLOADS_IMAGES.to_owned()),
            (Method::PUT, format!("{STORAGE_URL}/{{name}}")),
            (Method::GET, format!("{ASSETS_URL}/{{name}}")),
        ] {
            let files = files.clone();
            self.on(method, path).always_with(move |request| {
                answer(&mut files.lock().unwrap_or_else(PoisonError::into_inner), request)
            });
        }
    }
}

fn answer(files: &mut Files, request: &SeenRequest) -> Answer {
    let name = request.path.rsplit('/').next().unwrap_or_default();
    match (request.method.as_str(), files.get_mut(name)) {
        ("POST", _) => slot(files, &request.json()),
        ("PUT", Some(file)) if file.bytes.is_empty() => {
            file.bytes = request.body.clone();
            Answer::data(&())
        }
        ("PUT", Some(_)) => Answer::error(403, "the slot was used"),
        ("PUT", None) => Answer::error(401, "no such slot"),
        (_, Some(file)) if !file.bytes.is_empty() => Answer::asset(file),
        _ => Answer::error(404, "no such file"),
    }
}

fn slot(files: &mut Files, wanted: &Value) -> Answer {
    let content_type = wanted["contentType"].as_str().unwrap_or_default();
    let extension = content_type.rsplit('/').next().unwrap_or_default();
    let name = format!("{}.{extension}", files.len() + 1);
    let slot = fixture::slot(&name, content_type, wanted["size"].as_u64().unwrap_or_default());
    let content_type = Some(content_type.to_owned());
    files.insert(name, Asset { content_type, bytes: Bytes::new() });
    Answer::data(&slot)
}
