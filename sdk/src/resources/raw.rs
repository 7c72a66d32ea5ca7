//! Calls of endpoints that this crate does not know, as all others are sent.

use http::Method;
use serde::Serialize;

use crate::call::{Call, Endpoint, Prepared};
use crate::client::Client;
use crate::send::reply::RawResponse;
use crate::send::request::Request;

impl Client {
    /// Calls an endpoint that this crate does not know, by its path after the base URL, such as
    /// `/prompts/7`. The path is sent as it is, so encode what needs it; query parameters go into
    /// [`query`](RawRequest::query).
    ///
    /// Authentication, timeouts, retries and errors are those of every call.
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// let response = client.get("/usage").query("month", "2026-11").await?;
    /// let usage: serde_json::Value = response.data()?;
    /// # Ok(()) }
    /// ```
    pub fn request(&self, method: Method, path: impl Into<String>) -> RawRequest {
        let path = path.into();
        let invalid = check(&path).err().map(|text| format!("the path of the call {text}"));
        let request = Request::new(method, path.clone(), path);
        Call::of(self.context(), Request { invalid, ..request })
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
    post = POST;
    /// `PUT` to any path.
    put = PUT;
    /// `PATCH` of any path.
    patch = PATCH;
    /// `DELETE` of any path.
    delete = DELETE;
}

/// A call of any endpoint; returned by [`Client::request`].
pub type RawRequest = Call<RawResponse, Request>;

impl Endpoint<RawResponse> for Request {
    fn prepare(self) -> Prepared<RawResponse> {
        // Its span must not stay open with it.
        Prepared::new(self, |reply| Ok(reply.accepted()?.clone()))
    }
}

/// The request.
impl Call<RawResponse, Request> {
    /// Adds a query parameter.
    #[expect(clippy::needless_pass_by_value, reason = "numbers and texts are given as they are")]
    pub fn query(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.builder = self.builder.query(name.into(), Some(value.to_string()));
        self
    }

    /// Sends this as JSON.
    pub fn json(mut self, body: &impl Serialize) -> Self {
        self.builder = self.builder.json(body);
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
