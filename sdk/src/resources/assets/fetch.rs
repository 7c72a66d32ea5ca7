//! One download with its attempts: the one implementation below memory, files and streams.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_RANGE, RANGE, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use url::Url;

use super::{AssetToDownload, DownloadProgress};
use crate::call::{Context, require_runtime};
use crate::error::{Error, Route};
use crate::send::evidence::is_absent;
use crate::send::incoming::{Incoming, check_asset, is_web};
use crate::send::reply::{encoded, repeats_query};
use crate::send::retry::Attempts;
use crate::send::timeout::{Running, until};
use crate::send::trace::Span;
use crate::time::{Elapsed, Instant, sleep};
use crate::transport::{Body, Failure};

pub(super) enum Piece {
    /// The asset begins, or begins again: what was received before is void.
    Begin,
    Bytes(Bytes),
}

pub(super) struct Fetch<'a> {
    settings: AssetToDownload<'a>,
    context: Context,
    timeout: Duration,
    url: Url,
    span: Span,
    end: Option<Instant>,
    attempts: Attempts,
    /// The requests of all attempts, with those that follow redirects.
    requests: u32,
    /// Whether the receiver of the bytes can drop them and begin again.
    pub(super) can_restart: bool,
    pub(super) position: u64,
    pub(super) size: Option<u64>,
    pub(super) content_type: Option<String>,
    incoming: Option<Incoming>,
}

/// The response ended before the last byte of the asset.
#[derive(Debug, thiserror::Error)]
#[error("the body ended before byte {0} of the asset")]
struct Short(u64);

impl<'a> Fetch<'a> {
    /// Starts the time limit.
    pub(super) fn new(settings: AssetToDownload<'a>, mut context: Context) -> Result<Self, Error> {
        let span = Span::asset();
        let timeout = context.options.timeout.take().unwrap_or(Duration::MAX);
        let invalid = || Error::input("the URL of the asset is not an absolute http or https URL");
        let url = Url::parse(settings.url.as_str()).ok().filter(is_web).ok_or_else(invalid);
        let url = url.and_then(|url| context.options.check().map(|()| url));
        let url = url.inspect_err(|error| span.failed(error))?;
        let config = &context.client.0;
        Ok(Self {
            url,
            span,
            end: Instant::now().checked_add(timeout),
            attempts: Attempts::of_file(context.options.policy(config), &config.budget),
            requests: 0,
            can_restart: true,
            position: settings.first,
            size: None,
            content_type: None,
            incoming: None,
            settings,
            timeout,
            context,
        })
    }

    pub(super) async fn next(&mut self) -> Result<Option<Piece>, Error> {
        require_runtime()?;
        let outcome = until(self.end, self.next_piece()).await;
        self.settled(outcome)
    }

