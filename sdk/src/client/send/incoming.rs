//! A response: its redirects, and its body as it is received.

use bytes::{Bytes, BytesMut};
use http::response::Parts;
use http::{Response, StatusCode};
use url::Url;

use super::limit::Running;
use super::redirect;
use crate::client::Error;
use crate::client::reply::{Reply, request_id};
use crate::client::request::Route;
use crate::client::transport::{Body, FinalUrl};

/// Bytes of an error response that are kept.
const ERROR_BYTES_MAX: usize = 256 * 1024;

/// The largest body in bytes, and the setting that says so.
#[derive(Debug, Clone, Copy)]
pub(super) struct MaxSize {
    pub(super) bytes: u64,
    pub(super) setting: &'static str,
}

/// A response whose body is being received.
pub(in crate::client) struct Incoming {
    pub(super) head: Parts,
    pub(super) url: Url,
    route: Route,
    body: Body,
    running: Running,
    max: MaxSize,
    received: u64,
}

impl Incoming {
    pub(super) fn new(
        route: Route,
        url: Url,
        response: Response<Body>,
        running: Running,
        max: MaxSize,
    ) -> Self {
        let (head, body) = response.into_parts();
        Self { head, url, route, body, running, max, received: 0 }
    }

    /// Where the response redirects to, or why that is not followed.
    pub(super) fn redirect(
        &self,
        check: impl Fn(&Url, Option<&Url>) -> Result<(), &'static str>,
    ) -> Result<Option<Url>, Error> {
        let status = self.head.status;
        if !redirect::is_redirect(status) {
            return Ok(None);
        }
        let to = redirect::location(&self.url, &self.head.headers);
        match check(&self.url, to.as_ref()) {
            Ok(()) => Ok(to),
            Err(reason) => Err(self.fail(Error::redirect(status, to.as_ref(), reason))),
        }
    }

    /// Fails if the HTTP client followed a redirect, with which it sent the key.
    pub(super) fn check_url(&self) -> Result<(), Error> {
        match self.head.extensions.get() {
            Some(FinalUrl(url)) => Err(self.fail(Error::followed(self.head.status, url))),
            None => Ok(()),
        }
    }

    /// Fails if the body is too large by its length.
    pub(super) fn check_length(&self) -> Result<(), Error> {
        self.check_size(self.body.length().unwrap_or_default())
    }

    fn check_size(&self, size: u64) -> Result<(), Error> {
        if size <= self.max.bytes {
            return Ok(());
        }
        Err(self.fail(Error::too_large(self.head.status, self.max.bytes, self.max.setting)))
    }

    /// The next chunk; `None` at the end.
    pub(in crate::client) async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        let status = self.head.status;
        let chunk = match self.running.step(self.body.chunk()).await {
            Ok(Ok(chunk)) => chunk,
            Ok(Err(source)) => return Err(self.fail(Error::incomplete(status, source))),
            Err(limit) => return Err(self.fail(limit.error(&self.url, Some(status)))),
        };
        self.received += chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
        self.check_size(self.received)?;
        Ok(chunk)
    }

    /// The whole body.
    async fn whole(&mut self) -> Result<Bytes, Error> {
        self.check_length()?;
        // A body of one chunk is not copied.
        let Some(first) = self.chunk().await? else { return Ok(Bytes::new()) };
        let Some(second) = self.chunk().await? else { return Ok(first) };
        let mut chunks = vec![first, second];
        while let Some(chunk) = self.chunk().await? {
            chunks.push(chunk);
        }
        Ok(chunks.concat().into())
    }

    /// The beginning of the body of an error response, as far as it arrives.
    async fn start(&mut self) -> Bytes {
        let mut start = BytesMut::new();
        while start.len() < ERROR_BYTES_MAX {
            let Ok(Ok(Some(chunk))) = self.running.step(self.body.chunk()).await else { break };
            start.extend_from_slice(&chunk);
        }
        start.truncate(ERROR_BYTES_MAX);
        start.freeze()
    }

    /// Receives the body. That of an error may be incomplete: its status says more.
    pub(super) async fn reply(mut self) -> Result<Reply, Error> {
        let status = self.head.status;
        let is_error = status.is_client_error() || status.is_server_error();
        let body = if is_error { self.start().await } else { self.whole().await? };
        Ok(Reply::new(self.route, status, self.head.headers, body))
    }

    /// Receives the beginning of the body of a response that is not a success.
    pub(super) async fn refusal(mut self) -> Reply {
        let body = self.start().await;
        Reply::new(self.route, self.head.status, self.head.headers, body).with_retry_after()
    }

    pub(super) const fn status(&self) -> StatusCode {
        self.head.status
    }

    /// Adds what is known of the response.
    pub(super) fn fail(&self, error: Error) -> Error {
        error.of(self.route.clone(), request_id(&self.head.headers))
    }
}
