//! Transports and the services of `tower`, each as the other. Feature `tower`.

use std::future::poll_fn;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use tower_service::Service;

use super::{Body, Failure, Transport};
use crate::error::Cause;

/// A [`Transport`] as a service, for the layers of `tower`:
///
/// ```
/// use std::time::Duration;
///
/// use http::{HeaderValue, Request};
/// use promptarium::Client;
/// use promptarium::transport::{Body, ServiceTransport, TransportService};
/// use tower::ServiceBuilder;
///
/// let service = ServiceBuilder::new()
///     .timeout(Duration::from_secs(5))
///     .map_request(|mut request: Request<Body>| {
///         request.headers_mut().insert("x-team", HeaderValue::from_static("harbours"));
///         request
///     })
///     .service(TransportService(reqwest::Client::new()));
/// let builder = Client::builder().transport(ServiceTransport(service));
/// ```
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "a wrapper")]
pub struct TransportService<T>(pub T);

impl<T: Transport> Service<Request<Body>> for TransportService<T> {
    type Response = Response<Body>;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<Response<Body>, Failure>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.0.send(request)
    }
}

/// A service as a [`Transport`]. Each request has a clone of it, when that is ready.
///
/// An error of the service that is a [`Failure`] is kept. Any other one leaves open whether the request
/// was carried out, so a layer that refuses requests returns [`Failure::not_processed`].
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "a wrapper")]
pub struct ServiceTransport<S>(pub S);

impl<S, B> Transport for ServiceTransport<S>
where
    S: Service<Request<Body>, Response = Response<B>, Error: Into<Cause>, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
    B: http_body::Body<Data = Bytes, Error: Into<Cause>> + Send + Sync + 'static,
{
    fn send(&self, request: Request<Body>) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
        let mut service = self.0.clone();
        Box::pin(async move {
            poll_fn(|cx| service.poll_ready(cx)).await.map_err(failure)?;
            let response = service.call(request).await.map_err(failure)?;
            Ok(response.map(|body| Body::new(body.map_err(failure))))
        })
    }
}

fn failure(error: impl Into<Cause>) -> Failure {
    error.into().downcast().map_or_else(Failure::exchanging, |failure| *failure)
}
