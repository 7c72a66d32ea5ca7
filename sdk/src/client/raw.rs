//! Calls of endpoints that this crate does not know: the same sending, trying again
//! and errors, and an answer that is not looked into.

use std::borrow::Cow;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::call::{Call, Endpoint, sealed::Sealed};
use super::reply::{Reply, request_id};
use super::request::Request;
use super::{Client, Error};

/// A call of any endpoint; made by [`Client::request`]. `Debug` shows neither the
/// values of its query nor its body: they may hold anything.
#[derive(Clone)]
pub struct RawRequest {
    method: Method,
    path: String,
    query: Vec<(String, String)>,
    body: Option<Result<Bytes, String>>,
    repeatable: bool,
}

impl Client {
    /// Calls an endpoint that this crate does not know, by its path after the base
    /// URL, such as `/prompts/7`. What the path has to say of ids has to be encoded
    /// already; a query goes into [`query`](Call::query).
    ///
    /// Authentication, limits, trying again and errors are those of every call.
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
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn request(&self, method: Method, path: impl Into<String>) -> Call<RawRequest> {
        let path = path.into();
        self.call(RawRequest { method, path, query: Vec::new(), body: None, repeatable: false })
    }

    /// `GET` of any path; see [`request`](Self::request).
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// let usage: serde_json::Value = client.get("/usage").await?.data()?;
    /// assert_eq!(usage["prompts"], 12);
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn get(&self, path: impl Into<String>) -> Call<RawRequest> {
        self.request(Method::GET, path)
    }

    /// `POST` to any path; see [`request`](Self::request).
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// let vault = serde_json::json!({ "vaultId": 3 });
    /// client.post("/prompts/7/save").json(&vault).repeatable().await?;
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn post(&self, path: impl Into<String>) -> Call<RawRequest> {
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
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn put(&self, path: impl Into<String>) -> Call<RawRequest> {
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
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn patch(&self, path: impl Into<String>) -> Call<RawRequest> {
        self.request(Method::PATCH, path)
    }

    /// `DELETE` of any path; see [`request`](Self::request).
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// client.delete("/usage/limit").await?;
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn delete(&self, path: impl Into<String>) -> Call<RawRequest> {
        self.request(Method::DELETE, path)
    }
}

impl<M> Call<RawRequest, M> {
    /// Adds a query parameter.
    #[expect(clippy::needless_pass_by_value, reason = "numbers and texts are given as they are")]
    pub fn query(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.endpoint.query.push((name.into(), value.to_string()));
        self
    }

    /// Sends this as JSON. If it cannot be written as JSON, sending fails with
    /// [`Error::is_input`].
    pub fn json(mut self, body: &impl Serialize) -> Self {
        let written = serde_json::to_vec(body).map(Bytes::from);
        self.endpoint.body = Some(written.map_err(|source| source.to_string()));
        self
    }

    /// Says that sending it twice does no more than sending it once, so that it may be
    /// tried again as a `GET` is.
    pub const fn repeatable(mut self) -> Self {
        self.endpoint.repeatable = true;
        self
    }
}

impl std::fmt::Debug for RawRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let query: Vec<_> = self.query.iter().map(|(name, _)| name).collect();
        f.debug_struct("RawRequest")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("query", &query)
            .finish_non_exhaustive()
    }
}

impl Sealed for RawRequest {}

impl Endpoint for RawRequest {
    type Output = RawResponse;

    fn request(&self) -> Result<Request, Error> {
        check(&self.path)
            .map_err(|problem| Error::input(format!("the path of the call {problem}")))?;
        let mut request =
            Request::new(self.method.clone(), self.path.clone(), Cow::Owned(self.path.clone()));
        for (name, value) in &self.query {
            request = request.query(name.clone(), Some(value));
        }
        match &self.body {
            None => {}
            Some(Ok(body)) => request.body = Some(body.clone()),
            Some(Err(problem)) => {
                let text = format!("the body of the request cannot be written as JSON: {problem}");
                return Err(Error::input(text));
            }
        }
        Ok(if self.repeatable { request.harmless() } else { request })
    }

    fn read(reply: Reply) -> Result<RawResponse, Error> {
        reply.accepted().map(|reply| RawResponse(reply.apart()))
    }
}

/// The key goes with the call, so the path may not lead out of the base URL.
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

/// An answer of success that was not looked into.
///
/// ```
/// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
/// let answer = client.get("/usage").await?;
/// println!("{} (request id {:?})", answer.status(), answer.request_id());
/// let whole: serde_json::Value = answer.json()?;
/// assert_eq!(whole["data"]["prompts"], 12);
/// # Ok(())
/// # }
/// # promptarium::testing::demo::run(example);
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

    /// What the service calls the request in its own logs (`x-request-id`).
    #[must_use]
    pub fn request_id(&self) -> Option<String> {
        request_id(&self.0.headers)
    }

    /// The body as it came.
    #[must_use]
    pub const fn bytes(&self) -> &Bytes {
        &self.0.body
    }

    /// The `data` of the envelope (`EN-03`).
    ///
    /// # Errors
    ///
    /// [`Error::is_decode`], naming the place that cannot be read.
    pub fn data<T: DeserializeOwned>(self) -> Result<T, Error> {
        self.0.data()
    }

    /// The whole body, whatever its form.
    ///
    /// # Errors
    ///
    /// [`Error::is_decode`], naming the place that cannot be read.
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
