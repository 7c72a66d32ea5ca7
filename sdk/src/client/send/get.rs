//! Downloads an asset, from any host and without the key.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, LOCATION, USER_AGENT};
use http::{HeaderMap, Method, StatusCode};
use url::Url;

use super::attempt::{Broken, collect_start};
use super::limit::Running;
use super::{repeats_query, request_id};
use crate::client::error::Refusal;
use crate::client::reply::Reply;
use crate::client::request::Route;
use crate::client::trace::Span;
use crate::client::transport::{Incoming, IncomingBody, Outgoing, OutgoingBody};
use crate::client::{Client, Error};

/// Redirects that are followed.
const REDIRECTS_MAX: u32 = 5;

impl Client {
    /// Requests the asset at this URL and receives the head of the response. Redirects are
    /// followed, since there is no key that they could leak (S-45 of the silent points).
    pub(in crate::client) async fn open_asset(
        &self,
        url: &str,
        max_size: u64,
        span: &Span,
    ) -> Result<Download, Error> {
        let route = Route::new(Method::GET, "{url}");
        let invalid = || Error::input("the URL of the asset is not an absolute http or https URL");
        let mut url = Url::parse(url).ok().filter(is_web).ok_or_else(invalid)?;
        let running = Running::idle_only(self.0.limits);
        let mut redirects = 0;
        let Incoming { status, headers, body, .. } = loop {
            let attempt = span.attempt(&route, &url, redirects + 1);
            let answer = attempt.around(self.get_once(&url, &running)).await;
            attempt.ended(answer.as_ref().map(|answer| answer.status));
            let answer = answer.map_err(|error| error.of(route.clone(), None))?;
            if !is_redirect(answer.status) {
                break answer;
            }
            let location = location(&url, &answer.headers);
            url = target(&url, location.as_ref(), redirects).map_err(|why| {
                Error::redirected(answer.status, location.as_ref().map(Url::as_str), why)
                    .of(route.clone(), request_id(&answer.headers))
            })?;
            redirects += 1;
        };
        if !status.is_success() {
            let body = collect_start(body, &running).await;
            let withheld = repeats_query(&body, &url);
            let reply = Reply::new(route, status, headers, body).with_retry_after();
            return Err(if withheld {
                reply.refused_with(Refusal::Withheld)
            } else {
                reply.refused()
            });
        }
        let download =
            Download { route, url, status, headers, body, running, max_size, received: 0 };
        if download.body.length().is_some_and(|length| length > max_size) {
            return Err(download.error(Broken::TooLarge(max_size)));
        }
        Ok(download)
    }

    async fn get_once(&self, url: &Url, running: &Running) -> Result<Incoming, Error> {
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, self.0.user_agent.clone());
        let request = Outgoing::new(Method::GET, url.clone(), headers, OutgoingBody::EMPTY);
        let origin = || url.origin().ascii_serialization();
        let answered = running.first(self.0.transport.send(request)).await;
        let answered = answered.map_err(|limit| limit.error(origin(), None))?;
        answered.map_err(|source| Error::failed(origin(), source))
    }
}

/// An asset whose body is being received.
pub(in crate::client) struct Download {
    route: Route,
    url: Url,
    status: StatusCode,
    headers: HeaderMap,
    body: IncomingBody,
    running: Running,
    max_size: u64,
    received: u64,
}

impl Download {
    pub(in crate::client) fn content_type(&self) -> Option<String> {
        let value = self.headers.get(CONTENT_TYPE)?;
        value.to_str().ok().map(str::to_owned)
    }

    /// The next chunk; `None` at the end.
    pub(in crate::client) async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        let chunk = match self.running.step(self.body.chunk()).await {
            Ok(chunk) => chunk.map_err(Broken::Failed),
            Err(timed_out) => Err(Broken::TimedOut(timed_out)),
        };
        let chunk = chunk.map_err(|broken| self.error(broken))?;
        self.received += chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
        if self.received > self.max_size {
            return Err(self.error(Broken::TooLarge(self.max_size)));
        }
        Ok(chunk)
    }

    fn error(&self, broken: Broken) -> Error {
        let error = broken.error(self.status, || self.url.origin().ascii_serialization());
        error.of(self.route.clone(), request_id(&self.headers))
    }
}

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

const fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

fn location(from: &Url, headers: &HeaderMap) -> Option<Url> {
    from.join(headers.get(LOCATION)?.to_str().ok()?).ok()
}

/// Where a redirect leads, or why it is not followed.
fn target(from: &Url, to: Option<&Url>, redirects: u32) -> Result<Url, &'static str> {
    let to = to.filter(|to| is_web(to)).ok_or("an asset is at an http or https address")?;
    if redirects == REDIRECTS_MAX {
        return Err("there were too many redirects before it");
    }
    if from.scheme() == "https" && to.scheme() != "https" {
        return Err("a redirect from https to http is not followed");
    }
    Ok(to.clone())
}
