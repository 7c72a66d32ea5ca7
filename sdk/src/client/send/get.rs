//! Downloads an asset, from any host and without the key.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, Method, Response, StatusCode};
use url::Url;

use super::attempt::{Broken, collect_start};
use super::limit::Running;
use super::{redirect, repeats_query, request_id};
use crate::client::error::ErrorBody;
use crate::client::reply::{Reply, encoded};
use crate::client::request::Route;
use crate::client::trace::Span;
use crate::client::transport::{self, Body};
use crate::client::{Client, Error};

impl Client {
    /// Requests the asset at this URL and receives the head of the response. Redirects are
    /// followed, since there is no key that they could leak.
    pub(in crate::client) async fn open_asset(
        &self,
        url: &str,
        max_size: u64,
        span: &Span,
    ) -> Result<Download, Error> {
        let route = Route::new(Method::GET, Route::ASSET);
        let invalid = || Error::input("the URL of the asset is not an absolute http or https URL");
        let mut url = Url::parse(url).ok().filter(redirect::is_web).ok_or_else(invalid)?;
        let running = Running::idle_only(self.0.limits);
        let mut redirects = 0;
        let (head, body) = loop {
            let attempt = span.attempt(&route, &url, redirects + 1);
            let response = attempt.around(self.get_once(&url, &running)).await;
            attempt.ended(response.as_ref().map(Response::status));
            let response = response.map_err(|error| error.of(route.clone(), None))?;
            let status = response.status();
            if !redirect::is_redirect(status) {
                break response.into_parts();
            }
            let to = redirect::location(&url, response.headers());
            redirect::of_asset(&url, to.as_ref(), redirects).map_err(|reason| {
                Error::redirect(status, to.as_ref(), reason)
                    .of(route.clone(), request_id(response.headers()))
            })?;
            url = to.unwrap_or(url);
            redirects += 1;
        };
        let (status, headers) = (head.status, head.headers);
        if !status.is_success() {
            let body = collect_start(body, &running).await;
            let withheld = repeats_query(&body, &url);
            let reply = Reply::new(route, status, headers, body).with_retry_after();
            return Err(if withheld {
                reply.refused_with(ErrorBody::Withheld)
            } else {
                reply.refused()
            });
        }
        let download =
            Download { route, url, status, headers, body, running, max_size, received: 0 };
        download.check()?;
        Ok(download)
    }

    async fn get_once(&self, url: &Url, running: &Running) -> Result<Response<Body>, Error> {
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, self.0.user_agent.clone());
        let request = transport::request(Method::GET, url, headers, Body::default())?;
        running.exchange(&*self.0.transport, request, url).await
    }
}

/// An asset whose body is being received.
pub(in crate::client) struct Download {
    route: Route,
    url: Url,
    status: StatusCode,
    headers: HeaderMap,
    body: Body,
    running: Running,
    max_size: u64,
    received: u64,
}

impl Download {
    /// Fails if the head says that the body cannot be used.
    fn check(&self) -> Result<(), Error> {
        if let Some(error) = encoded(self.status, &self.headers) {
            return Err(self.of(error));
        }
        let is_too_large = self.body.length().is_some_and(|length| length > self.max_size);
        if is_too_large { Err(self.broken(self.too_large())) } else { Ok(()) }
    }

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
        let chunk = chunk.map_err(|broken| self.broken(broken))?;
        self.received += chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
        if self.received > self.max_size {
            return Err(self.broken(self.too_large()));
        }
        Ok(chunk)
    }

    const fn too_large(&self) -> Broken {
        Broken::TooLarge(self.max_size, "max_size")
    }

    fn broken(&self, broken: Broken) -> Error {
        self.of(broken.error(self.status, &self.url))
    }

    fn of(&self, error: Error) -> Error {
        error.of(self.route.clone(), request_id(&self.headers))
    }
}
