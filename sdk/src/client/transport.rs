//! How requests are sent, as [`http::Request`] and [`http::Response`].
//!
//! A [`Transport`] sends a request once: retries, redirects and timeouts are those of the client.
//! The default is a [`reqwest::Client`].

use std::fmt;

use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::{HeaderMap, Method, Request, Response, Uri};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use url::Url;

use super::Error;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Sends one request and returns its response.
///
/// An implementation follows no redirect and retries nothing. The future is dropped to cancel the
/// request. The headers contain the API key or the token of an upload, and the query of a URL may
/// contain a signature: do not log them.
///
/// ```
/// use futures::future::BoxFuture;
/// use http::{Request, Response};
/// use promptarium::transport::{Body, Failure, Transport};
///
/// /// Sends the same response to every request.
/// struct Canned;
///
/// impl Transport for Canned {
///     fn send(&self, _: Request<Body>) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
///         Box::pin(async { Ok(Response::new(Body::full(r#"{"data":[],"error":null}"#))) })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), promptarium::Error> {
/// let client = promptarium::Client::builder()
///     .base_url("https://prompts.example/api/v1")
///     .api_key("promptarium_live_a1_s3cret")
///     .transport(Canned)
///     .build()?;
/// assert!(client.vaults().list().await?.is_empty());
/// # Ok(()) }
/// ```
pub trait Transport: Send + Sync + 'static {
    /// Sends the request. The response is returned when its head was received; its body may still
    /// be arriving.
    ///
    /// # Errors
    ///
    /// A [`Failure`] that says whether the request may have been carried out.
    fn send(&self, request: Request<Body>) -> BoxFuture<'static, Result<Response<Body>, Failure>>;
}

/// The URL of a response after redirects, as an extension.
#[derive(Debug, Clone)]
pub(super) struct FinalUrl(pub(super) Url);

impl Transport for reqwest::Client {
    fn send(&self, request: Request<Body>) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
        let request = reqwest::Request::try_from(request.map(Body::into_reqwest));
        let sending = request.map(|request| (request.url().clone(), self.execute(request)));
        Box::pin(async move {
            let (sent_to, sending) = sending.map_err(Failure::of_reqwest)?;
            let response = sending.await.map_err(Failure::of_reqwest)?;
            let final_url = Some(response.url()).filter(|url| **url != sent_to).cloned();
            let mut response = Response::<reqwest::Body>::from(response).map(Body::of_reqwest);
            if let Some(url) = final_url {
                response.extensions_mut().insert(FinalUrl(url));
            }
            Ok(response)
        })
    }
}

/// A request without user name and password in its URL: crates below would log them.
pub(super) fn request(
    method: Method,
    url: &Url,
    headers: HeaderMap,
    body: Body,
) -> Result<Request<Body>, Error> {
    let uri = if url.username().is_empty() && url.password().is_none() {
        Uri::try_from(url.as_str())
    } else {
        let mut url = url.clone();
        // Fails for a URL that cannot have them.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        Uri::try_from(url.as_str())
    };
    let mut request = Request::new(body);
    *request.uri_mut() =
        uri.map_err(|error| Error::input(format!("the URL is invalid: {error}")))?;
    *request.method_mut() = method;
    *request.headers_mut() = headers;
    Ok(request)
}

/// Why no response, or only a part of one, was received.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub struct Failure {
    is_connecting: bool,
    is_timeout: bool,
    #[source]
    source: Cause,
}

impl Failure {
    /// There was no connection, so the request was not sent.
    pub fn connecting(source: impl Into<Cause>) -> Self {
        Self { is_connecting: true, is_timeout: false, source: source.into() }
    }

    /// The connection failed after the request was, or may have been, sent.
    pub fn exchanging(source: impl Into<Cause>) -> Self {
        Self { is_connecting: false, is_timeout: false, source: source.into() }
    }

    /// Marks a timeout of the transport.
    #[must_use]
    pub const fn by_timeout(mut self) -> Self {
        self.is_timeout = true;
        self
    }

    /// Whether the request was not sent.
    #[must_use]
    pub const fn is_connecting(&self) -> bool {
        self.is_connecting
    }

    /// Whether the transport timed out.
    #[must_use]
    pub const fn is_timeout(&self) -> bool {
        self.is_timeout
    }

    /// The URL is left out: its query may contain a signature.
    fn of_reqwest(error: reqwest::Error) -> Self {
        let (is_connecting, is_timeout) = (error.is_connect(), error.is_timeout());
        Self { is_connecting, is_timeout, source: error.without_url().into() }
    }

    const fn text(&self) -> &'static str {
        match (self.is_connecting, self.is_timeout) {
            (true, false) => "cannot connect",
            (true, true) => "connecting timed out",
            (false, false) => "connection closed",
            (false, true) => "timed out",
        }
    }
}

/// The body of a request or a response.
pub struct Body(BoxBody<Bytes, Failure>);

impl Body {
    /// A body of these bytes.
    pub fn full(bytes: impl Into<Bytes>) -> Self {
        Self::new(Full::new(bytes.into()).map_err(|never| match never {}))
    }

    /// A body that is sent or received in chunks.
    pub fn new(
        body: impl http_body::Body<Data = Bytes, Error = Failure> + Send + Sync + 'static,
    ) -> Self {
        Self(BoxBody::new(body))
    }

    /// All bytes of the body.
    ///
    /// # Errors
    ///
    /// That of the body, for example if an upload is cancelled.
    pub async fn collect(self) -> Result<Bytes, Failure> {
        Ok(self.0.collect().await?.to_bytes())
    }

    /// The length, if it is known.
    pub(super) fn length(&self) -> Option<u64> {
        http_body::Body::size_hint(&self.0).exact()
    }

    /// The next chunk; `None` at the end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        while let Some(frame) = self.0.frame().await {
            // Trailers are ignored.
            if let Ok(data) = frame?.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    fn into_reqwest(self) -> reqwest::Body {
        reqwest::Body::wrap(self.0)
    }

    fn of_reqwest(body: reqwest::Body) -> Self {
        Self::new(body.map_err(Failure::of_reqwest))
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::full(Bytes::new())
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").finish_non_exhaustive()
    }
}
