//! The HTTP that `object_store` speaks, over the server's one client.

use std::time::Duration;

use async_trait::async_trait;
use futures::stream::{self, StreamExt};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Incoming;
use object_store::client::{
    ClientConfigKey, ClientOptions, HttpClient, HttpConnector, HttpError, HttpErrorKind,
    HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use tokio::time::timeout;

use crate::outbound::{BoxError, Outbound, OutboundError};

/// From the call to the head of the answer; the largest upload goes out in it.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);
/// Between two pieces of an answer's body.
const PIECE_TIMEOUT: Duration = Duration::from_secs(20);

/// Connects to a store; plain HTTP only where it is allowed (`AWS_ALLOW_HTTP`).
#[derive(Clone, Debug)]
pub(super) struct Wire {
    outbound: Outbound,
    plain_http: bool,
}

/// Why there was no answer.
#[derive(Debug, thiserror::Error)]
enum WireError {
    #[error("{}", .0.in_full())]
    Outbound(OutboundError),
    #[error("the address begins with http://, which AWS_ALLOW_HTTP=true would allow")]
    PlainHttp,
    #[error("the answer broke off")]
    BrokenOff(#[source] hyper::Error),
    #[error("the answer came to a stop")]
    Stalled,
}

impl Wire {
    pub(super) fn over(outbound: Outbound) -> Self {
        Self { outbound, plain_http: false }
    }
}

impl HttpConnector for Wire {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let allowed = options.get_config_value(&ClientConfigKey::AllowHttp);
        let plain_http = allowed.as_deref() == Some("true");
        Ok(HttpClient::new(Self { outbound: self.outbound.clone(), plain_http }))
    }
}

#[async_trait]
impl HttpService for Wire {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        if request.uri().scheme_str() == Some("http") && !self.plain_http {
            return Err(HttpError::new(HttpErrorKind::Unknown, WireError::PlainHttp));
        }
        let request = request.map(|body| body.map_err(BoxError::from).boxed_unsync());
        let answer = self
            .outbound
            .send(request, HEAD_TIMEOUT)
            .await
            .map_err(|error| HttpError::new(kind(&error), WireError::Outbound(error)))?;
        Ok(answer.map(|body| HttpResponseBody::new(StreamBody::new(frames(body)))))
    }
}

/// What may be sent again is decided by this.
fn kind(error: &OutboundError) -> HttpErrorKind {
    match error {
        OutboundError::Connect(_) => HttpErrorKind::Connect,
        OutboundError::Broken(_) => HttpErrorKind::Interrupted,
        OutboundError::TimedOut(_) => HttpErrorKind::Timeout,
        _ => HttpErrorKind::Unknown,
    }
}

/// A body whose pieces must not keep the reader waiting for ever.
fn frames(
    body: Incoming,
) -> impl futures::Stream<Item = Result<hyper::body::Frame<bytes::Bytes>, HttpError>> + Send + 'static
{
    let frames = stream::unfold(Some(body), async |body| {
        let mut body = body?;
        match timeout(PIECE_TIMEOUT, body.frame()).await {
            Ok(Some(Ok(frame))) => Some((Ok(frame), Some(body))),
            Ok(Some(Err(error))) => {
                let error = HttpError::new(HttpErrorKind::Interrupted, WireError::BrokenOff(error));
                Some((Err(error), None))
            }
            Ok(None) => None,
            Err(_) => Some((Err(HttpError::new(HttpErrorKind::Timeout, WireError::Stalled)), None)),
        }
    });
    // Bodies are asked again after their end.
    frames.fuse()
}
