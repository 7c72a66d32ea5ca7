//! Fetching an asset: from wherever it is, and without the key.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, LOCATION, USER_AGENT};
use http::{HeaderMap, Method, StatusCode};
use url::Url;

use super::attempt::{collect_start, collect_whole};
use super::limit::Running;
use super::{repeats_query, request_id};
use crate::client::error::Refusal;
use crate::client::reply::Reply;
use crate::client::request::Route;
use crate::client::trace::Span;
use crate::client::transport::{Incoming, Outgoing, OutgoingBody};
use crate::client::{Client, Error};

/// How often an asset may be somewhere else.
const REDIRECTS_MAX: u32 = 5;

impl Client {
    /// The bytes at an address and their type. Redirects are followed: there is no key
    /// that they could lead astray, and an asset may be at a storage (S-45 of the silent
    /// points).
    pub(in crate::client) async fn fetch(
        &self,
        url: &str,
        size_max: u64,
        span: &Span,
    ) -> Result<(Option<String>, Bytes), Error> {
        let route = Route::new(Method::GET, "{url}");
        let unfit = || Error::input("the address of the asset is no absolute http or https URL");
        let mut url = Url::parse(url).ok().filter(is_web).ok_or_else(unfit)?;
        let running = Running::idle_only(&self.0.time, self.0.limits.idle);
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
            let reply = Reply::new(route, status, headers, body).with_wish(&self.0.time);
            return Err(if withheld {
                reply.refused_with(Refusal::Withheld)
            } else {
                reply.refused()
            });
        }
        let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let content_type = content_type.map(str::to_owned);
        match collect_whole(body, size_max, &running).await {
            Ok(bytes) => Ok((content_type, bytes)),
            Err(broken) => {
                let error = broken.told(status, || url.origin().ascii_serialization());
                Err(error.of(route, request_id(&headers)))
            }
        }
    }

    async fn get_once(&self, url: &Url, running: &Running<'_>) -> Result<Incoming, Error> {
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, self.0.user_agent.clone());
        let request = Outgoing::new(Method::GET, url.clone(), headers, OutgoingBody::EMPTY);
        let origin = || url.origin().ascii_serialization();
        let answered = running.step(self.0.transport.send(request)).await;
        let answered = answered.map_err(|over| over.told(origin(), None))?;
        answered.map_err(|source| Error::failed(origin(), source))
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