    /// Does this within the time limit of the download.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) async fn in_time<T>(
        &mut self,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let outcome = until(self.end, work).await;
        self.settled(outcome)
    }

    fn settled<T>(&self, outcome: Result<Result<T, Error>, Elapsed>) -> Result<T, Error> {
        let late = |_| Err(Error::call_timed_out(self.settings.url.as_str(), self.timeout));
        let outcome = outcome.unwrap_or_else(late);
        let outcome = outcome.map_err(|error| error.of_call(self.attempts.history, None));
        outcome.inspect_err(|error| self.span.failed(error))
    }

    async fn next_piece(&mut self) -> Result<Option<Piece>, Error> {
        loop {
            let received = match self.incoming {
                Some(_) => self.receive().await,
                None => match self.begin().await {
                    Ok(()) => return Ok(Some(Piece::Begin)),
                    Err(error) => Err(error),
                },
            };
            match received {
                Ok(chunk) => return Ok(chunk.map(Piece::Bytes)),
                Err(error) => self.recover(error).await?,
            }
        }
    }

    async fn receive(&mut self) -> Result<Option<Bytes>, Error> {
        let Some(incoming) = &mut self.incoming else { return Ok(None) };
        let Some(chunk) = incoming.chunk().await? else {
            let Some(size) = self.size.filter(|size| self.position < *size) else {
                return Ok(None);
            };
            let short = Failure::exchanging(Short(size));
            return Err(incoming.fail(Error::incomplete(incoming.head.status, short)));
        };
        self.position += chunk.len() as u64;
        incoming.check_size(self.position, self.settings.max_size, "max_size")?;
        self.report();
        Ok(Some(chunk))
    }

    /// Waits before the next attempt, unless this error is final.
    async fn recover(&mut self, error: Error) -> Result<(), Error> {
        self.incoming = None;
        let is_possible = self.can_restart || self.position == self.settings.first;
        let failure = error.attempt_failure().filter(|_| is_possible);
        let retry_after = error.retry_after_header();
        let may_be_early = is_absent(&error) && retry_after.is_none();
        let delay = if may_be_early && self.context.client.0.has_new_output() {
            self.attempts.uncounted()
        } else {
            failure.and_then(|failure| self.attempts.next(failure, retry_after, self.end))
        };
        let Some(delay) = delay else { return Err(error) };
        self.span.again(self.requests + 1, delay, Err(&error));
        sleep(delay).await;
        Ok(())
    }

    async fn begin(&mut self) -> Result<(), Error> {
        self.attempts.begin();
        (self.position, self.size) = (self.settings.first, None);
        let context = &self.context;
        let running = Running::new(context.options.file_limits(&context.client.0), None);
        let incoming = self.request(running).await?;
        let (status, headers) = (incoming.head.status, &incoming.head.headers);
        let (begin, size) = match status {
            StatusCode::PARTIAL_CONTENT => content_range(headers).unwrap_or_default(),
            // There are no more bytes.
            StatusCode::RANGE_NOT_SATISFIABLE
                if content_range(headers) == Some((None, Some(self.position))) =>
            {
                self.size = Some(self.position);
                self.incoming = Some(incoming.without_body());
                return Ok(());
            }
            // Another success, such as 202, has something else in its body.
            _ if !matches!(status.as_u16(), 200 | 203) => {
                let url = incoming.url.clone();
                let reply = incoming.refusal().await;
                let withheld = repeats_query(&reply.body, &url);
                return Err(reply.refused_as(withheld));
            }
            _ => {
                let length =
                    headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
                (Some(0), length)
            }
        };
        if begin != Some(self.position) {
            return Err(incoming.fail(Error::not_continued(status, self.position)));
        }
        if let Some(error) = encoded(status, headers) {
            return Err(incoming.fail(error));
        }
        incoming.check_size(size.unwrap_or_default(), self.settings.max_size, "max_size")?;
        (self.size, self.content_type) = (size, incoming.content_type());
        self.incoming = Some(incoming);
        self.report();
        Ok(())
    }

    /// Sends the request and receives the head of the response. Redirects are followed, since there
    /// is no key that they could leak.
    async fn request(&mut self, running: Running) -> Result<Incoming, Error> {
        let (route, context) = (Route::new(Method::GET, Route::ASSET), &self.context);
        let (client, mut headers) = (&context.client.0, HeaderMap::new());
        headers.insert(USER_AGENT, client.user_agent.clone());
        headers.extend(context.options.headers.clone());
        if self.position > 0 {
            let range = HeaderValue::try_from(format!("bytes={}-", self.position));
            headers.extend(range.ok().map(|range| (RANGE, range)));
        }
        let (mut url, mut redirects) = (self.url.clone(), 0);
        loop {
            self.requests += 1;
            let attempt = self.span.attempt(&route, &url, self.requests, None);
            let (method, body) = (Method::GET, Body::default());
            let sending = client.http_client.send(method, &url, headers.clone(), body);
            let response = match attempt.around(running.head(sending)).await {
                Ok(response) => response.map_err(|failure| Error::no_response(&url, failure)),
                Err(limit) => Err(Error::timed_out(&url, limit, None)),
            };
            attempt.ended(response.as_ref().map(Response::status));
            let response = response.map_err(|error| error.of(route.clone(), None))?;
            let incoming = Incoming::new(route.clone(), url, response, running);
            match incoming.redirect(redirects, |to| check_asset(&incoming.url, to))? {
                Some(next) => url = next,
                None => return Ok(incoming),
            }
            redirects += 1;
        }
    }

    fn report(&mut self) {
        (self.settings.on_progress)(DownloadProgress {
            attempt: self.attempts.history.attempts,
            received: self.position,
            total: self.size,
        });
    }
}

/// `Content-Range` (RFC 9110, section 14.4): the first byte of the part, if the response has one, and
/// the size of the asset, if it is known.
fn content_range(headers: &HeaderMap) -> Option<(Option<u64>, Option<u64>)> {
    let text = headers.get(CONTENT_RANGE)?.to_str().ok()?.trim();
    let (part, size) = text.strip_prefix("bytes ")?.split_once('/')?;
    let first = part.split_once('-').and_then(|(first, _)| first.parse().ok());
    Some((first, size.parse().ok()))
}
