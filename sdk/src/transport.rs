//! How requests are sent, as [`http::Request`] and [`http::Response`].
//!
//! A [`Transport`] sends a request once: retries, redirects and timeouts are those of the client.
//! The default is a [`reqwest::Client`].

#[cfg(target_arch = "wasm32")]
mod browser;
#[cfg(not(target_arch = "wasm32"))]
mod default_client;
#[cfg(feature = "tower")]
mod tower;

use std::borrow::Cow;
use std::error::Error as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::{HeaderMap, Method, Request, Response, Uri};
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Collected, Full};
use url::Url;

#[cfg(target_arch = "wasm32")]
pub(crate) use browser::{DefaultClient, execute};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use default_client::{DefaultClient, execute};

pub use crate::error::Failure;
use crate::error::FailureKind;
use crate::macros::debug;
use crate::model::without_credentials;
#[cfg(feature = "tower")]
pub use tower::{ServiceTransport, TransportService};

/// Sends one request and returns its response.
///
/// An implementation follows no redirect and retries nothing. The future is dropped to cancel the
/// request. The headers contain the API key or the token of an upload, and the query of a URL may
/// contain a signature: do not log them.
///
/// [`Body`] is an [`http_body::Body`], so a client of `hyper` takes and returns it. With the feature
/// `tower` a service is a transport. A [`reqwest::Client`] is one too, and another one may wrap it:
///
/// ```
/// use futures::future::BoxFuture;
/// use http::{HeaderValue, Request, Response};
/// use promptarium::transport::{Body, Failure, Transport};
///
/// /// Adds a header to every request.
/// struct Tagged(reqwest::Client);
///
/// impl Transport for Tagged {
///     fn send(
///         &self,
///         mut request: Request<Body>,
///     ) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
///         request.headers_mut().insert("x-team", HeaderValue::from_static("harbours"));
///         self.0.send(request)
///     }
/// }
/// ```
pub trait Transport: Send + Sync + 'static {
    /// Sends the request, and returns the response when its head was received. A [`Failure`] says
    /// whether the request may have been carried out.
    fn send(&self, request: Request<Body>) -> BoxFuture<'static, Result<Response<Body>, Failure>>;
}

/// The URL of a response after redirects, as an extension.
#[derive(Debug, Clone)]
pub(crate) struct FinalUrl(pub(crate) Url);

impl FinalUrl {
    fn of(response: &reqwest::Response, url: &Url) -> Option<Self> {
        Some(response.url()).filter(|last| *last != url).cloned().map(Self)
    }
}

impl Transport for reqwest::Client {
    fn send(&self, request: Request<Body>) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
        let (client, (head, body)) = (self.clone(), request.into_parts());
        Box::pin(async move {
            let url = Url::parse(&head.uri.to_string()).map_err(Failure::exchanging)?;
            execute(&client, head.method, &url, head.headers, body).await
        })
    }
}

#[derive(Clone)]
pub(crate) enum HttpClient {
    Default(Arc<DefaultClient>),
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
            Self::Default(client) => {
                execute(&client.for_url(&to)?, method, &to, headers, body).await
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

/// The URL is left out: its query may contain a signature.
fn of_reqwest(error: reqwest::Error) -> Failure {
    #[cfg(not(target_arch = "wasm32"))]
    let is_connect = error.is_connect();
    // `fetch` does not tell.
    #[cfg(target_arch = "wasm32")]
    let is_connect = false;
    let is_timeout = error.is_timeout();
    let kind = if error.is_builder() {
        FailureKind::InvalidUrl
    } else if is_connect {
        FailureKind::Connecting
    } else if is_not_processed(&error) {
        FailureKind::NotProcessed
    } else {
        FailureKind::Exchanging
    };
    let failure = Failure::new(kind, error.without_url());
    if is_timeout { failure.by_timeout() } else { failure }
}

/// Whether the server said by HTTP/2 that it did not process the request: `REFUSED_STREAM`, or a
/// `GOAWAY` without an error, which fails only requests after the last one it names (RFC 9113, 6.8
/// and 8.7).
///
/// By the texts of the crate `h2`: any crate of the program may have switched HTTP/2 on, also in
/// another version of it. If the texts change, the outcome of such a request is unknown.
fn is_not_processed(error: &reqwest::Error) -> bool {
    const REFUSED: &str = "stream error received: refused stream before processing";
    const GONE: &str = "connection error received: not a result of an error";
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    let mut texts = causes.map(ToString::to_string);
    texts.any(|text| text.starts_with(REFUSED) || text.starts_with(GONE))
}

/// The body of a request or a response; by default none.
#[derive(Default)]
pub struct Body(Option<BoxBody<Bytes, Failure>>);

impl Body {
    /// A body of these bytes.
    pub fn full(bytes: impl Into<Bytes>) -> Self {
        Self::new(Full::new(bytes.into()).map_err(|never| match never {}))
    }

    /// A body that is sent or received in chunks.
    pub fn new(
        body: impl http_body::Body<Data = Bytes, Error = Failure> + Send + Sync + 'static,
    ) -> Self {
        Self(Some(BoxBody::new(body)))
    }

    /// All bytes of the body.
    pub async fn collect(self) -> Result<Bytes, Failure> {
        BodyExt::collect(self).await.map(Collected::to_bytes)
    }

    pub(crate) fn length(&self) -> Option<u64> {
        self.size_hint().exact()
    }

    /// The next chunk; `None` at the end. Trailers are ignored.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        while let Some(frame) = self.frame().await.transpose()? {
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        self.0.as_mut().map_or(Poll::Ready(None), |body| Pin::new(body).poll_frame(cx))
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(BoxBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.0.as_ref().map_or_else(|| SizeHint::with_exact(0), BoxBody::size_hint)
    }
}

debug!(Body);
