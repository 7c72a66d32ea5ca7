//! One attempt of a call: sends the request once and receives the response.

use bytes::{Bytes, BytesMut};
use http::{Response, StatusCode};
use tokio::time::Instant;
use url::Url;

use super::limit::{Running, TimedOut};
use super::{body, headers, redirect, request_id, url};
use crate::client::Error;
use crate::client::config::{Config, Limits};
use crate::client::options::CallOptions;
use crate::client::reply::Reply;
use crate::client::request::Request;
use crate::client::transport::{self, Body, Failure, FinalUrl};

/// Bytes of an error response that are kept.
const ERROR_BYTES_MAX: usize = 256 * 1024;

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
        let route = &self.request.route;
        let (mut url, mut redirects) = (url(config, self.request), 0);
        loop {
            let response = self.exchange(config, &url, &running).await;
            let (head, body) =
                response.map_err(|error| error.of(route.clone(), None))?.into_parts();
            let fail = |error: Error| error.of(route.clone(), request_id(&head.headers));
            let status = head.status;
            if let Some(FinalUrl(url)) = head.extensions.get() {
                return Err(fail(Error::followed(status, url)));
            }
            if !redirect::is_redirect(status) {
                let body = collect(body, status, config.max_response_size, &running).await;
                let body = body.map_err(|broken| fail(broken.error(status, &url)))?;
                return Ok(Reply::new(route.clone(), status, head.headers, body));
            }
            let to = redirect::location(&url, &head.headers);
            redirect::of_call(&route.method, &config.base_url, to.as_ref(), redirects)
                .map_err(|reason| fail(Error::redirect(status, to.as_ref(), reason)))?;
            url = to.unwrap_or(url);
            redirects += 1;
        }
    }

    async fn exchange(
        &self,
        config: &Config,
        url: &Url,
        running: &Running,
    ) -> Result<Response<Body>, Error> {
        let headers = headers(config, self.request, self.options);
        let method = self.request.route.method.clone();
        let request = transport::request(method, url, headers, body(self.request))?;
        running.exchange(&*config.transport, request, url).await
    }
}

/// Why a body is incomplete.
pub(super) enum Broken {
    TimedOut(TimedOut),
    Failed(Failure),
    /// The limit in bytes and its setting.
    TooLarge(u64, &'static str),
}

impl Broken {
    pub(super) fn error(self, status: StatusCode, url: &Url) -> Error {
        match self {
            Self::TimedOut(timed_out) => timed_out.error(url, Some(status)),
            Self::Failed(source) => Error::incomplete(status, source),
            Self::TooLarge(max, setting) => Error::too_large(status, max, setting),
        }
    }
}

/// The body of a response. That of an error may be incomplete: its status says more.
async fn collect(
    body: Body,
    status: StatusCode,
    max: u64,
    running: &Running,
) -> Result<Bytes, Broken> {
    if status.is_client_error() || status.is_server_error() {
        return Ok(collect_start(body, running).await);
    }
    collect_whole(body, max, running).await
}

async fn collect_whole(mut body: Body, max: u64, running: &Running) -> Result<Bytes, Broken> {
    let too_large = || Broken::TooLarge(max, "max_response_size");
    if body.length().is_some_and(|length| length > max) {
        return Err(too_large());
    }
    let mut taken = 0;
    let mut next = async || {
        let chunk = running.step(body.chunk()).await;
        let chunk = chunk.map_err(Broken::TimedOut)?.map_err(Broken::Failed)?;
        taken += chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
        if taken > max { Err(too_large()) } else { Ok(chunk) }
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
pub(super) async fn collect_start(mut body: Body, running: &Running) -> Bytes {
    let mut start = BytesMut::new();
    while start.len() < ERROR_BYTES_MAX {
        let Ok(Ok(Some(chunk))) = running.step(body.chunk()).await else { break };
        start.extend_from_slice(&chunk);
    }
    start.truncate(ERROR_BYTES_MAX);
    start.freeze()
}
