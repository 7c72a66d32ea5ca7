//! A response: its redirects, and its body as it is received.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_TYPE, LOCATION};
use http::response::Parts;
use http::{HeaderMap, Method, Response};
use url::Url;

use super::reply::{RawResponse, request_id};
use super::timeout::Running;
use crate::error::{Error, Route};
use crate::time::timeout;
use crate::transport::{Body, FinalUrl};

const ERROR_BYTES_MAX: usize = 256 * 1024;

const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(2);

pub(crate) struct Incoming {
    pub(crate) head: Parts,
    pub(crate) url: Url,
    route: Route,
    body: Body,
    running: Running,
}

impl Incoming {
    pub(crate) fn new(route: Route, url: Url, response: Response<Body>, running: Running) -> Self {
        let (head, body) = response.into_parts();
        Self { head, url, route, body, running }
    }

    /// Where the response redirects to, or why that is not followed.
    pub(crate) fn redirect(
        &self,
        redirects: usize,
        check: impl Fn(&Url) -> Result<(), &'static str>,
    ) -> Result<Option<Url>, Error> {
        let status = self.head.status;
        if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
            return Ok(None);
        }
        let to = location(&self.url, &self.head.headers);
        let web = to.as_ref().filter(|to| is_web(to)).ok_or("it is not an http or https URL");
        let checked = if redirects < REDIRECTS_MAX {
            web.and_then(check)
        } else {
            Err("there were 5 redirects before")
        };
        match checked {
            Ok(()) => Ok(to),
            Err(reason) => Err(self.fail(Error::redirect(status, to.as_ref(), reason))),
        }
    }

    /// Fails if the HTTP client followed a redirect, with which it sent the key.
    pub(crate) fn check_url(&self) -> Result<(), Error> {
        match self.head.extensions.get() {
            Some(FinalUrl(url)) => Err(self.fail(Error::followed(self.head.status, url))),
            None => Ok(()),
        }
    }

    pub(crate) fn check_size(&self, size: u64, max: u64, setting: &str) -> Result<(), Error> {
        if size <= max {
            return Ok(());
        }
        Err(self.fail(Error::too_large(self.head.status, max, setting)))
    }

    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        let status = self.head.status;
        match self.running.step(self.body.chunk()).await {
            Ok(Ok(chunk)) => Ok(chunk),
            Ok(Err(source)) => Err(self.fail(Error::incomplete(status, source))),
            Err(limit) => Err(self.fail(Error::timed_out(&self.url, limit, Some(status)))),
        }
    }

    /// For a response whose body is not what was requested.
    pub(crate) fn without_body(self) -> Self {
        Self { body: Body::default(), ..self }
    }

    async fn whole(&mut self, max: u64) -> Result<Bytes, Error> {
        let (mut size, mut chunks) = (self.body.length().unwrap_or_default(), Vec::new());
        self.check_size(size, max, "max_response_size")?;
        size = 0;
        while let Some(chunk) = self.chunk().await? {
            size += chunk.len() as u64;
            self.check_size(size, max, "max_response_size")?;
            chunks.push(chunk);
        }
        // A body of one chunk is not copied.
        Ok(if chunks.len() == 1 { chunks.remove(0) } else { chunks.concat().into() })
    }

    /// Receives the beginning of the body of a response that is not a success, as far as it arrives
    /// in time: the status is known, and a slow body must not delay what follows from it.
    pub(crate) async fn refusal(mut self) -> RawResponse {
        let mut start = BytesMut::new();
        let receiving = async {
            while start.len() < ERROR_BYTES_MAX {
                match self.running.step(self.body.chunk()).await {
                    Ok(Ok(Some(chunk))) => start.extend_from_slice(&chunk),
                    end => return !matches!(end, Ok(Ok(None))),
                }
            }
            false
        };
        // What was received until then is enough.
        let is_cut = timeout(ERROR_BODY_TIMEOUT, receiving).await.unwrap_or(true);
        start.truncate(ERROR_BYTES_MAX);
        let Parts { status, headers, .. } = self.head;
        let mut reply = RawResponse::new(self.route, status, headers, start.freeze());
        reply.is_cut = is_cut;
        reply
    }

    /// Receives the body, of at most `max` bytes. That of an error may be incomplete.
    pub(crate) async fn reply(mut self, max: u64) -> Result<RawResponse, Error> {
        let status = self.head.status;
        if status.is_client_error() || status.is_server_error() {
            return Ok(self.refusal().await);
        }
        let body = self.whole(max).await?;
        Ok(RawResponse::new(self.route, status, self.head.headers, body))
    }

    pub(crate) fn content_type(&self) -> Option<String> {
        let value = self.head.headers.get(CONTENT_TYPE)?;
        value.to_str().ok().map(str::to_owned)
    }

    pub(crate) fn fail(&self, error: Error) -> Error {
        error.of(self.route.clone(), request_id(&self.head.headers))
    }
}

const REDIRECTS_MAX: usize = 5;

/// The URL that a response redirects to. `None` without a valid `Location`. Some servers send it
/// as UTF-8, not percent-encoded.
fn location(from: &Url, headers: &HeaderMap) -> Option<Url> {
    let mut to = from.join(std::str::from_utf8(headers.get(LOCATION)?.as_bytes()).ok()?).ok()?;
    to.set_fragment(None);
    Some(to)
}

/// Whether a call of the API may be redirected to this URL, or why not: the API key is sent to
/// URLs below the base URL only.
pub(crate) fn check_call(method: &Method, base_url: &Url, to: &Url) -> Result<(), &'static str> {
    if to.origin() != base_url.origin() {
        return Err("the API key is not sent to another origin");
    }
    let root = base_url.path().trim_end_matches('/');
    if !to.path().strip_prefix(root).is_some_and(|rest| rest.starts_with('/')) {
        return Err("the API key is not sent to URLs outside of the base URL");
    }
    if *method != Method::GET {
        return Err("only GET requests are redirected");
    }
    Ok(())
}

/// Whether a download may be redirected to this URL, or why not. There is no key to protect.
pub(crate) fn check_asset(from: &Url, to: &Url) -> Result<(), &'static str> {
    let is_safe = from.scheme() != "https" || to.scheme() == "https";
    is_safe.then_some(()).ok_or("it leads from https to http")
}

pub(crate) fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}
