//! One attempt of a call: sends the request once and receives the response.

use std::time::Duration;

use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use tokio::time::Instant;
use url::Url;

use super::incoming::{Incoming, MaxSize};
use super::limit::Running;
use super::redirect;
use crate::client::Error;
use crate::client::config::{Config, Limits};
use crate::client::options::CallOptions;
use crate::client::reply::Reply;
use crate::client::request::Request;
use crate::client::transport::Body;

/// A request and the limits of its call.
pub(super) struct Sending<'a> {
    config: &'a Config,
    request: &'a Request,
    options: &'a CallOptions,
    limits: Limits,
    /// When the call times out.
    end: Option<Instant>,
}

impl<'a> Sending<'a> {
    pub(super) fn new(
        config: &'a Config,
        request: &'a Request,
        options: &'a CallOptions,
    ) -> Result<Self, Error> {
        options.check()?;
        let limits = options.limits(config);
        Ok(Self { config, request, options, limits, end: Instant::now().checked_add(limits.call) })
    }

    /// The time left for the call; `None` without a limit.
    pub(super) fn left(&self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    pub(super) async fn attempt(&self) -> Result<Reply, Error> {
        let Config { base_url, http_client, max_response_size, .. } = self.config;
        let route = &self.request.route;
        let max = MaxSize { bytes: *max_response_size, setting: "max_response_size" };
        let running = Running::new(self.limits, self.end);
        let (mut url, mut redirects) = (self.url(), 0);
        loop {
            let body = self.request.body.clone().map(Body::full).unwrap_or_default();
            let sending = http_client.send(route.method.clone(), &url, self.headers(), body);
            let response = running.exchange(&url, sending).await;
            let response = response.map_err(|error| error.of(route.clone(), None))?;
            let incoming = Incoming::new(route.clone(), url, response, running, max);
            incoming.check_url()?;
            let check = |_: &Url, to: Option<&Url>| {
                redirect::check_call(&route.method, base_url, to, redirects)
            };
            match incoming.redirect(check)? {
                Some(next) => url = next,
                None => return incoming.reply().await,
            }
            redirects += 1;
        }
    }

    fn url(&self) -> Url {
        let mut url = self.config.base_url.clone();
        url.set_path(&format!("{}{}", url.path().trim_end_matches('/'), self.request.path));
        if !self.request.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.request.query);
        }
        url
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = self.config.headers.clone();
        if self.request.body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        } else if self.request.route.method == Method::POST {
            // Without a length some servers refuse a POST (411), and by itself none is sent.
            headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        self.options.add_headers(&mut headers);
        headers
    }
}
