//! Calls of endpoints that this crate does not know, with the same authentication, retries and
//! errors.

use std::borrow::Cow;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::call::endpoint;
use super::reply::{Reply, request_id};
use super::request::Request;
use super::{Client, Error};

impl Client {
    /// Calls an endpoint that this crate does not know, by its path after the base URL, such as
    /// `/prompts/7`. The path is sent as it is, so encode what needs it; query parameters go into
    /// [`query`](RawRequest::query).
    ///
    /// Authentication, timeouts, retries and errors are those of every call.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// #[derive(serde::Deserialize)]
    /// struct Usage {
    ///     prompts: u64,
    /// }
    ///
    /// let answer = client.get("/usage").query("month", "2026-11").await?;
    /// let usage: Usage = answer.data()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn request(&self, method: Method, path: impl Into<String>) -> RawRequest {
        let (query, body) = (Vec::new(), None);
        let raw = Raw { method, path: path.into(), query, body, idempotent: false };
        RawRequest { context: self.context(), raw }
    }

    /// `GET` of any path; see [`request`](Self::request).
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// let usage: serde_json::Value = client.get("/usage").await?.data()?;
    /// assert_eq!(usage["prompts"], 12);
    /// # Ok(())
    /// # }
    /// ```
    pub fn get(&self, path: impl Into<String>) -> RawRequest {
        self.request(Method::GET, path)
    }

    /// `POST` to any path; see [`request`](Self::request).
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// let vault = serde_json::json!({ "vaultId": 3 });
    /// client.post("/prompts/7/save").json(&vault).idempotent().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn post(&self, path: impl Into<String>) -> RawRequest {
        self.request(Method::POST, path)
    }

    /// `PUT` to any path; see [`request`](Self::request).
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// let limit = serde_json::json!({ "prompts": 100 });
    /// client.put("/usage/limit").json(&limit).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn put(&self, path: impl Into<String>) -> RawRequest {
        self.request(Method::PUT, path)
    }

    /// `PATCH` of any path; see [`request`](Self::request).
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// let change = serde_json::json!({ "title": "Dawn" });
    /// client.patch("/prompts/7").json(&change).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn patch(&self, path: impl Into<String>) -> RawRequest {
        self.request(Method::PATCH, path)
    }

    /// `DELETE` of any path; see [`request`](Self::request).
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// client.delete("/usage/limit").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete(&self, path: impl Into<String>) -> RawRequest {
        self.request(Method::DELETE, path)
    }
}

/// The arguments of a raw call. `Debug` shows neither the values of the query nor the body, which
/// may hold secrets.
#[derive(Clone)]
struct Raw {
    method: Method,
    path: String,
    query: Vec<(String, String)>,
    body: Option<Result<Bytes, String>>,
    idempotent: bool,
}

endpoint! {
    /// A call of any endpoint; returned by [`Client::request`].
    RawRequest { raw: Raw } -> RawResponse,
    |call| call.raw.request(),
    |_, reply| reply.accepted().map(|reply| RawResponse(reply.detached()))
}

/// The request.
impl RawRequest {
    /// Adds a query parameter.
    #[expect(clippy::needless_pass_by_value, reason = "numbers and texts are given as they are")]
    pub fn query(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.raw.query.push((name.into(), value.to_string()));
        self
    }

    /// Sends this as JSON. If it cannot be serialized, sending fails with [`Error::is_input`].
    pub fn json(mut self, body: &impl Serialize) -> Self {
        let written = serde_json::to_vec(body).map(Bytes::from);
        self.raw.body = Some(written.map_err(|source| source.to_string()));
        self
    }

    /// Says that the request is idempotent, so that it is retried as a `GET` is.
    pub const fn idempotent(mut self) -> Self {
        self.raw.idempotent = true;
        self
    }
}

impl std::fmt::Debug for Raw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let query: Vec<_> = self.query.iter().map(|(name, _)| name).collect();
        f.debug_struct("Raw")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("query", &query)
            .finish_non_exhaustive()
    }
}

impl Raw {
    fn request(&self) -> Result<Request, Error> {
        check(&self.path)
            .map_err(|problem| Error::input(format!("the path of the call {problem}")))?;
        let path = Cow::Owned(self.path.clone());
        let mut request = Request::new(self.method.clone(), self.path.clone(), path);
        for (name, value) in &self.query {
            request = request.query(name.clone(), Some(value));
        }
        match &self.body {
            None => {}
            Some(Ok(body)) => request.body = Some(body.clone()),
            Some(Err(problem)) => {
                let text = format!("the body of the request cannot be serialized: {problem}");
                return Err(Error::input(text));
            }
        }
        Ok(if self.idempotent { request.idempotent() } else { request })
    }
}

/// The API key is sent with the call, so the path must not lead out of the base URL.
fn check(path: &str) -> Result<(), &'static str> {
    if !path.starts_with('/') {
        return Err("has to begin with a slash");
    }
    if path.contains(['?', '#']) {
        return Err("holds a query or a fragment; a query goes into `query`");
    }
    if path.contains('\\') || path.bytes().any(|byte| byte.is_ascii_control()) {
        return Err("holds a character no path has");
    }
    let plain = path.to_ascii_lowercase().replace("%2e", ".");
    if plain.split('/').any(|segment| matches!(segment, "." | "..")) {
        return Err("holds a segment of dots, which leads elsewhere");
    }
    Ok(())
}

/// A response with a success status, not decoded.
///
/// ```
/// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
/// let answer = client.get("/usage").await?;
/// println!("{} (request id {:?})", answer.status(), answer.request_id());
/// let whole: serde_json::Value = answer.json()?;
/// assert_eq!(whole["data"]["prompts"], 12);
/// # Ok(())
/// # }
/// ```
pub struct RawResponse(Reply);

impl RawResponse {
    /// The status; one of success.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        self.0.status
    }

    /// All headers.
    #[must_use]
    pub const fn headers(&self) -> &HeaderMap {
        &self.0.headers
    }

    /// The id of the request in the logs of the service (`x-request-id`).
    #[must_use]
    pub fn request_id(&self) -> Option<String> {
        request_id(&self.0.headers)
    }

    /// The body.
    #[must_use]
    pub const fn bytes(&self) -> &Bytes {
        &self.0.body
    }

    /// The `data` of the envelope.
    ///
    /// # Errors
    ///
    /// [`Error::is_decode`], naming the place that cannot be decoded.
    pub fn data<T: DeserializeOwned>(self) -> Result<T, Error> {
        self.0.data()
    }

    /// The whole body as JSON.
    ///
    /// # Errors
    ///
    /// [`Error::is_decode`], naming the place that cannot be decoded.
    pub fn json<T: DeserializeOwned>(self) -> Result<T, Error> {
        self.0.whole()
    }
}

impl std::fmt::Debug for RawResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RawResponse")
            .field("status", &self.0.status)
            .field("request_id", &self.request_id())
            .field("bytes", &self.0.body.len())
            .finish_non_exhaustive()
    }
}
