//! One attempt of a call: sends the request once and receives the response.

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use tokio::time::Instant;

use super::limit::{Running, TimedOut};
use super::{body, headers, request_id, url};
use crate::client::Error;
use crate::client::config::{Config, Limits};
use crate::client::options::CallOptions;
use crate::client::reply::Reply;
use crate::client::request::Request;
use crate::client::transport::{Failure, IncomingBody, Outgoing};

/// Bytes of an error response that are kept.
pub(super) const REFUSAL_BYTES_MAX: usize = 256 * 1024;

/// A request and the limits of its call.
pub(super) struct Sending<'a> {
    request: &'a Request,
    options: &'a CallOptions,
    limits: Limits,
    /// When the call times out.
    end: Option<Instant>,
}

impl<'a> Sending<'a> {
    pub(super) fn new(
        config: &Config,
        request: &'a Request,
        options: &'a CallOptions,
    ) -> Result<Self, Error> {
        options.check()?;
        let limits = options.limits(config);
        Ok(Self { request, options, limits, end: Instant::now().checked_add(limits.call) })
    }

    /// The time left for the call; `None` without a limit.
    pub(super) fn left(&self) -> Option<std::time::Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    pub(super) async fn attempt(&self, config: &Config) -> Result<Reply, Error> {
        let running = Running::new(self.limits, self.end);
        let (route, url) = (&self.request.route, url(config, self.request));
        let headers = headers(config, self.request, self.options);
        let outgoing =
            Outgoing::new(route.method.clone(), url.clone(), headers, body(self.request));
        let origin = || url.origin().ascii_serialization();
        let answered = running.first(config.transport.send(outgoing)).await;
        let incoming = answered
            .map_err(|timed_out| timed_out.error(origin(), None))
            .and_then(|answered| answered.map_err(|source| Error::failed(origin(), source)))
            .map_err(|error| error.of(route.clone(), None))?;
        if let Some(elsewhere) = incoming.elsewhere(&url) {
            let error = Error::followed(incoming.status, elsewhere.as_str());
            return Err(error.of(route.clone(), request_id(&incoming.headers)));
        }
        let (status, headers) = (incoming.status, incoming.headers);
        match collect(incoming.body, status, config.max_response_size, &running).await {
            Ok(body) => Ok(Reply::new(route.clone(), status, headers, body)),
            Err(broken) => {
                let error = broken.error(status, origin);
                Err(error.of(route.clone(), request_id(&headers)))
            }
        }
    }
}

/// Why a body is incomplete.
pub(super) enum Broken {
    TimedOut(TimedOut),
    Failed(Failure),
    TooLarge(u64),
}

impl Broken {
    pub(super) fn error(self, status: StatusCode, origin: impl FnOnce() -> String) -> Error {
        match self {
            Self::TimedOut(limit) => limit.error(origin(), Some(status)),
            Self::Failed(source) => Error::broken_off(status, source),
            Self::TooLarge(max) => Error::too_large(status, max),
        }
    }
}

/// The body of a response. That of an error may be incomplete: its status says more.
pub(super) async fn collect(
    body: IncomingBody,
    status: StatusCode,
    max: u64,
    running: &Running,
) -> Result<Bytes, Broken> {
    if status.is_client_error() || status.is_server_error() {
        return Ok(collect_start(body, running).await);
    }
    collect_whole(body, max, running).await
}

pub(super) async fn collect_whole(
    mut body: IncomingBody,
    max: u64,
    running: &Running,
) -> Result<Bytes, Broken> {
    if body.length().is_some_and(|length| length > max) {
        return Err(Broken::TooLarge(max));
    }
    let mut taken = 0;
    let mut next = async || {
        let chunk = running.step(body.chunk()).await;
        let chunk = chunk.map_err(Broken::TimedOut)?.map_err(Broken::Failed)?;
        taken += chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
        if taken > max { Err(Broken::TooLarge(max)) } else { Ok(chunk) }
    };
    // A body of one chunk is not copied.
    let Some(first) = next().await? else { return Ok(Bytes::new()) };
    let Some(second) = next().await? else { return Ok(first) };
    let mut whole = BytesMut::from(first);
    whole.extend_from_slice(&second);
    while let Some(more) = next().await? {
        whole.extend_from_slice(&more);
    }
    Ok(whole.freeze())
}

/// The beginning of the body of an error response, as far as it arrives.
pub(super) async fn collect_start(mut body: IncomingBody, running: &Running) -> Bytes {
    let mut start = BytesMut::new();
    while start.len() < REFUSAL_BYTES_MAX {
        let Ok(Ok(Some(chunk))) = running.step(body.chunk()).await else { break };
        start.extend_from_slice(&chunk);
    }
    start.truncate(REFUSAL_BYTES_MAX);
    start.freeze()
}
