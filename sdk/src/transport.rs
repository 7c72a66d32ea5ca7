//! How requests are sent, as [`http::Request`] and [`http::Response`].
//!
//! A [`Transport`] sends a request once: retries, redirects and timeouts are those of the client.
//! The default is a [`reqwest::Client`].

use std::borrow::Cow;
use std::sync::Arc;
use std::{fmt, mem};

use bytes::{Bytes, BytesMut};
use futures_core::future::BoxFuture;
use http::{HeaderMap, Method, Request, Response, Uri};
use http_body::{Body as _, Frame};
use http_body_util::BodyExt as _;
use http_body_util::combinators::BoxBody;
use url::Url;

use crate::model::without_credentials;

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
pub(crate) struct FinalUrl(pub(crate) Url);

impl Transport for reqwest::Client {
    fn send(&self, request: Request<Body>) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
        let (client, (head, body)) = (self.clone(), request.into_parts());
        Box::pin(async move {
            let url = Url::parse(&head.uri.to_string()).map_err(Failure::exchanging)?;
            let response = execute(&client, head.method, &url, head.headers, body).await;
            response.map_err(Failure::of_reqwest)
        })
    }
}

#[derive(Clone)]
pub(crate) enum HttpClient {
    /// Not as a transport, since a transport has to parse each URL again.
    Reqwest(reqwest::Client),
    Custom(Arc<dyn Transport>),
}

impl HttpClient {
    /// Sends a request without user name and password in its URL: crates below would log them.
    pub(crate) async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Body,
    ) -> Result<Response<Body>, Failure> {
        let to = if url.username().is_empty() && url.password().is_none() {
            Cow::Borrowed(url)
        } else {
            Cow::Owned(without_credentials(url.clone()))
        };
        match self {
            Self::Reqwest(client) => {
                let response = execute(client, method, &to, headers, body).await;
                response.map_err(Failure::of_reqwest)
            }
            Self::Custom(transport) => {
                let uri = Uri::try_from(to.as_str());
                let uri = uri.map_err(|error| Failure::new(FailureKind::InvalidUrl, error))?;
                let mut request = Request::new(body);
                (*request.method_mut(), *request.uri_mut()) = (method, uri);
                *request.headers_mut() = headers;
                transport.send(request).await
            }
        }
    }
}

async fn execute(
    client: &reqwest::Client,
    method: Method,
    url: &Url,
    headers: HeaderMap,
    body: Body,
) -> reqwest::Result<Response<Body>> {
    let mut request = reqwest::Request::new(method, url.clone());
    *request.headers_mut() = headers;
    *request.body_mut() = Some(body.into_reqwest());
    let response = client.execute(request).await?;
    let final_url = Some(response.url()).filter(|final_url| *final_url != url).cloned();
    let mut response = Response::from(response).map(|body| Body(Kind::Received(body)));
    if let Some(url) = final_url {
        response.extensions_mut().insert(FinalUrl(url));
    }
    Ok(response)
}

/// Why no response, or only a part of one, was received.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub struct Failure {
    pub(crate) kind: FailureKind,
    pub(crate) is_timeout: bool,
    #[source]
    source: Cause,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    InvalidUrl,
    /// There was no connection.
    Connecting,
    /// There was a connection, and the server certainly did not process the request.
    NotProcessed,
    /// The request may have been processed.
    Exchanging,
}

impl Failure {
    fn new(kind: FailureKind, source: impl Into<Cause>) -> Self {
        Self { kind, is_timeout: false, source: source.into() }
    }

    /// There was no connection, so the request was not sent.
    pub fn connecting(source: impl Into<Cause>) -> Self {
        Self::new(FailureKind::Connecting, source)
    }

    /// The server certainly did not process the request, for example after `REFUSED_STREAM` of
    /// HTTP/2. Any request is retried.
    pub fn not_processed(source: impl Into<Cause>) -> Self {
        Self::new(FailureKind::NotProcessed, source)
    }

    /// The connection failed after the request was, or may have been, sent.
    pub fn exchanging(source: impl Into<Cause>) -> Self {
        Self::new(FailureKind::Exchanging, source)
    }

    /// Marks a timeout of the transport.
    #[must_use]
    pub const fn by_timeout(mut self) -> Self {
        self.is_timeout = true;
        self
    }

    /// The URL is left out: its query may contain a signature.
    fn of_reqwest(error: reqwest::Error) -> Self {
        let is_timeout = error.is_timeout();
        let kind = if error.is_builder() {
            FailureKind::InvalidUrl
        } else if error.is_connect() {
            FailureKind::Connecting
        } else {
            FailureKind::Exchanging
        };
        Self { is_timeout, ..Self::new(kind, error.without_url()) }
    }

    const fn text(&self) -> &'static str {
        match (self.kind, self.is_timeout) {
            (FailureKind::InvalidUrl, _) => "the URL is invalid",
            (FailureKind::Connecting, false) => "cannot connect",
            (FailureKind::Connecting, true) => "connecting timed out",
            (FailureKind::NotProcessed, _) => "the server did not process the request",
            (FailureKind::Exchanging, false) => "connection closed",
            (FailureKind::Exchanging, true) => "timed out",
        }
    }
}

/// The body of a request or a response.
pub struct Body(Kind);

enum Kind {
    /// Bytes in memory, until they are taken.
    Full(Bytes),
    Received(reqwest::Body),
    Other(BoxBody<Bytes, Failure>),
}

impl Body {
    /// A body of these bytes.
    pub fn full(bytes: impl Into<Bytes>) -> Self {
        Self(Kind::Full(bytes.into()))
    }

    /// A body that is sent or received in chunks.
    pub fn new(
        body: impl http_body::Body<Data = Bytes, Error = Failure> + Send + Sync + 'static,
    ) -> Self {
        Self(Kind::Other(BoxBody::new(body)))
    }

    /// All bytes of the body.
    ///
    /// # Errors
    ///
    /// That of the body, for example if an upload is cancelled.
    pub async fn collect(mut self) -> Result<Bytes, Failure> {
        let mut whole = BytesMut::new();
        while let Some(chunk) = self.chunk().await? {
            whole.extend_from_slice(&chunk);
        }
        Ok(whole.freeze())
    }

    /// The length of what was not read yet, if it is known.
    pub(crate) fn length(&self) -> Option<u64> {
        match &self.0 {
            Kind::Full(bytes) => Some(bytes.len() as u64),
            Kind::Received(body) => body.size_hint().exact(),
            Kind::Other(body) => body.size_hint().exact(),
        }
    }

    /// The next chunk; `None` at the end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        loop {
            let frame = match &mut self.0 {
                Kind::Full(bytes) => {
                    return Ok(Some(mem::take(bytes)).filter(|bytes| !bytes.is_empty()));
                }
                Kind::Received(body) => body.frame().await.transpose().map_err(Failure::of_reqwest),
                Kind::Other(body) => body.frame().await.transpose(),
            };
            match frame?.map(Frame::into_data) {
                Some(Ok(data)) => return Ok(Some(data)),
                // Trailers are ignored.
                Some(Err(_)) => {}
                None => return Ok(None),
            }
        }
    }

    fn into_reqwest(self) -> reqwest::Body {
        match self.0 {
            Kind::Full(bytes) => bytes.into(),
            Kind::Received(body) => body,
            Kind::Other(body) => reqwest::Body::wrap(body),
        }
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
