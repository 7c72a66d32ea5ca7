//! Calls of endpoints that this crate does not know, with the same authentication, retries and
//! errors; and the response beside the value of any call.

use std::fmt;
use std::ops::Deref;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::methods::endpoint;
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
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// #[derive(serde::Deserialize)]
    /// struct Usage {
    ///     prompts: u64,
    /// }
    ///
    /// let answer = client.get("/usage").query("month", "2026-11").await?;
    /// let usage: Usage = answer.data()?;
    /// # Ok(()) }
    /// ```
    pub fn request(&self, method: Method, path: impl Into<String>) -> RawRequest {
        let path = path.into();
        let invalid = check(&path).err().map(|text| format!("the path of the call {text}"));
        let request = Request::new(method, path.clone(), path).invalid_if(invalid);
        RawRequest { context: self.context(), request }
    }
}

/// Declares the shorthands of [`Client::request`].
macro_rules! shorthands {
    ($($(#[$doc:meta])* $name:ident = $method:ident;)*) => {
        /// Calls of endpoints that this crate does not know; see [`request`](Self::request).
        impl Client {$(
            $(#[$doc])*
            pub fn $name(&self, path: impl Into<String>) -> RawRequest {
                self.request(Method::$method, path)
            }
        )*}
    };
}

shorthands! {
    /// `GET` of any path.
    get = GET;
    /// `POST` to any path.
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// let vault = serde_json::json!({ "vaultId": 3 });
    /// client.post("/prompts/7/save").json(&vault).idempotent().await?;
    /// # Ok(()) }
    /// ```
    post = POST;
    /// `PUT` to any path.
    put = PUT;
    /// `PATCH` of any path.
    patch = PATCH;
    /// `DELETE` of any path.
    delete = DELETE;
}

endpoint! {
    /// A call of any endpoint; returned by [`Client::request`].
    RawRequest { request: Request } -> RawResponse,
    |call| call.request.clone(),
    |_, reply| {
        let reply = reply.accepted()?.detached();
        Ok(RawResponse { meta: Meta::of(&reply), reply })
    }
}

/// The request.
impl RawRequest {
    /// Adds a query parameter.
    #[expect(clippy::needless_pass_by_value, reason = "numbers and texts are given as they are")]
    pub fn query(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.request = self.request.query(name.into(), Some(value.to_string()));
        self
    }

    /// Sends this as JSON. If it cannot be serialized, sending fails with [`Error::is_input`].
    pub fn json(mut self, body: &impl Serialize) -> Self {
        self.request = self.request.json(body);
        self
    }

    /// Says that the request is idempotent, so that it is retried as a `GET` is.
    pub fn idempotent(mut self) -> Self {
        self.request = self.request.idempotent();
        self
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
/// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
/// let answer = client.get("/usage").await?;
/// println!("{} (request id {:?})", answer.status(), answer.request_id());
/// let whole: serde_json::Value = answer.json()?;
/// assert_eq!(whole["data"]["prompts"], 12);
/// # Ok(()) }
/// ```
pub struct RawResponse {
    reply: Reply,
    meta: Meta,
}

impl RawResponse {
    /// The `data` of the envelope.
    ///
    /// # Errors
    ///
    /// [`Error::is_decode`], naming the place that cannot be decoded.
    pub fn data<T: DeserializeOwned>(self) -> Result<T, Error> {
        self.reply.data()
    }

    /// The whole body as JSON.
    ///
    /// # Errors
    ///
    /// [`Error::is_decode`], naming the place that cannot be decoded.
    pub fn json<T: DeserializeOwned>(self) -> Result<T, Error> {
        self.reply.whole()
    }
}

/// Status, headers, request id and body.
impl Deref for RawResponse {
    type Target = Meta;

    fn deref(&self) -> &Meta {
        &self.meta
    }
}

impl fmt::Debug for RawResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.meta.fmt(f)
    }
}

/// A value with its response; returned by `send_with_meta` of every call, such as
/// [`Call`](crate::request::Call::send_with_meta).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WithMeta<T> {
    /// The decoded value.
    pub value: T,
    /// The response.
    pub meta: Meta,
}

/// Status, headers and body of a response. `Debug` does not show the body.
#[derive(Clone)]
pub struct Meta {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    attempts: u32,
}

impl Meta {
    pub(super) fn of(reply: &Reply) -> Self {
        Self {
            status: reply.status,
            headers: reply.headers.clone(),
            body: reply.body.clone(),
            attempts: reply.attempts,
        }
    }

    /// The status, which is a success.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// All headers, for example those of a rate limit.
    #[must_use]
    pub const fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The id of the request in the logs of the service (`x-request-id`).
    #[must_use]
    pub fn request_id(&self) -> Option<String> {
        request_id(&self.headers)
    }

    /// The body, including fields that this version does not know.
    #[must_use]
    pub const fn body(&self) -> &Bytes {
        &self.body
    }

    /// How many times the call was sent.
    #[must_use]
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }
}

impl fmt::Debug for Meta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meta")
            .field("status", &self.status)
            .field("request_id", &self.request_id())
            .field("attempts", &self.attempts)
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}
