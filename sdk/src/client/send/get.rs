//! Fetching an asset: from wherever it is, and without the key.

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_TYPE, LOCATION, USER_AGENT};
use http::{HeaderMap, Method, StatusCode};
use reqwest::Response;
use tokio::time::timeout;
use url::Url;

use super::{Reply, collect_start, request_id};
use crate::client::request::Route;
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
    ) -> Result<(Option<String>, Bytes), Error> {
        let route = Route { method: Method::GET, template: "{url}" };
        let unfit = || Error::input("the address of the asset is no absolute http or https URL");
        let mut url = Url::parse(url).ok().filter(is_web).ok_or_else(unfit)?;
        let mut redirects = 0;
        loop {
            let origin = url.origin().ascii_serialization();
            let request = self.0.http.get(url.clone()).header(USER_AGENT, &self.0.user_agent);
            let stalled = || Error::stalled(origin.clone()).of(route.clone(), None);
            let answered = timeout(self.0.request_timeout, request.send()).await;
            let response = answered
                .map_err(|_| stalled())?
                .map_err(|source| Error::unsent(origin.clone(), source).of(route.clone(), None))?;
            let (status, headers) = (response.status(), response.headers().clone());
            let id = request_id(&headers);
            if is_redirect(status) {
                let location = location(&url, &headers);
                url = target(&url, location.as_ref(), redirects).map_err(|why| {
                    Error::redirected(status, location.as_ref().map(Url::as_str), why)
                        .of(route.clone(), id)
                })?;
                redirects += 1;
                continue;
            }
            if !status.is_success() {
                let body = collect_start(response, self.0.request_timeout).await;
                return Err(Reply { route, status, headers, body, withheld: false }.refused());
            }
            let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
            let content_type = content_type.map(str::to_owned);
            return match self.take(response, size_max, &origin).await {
                Ok(bytes) => Ok((content_type, bytes)),
                Err(error) => Err(error.of(route, id)),
            };
        }
    }

    async fn take(
        &self,
        mut response: Response,
        size_max: u64,
        origin: &str,
    ) -> Result<Bytes, Error> {
        let status = response.status();
        let too_large = || Error::too_large(status, size_max);
        if response.content_length().is_some_and(|size| size > size_max) {
            return Err(too_large());
        }
        let mut bytes = BytesMut::new();
        loop {
            let chunk = timeout(self.0.request_timeout, response.chunk()).await;
            let chunk = chunk.map_err(|_| Error::stalled(origin.to_owned()))?;
            let chunk = chunk.map_err(|source| Error::broken_off(status, source))?;
            let Some(chunk) = chunk else { return Ok(bytes.freeze()) };
            if (bytes.len() + chunk.len()) as u64 > size_max {
                return Err(too_large());
            }
            bytes.extend_from_slice(&chunk);
        }
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
