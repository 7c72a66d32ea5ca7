//! How requests are sent, as [`http::Request`] and [`http::Response`].
//!
//! A [`Transport`] sends a request once: retries, redirects and timeouts are those of the client.
//! The default is a [`reqwest::Client`].

mod body;
#[cfg(target_arch = "wasm32")]
mod browser;
#[cfg(not(target_arch = "wasm32"))]
mod default_client;
mod failure;

use std::borrow::Cow;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use http::{HeaderMap, Method, Request, Response, Uri};
use url::Url;

#[cfg(feature = "tower")]
mod tower;

pub use body::Body;
#[cfg(target_arch = "wasm32")]
pub(crate) use browser::DefaultClient;
#[cfg(target_arch = "wasm32")]
use browser::execute;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use default_client::DefaultClient;
#[cfg(not(target_arch = "wasm32"))]
use default_client::execute;

pub use crate::error::Failure;
use crate::error::FailureKind;
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
    /// That of a response to a request to `url`, if it is another one.
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
        let client = match self {
            Self::Default(client) => client.for_url(&to)?,
            Self::Custom(transport) => {
                let uri = Uri::try_from(to.as_str());
                let uri = uri.map_err(|error| Failure::new(FailureKind::InvalidUrl, error))?;
                let mut request = Request::new(body);
                (*request.method_mut(), *request.uri_mut()) = (method, uri);
                *request.headers_mut() = headers;
                return transport.send(request).await;
            }
        };
        execute(&client, method, &to, headers, body).await
    }
}
