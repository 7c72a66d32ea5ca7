//! How requests are sent, as [`http::Request`] and [`http::Response`].
//!
//! A [`Transport`] sends a request once: retries, redirects and timeouts are those of the client.
//! The default is a [`reqwest::Client`].

mod body;
mod default_client;
mod failure;
// As in reqwest, the TLS of the operating system takes precedence.
#[cfg(all(any(feature = "rustls", feature = "rustls-no-provider"), not(feature = "native-tls")))]
mod tls;
#[cfg(any(not(any(feature = "rustls", feature = "rustls-no-provider")), feature = "native-tls"))]
mod tls {
    use reqwest::ClientBuilder;

    use crate::error::Error;

    /// reqwest sets up TLS itself.
    pub(super) fn set(builder: ClientBuilder) -> Result<(ClientBuilder, Option<String>), Error> {
        Ok((builder, None))
    }
}

use std::borrow::Cow;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use http::{HeaderMap, Method, Request, Response, Uri};
use url::Url;

pub use body::Body;
pub(crate) use default_client::DefaultClient;
use failure::of_reqwest;

pub use crate::error::Failure;
use crate::error::FailureKind;
use crate::model::without_credentials;

/// Sends one request and returns its response.
///
/// An implementation follows no redirect and retries nothing. The future is dropped to cancel the
/// request. The headers contain the API key or the token of an upload, and the query of a URL may
/// contain a signature: do not log them.
///
/// [`Body`] is an [`http_body::Body`], so a service of `tower` or a client of `hyper` takes and
/// returns it. A [`reqwest::Client`] is a transport too, and another one may wrap it:
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

impl Transport for reqwest::Client {
    fn send(&self, request: Request<Body>) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
        let (client, (head, body)) = (self.clone(), request.into_parts());
        Box::pin(async move {
            let url = Url::parse(&head.uri.to_string()).map_err(Failure::exchanging)?;
            let response = execute(&client, head.method, &url, head.headers, body).await;
            response.map_err(of_reqwest)
        })
    }
}

#[derive(Clone)]
pub(crate) enum HttpClient {
    Default(Arc<DefaultClient>),
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
        let client = match self {
            Self::Default(client) => client.for_url(&to)?,
            Self::Reqwest(client) => client.clone(),
            Self::Custom(transport) => {
                let uri = Uri::try_from(to.as_str());
                let uri = uri.map_err(|error| Failure::new(FailureKind::InvalidUrl, error))?;
                let mut request = Request::new(body);
                (*request.method_mut(), *request.uri_mut()) = (method, uri);
                *request.headers_mut() = headers;
                return transport.send(request).await;
            }
        };
        execute(&client, method, &to, headers, body).await.map_err(of_reqwest)
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
    let mut response = Response::from(response).map(Body::received);
    if let Some(url) = final_url {
        response.extensions_mut().insert(FinalUrl(url));
    }
    Ok(response)
}
