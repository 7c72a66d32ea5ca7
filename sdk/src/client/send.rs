//! Sends calls to the service and retries them. `retry` decides which failures are retried;
//! `files` sends to other hosts, without the key.

mod files;
mod incoming;

use std::time::Duration;

use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use tokio::time::Instant;
use url::Url;

use self::incoming::{Incoming, MaxSize, check_call};
use super::config::{CallOptions, Config};
use super::reply::Reply;
use super::request::Request;
use super::retry::{AttemptFailure, Attempts};
use super::timeout::{Limits, Running};
use super::trace::Span;
use super::transport::Body;
use super::{Client, Error};

impl Client {
    /// Sends a request, with retries, and returns the last response, whatever its status.
    pub(super) async fn send(
        &self,
        request: &Request,
        options: &CallOptions,
    ) -> Result<Reply, Error> {
        // Without this, the first timer panics.
        tokio::runtime::Handle::try_current().map_err(|_| {
            Error::config(
                "no Tokio runtime is running; await the call inside one, or use the feature \
                 `blocking`",
            )
        })?;
        if let Some(invalid) = &request.invalid {
            return Err(Error::input(invalid.clone()));
        }
        let config = &*self.0;
        options.check()?;
        let limits = options.limits(config);
        let end = Instant::now().checked_add(limits.call);
        let sending = Sending { config, request, options, limits, end };
        let (policy, budget) = (options.policy(config), &config.budget);
        let mut attempts = Attempts::first(policy, budget, request.resend);
        let span = Span::call(&request.route, &config.base_url);
        loop {
            let attempt = span.attempt(&request.route, &config.base_url, attempts.number);
            let outcome = attempt.around(sending.attempt()).await;
            let status = outcome.as_ref().map(|reply| reply.status);
            attempt.ended(status);
            let (failure, retry_after) = match &outcome {
                Ok(reply) if reply.status.is_success() => (None, None),
                Ok(reply) => (Some(AttemptFailure::Status(reply.status)), reply.retry_after()),
                Err(error) => (error.attempt_failure(), None),
            };
            let backoff =
                failure.and_then(|failure| attempts.backoff(failure, retry_after, sending.left()));
            let Some(backoff) = backoff else {
                let (number, job) = (attempts.number, request.job.clone());
                return match outcome {
                    Ok(mut reply) => {
                        (reply.attempts, reply.job) = (number, job);
                        Ok(reply.of_call(span, config))
                    }
                    Err(error) => {
                        span.ended(Err(&error));
                        Err(error.after_attempts(number, job))
                    }
                };
            };
            span.again(attempts.number, backoff, status);
            tokio::time::sleep(backoff).await;
        }
    }
}

struct Sending<'a> {
    config: &'a Config,
    request: &'a Request,
    options: &'a CallOptions,
    limits: Limits,
    end: Option<Instant>,
}

impl Sending<'_> {
    /// The time left for the call; `None` without a limit.
    fn left(&self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    async fn attempt(&self) -> Result<Reply, Error> {
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
            let check =
                |_: &Url, to: Option<&Url>| check_call(&route.method, base_url, to, redirects);
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
