//! Sends calls to the service and retries them: the one place that sends the API key.

pub(crate) mod config;
pub(crate) mod decode;
pub(crate) mod evidence;
pub(crate) mod incoming;
pub(crate) mod policy;
pub(crate) mod reply;
pub(crate) mod request;
pub(crate) mod retry;
pub(crate) mod throttle;
pub(crate) mod timeout;
pub(crate) mod trace;

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method};
use url::Url;

use self::config::{CallOptions, Config, Credentials};
use self::incoming::{Incoming, check_call};
use self::reply::RawResponse;
use self::request::Request;
use self::retry::Attempts;
use self::timeout::{Limits, Running, until};
use self::trace::Span;
use crate::error::{AttemptFailure, Error};
use crate::time::{Instant, sleep};
use crate::transport::Body;

impl Config {
    /// Sends a request, with retries, and returns the last response, whatever its status.
    pub(crate) async fn send(
        &self,
        request: &Request,
        options: &CallOptions,
    ) -> Result<RawResponse, Error> {
        if let Some(invalid) = &request.invalid {
            return Err(Error::input(invalid.clone()));
        }
        options.check()?;
        let limits = options.limits(self);
        let sending = Sending { config: self, request, options, limits, end: limits.end() };
        let policy = options.policy(self);
        let mut attempts = Attempts::new(policy, &self.budget, options.idempotency(request));
        let span = Span::call(&request.route, &self.base_url);
        let mut last = None;
        loop {
            let Ok(sent_at) = until(sending.end, self.throttle.turn()).await else { break };
            attempts.begin();
            let attempt =
                span.attempt(&request.route, &self.base_url, attempts.history.attempts, None);
            let outcome = &*last.insert(attempt.around(sending.attempt(sent_at)).await);
            let status = outcome.as_ref().map(|reply| reply.status);
            attempt.ended(status);
            let (failure, retry_after) = match outcome {
                Ok(reply) if reply.status.is_success() => (None, None),
                Ok(reply) => (Some(AttemptFailure::Response(reply.status)), reply.retry_after()),
                Err(error) => (error.attempt_failure(), None),
            };
            if failure.is_some_and(AttemptFailure::is_rate_limit)
                && let Some(retry_after) = retry_after
            {
                // A longer pause concerns this call only, or every other call would wait for it.
                if !policy.is_too_long(retry_after) {
                    self.throttle.refused(sent_at, retry_after);
                }
            }
            let Some(failure) = failure else {
                // An error of the client, such as that of a key provider, comes before sending.
                if outcome.is_ok() {
                    attempts.succeeded();
                }
                break;
            };
            let Some(delay) = attempts.next(failure, retry_after, sending.end) else { break };
            span.again(attempts.history.attempts + 1, delay, status);
            sleep(delay).await;
        }
        let (history, job) = (attempts.history, request.job.clone());
        match last.unwrap_or_else(|| Err(sending.no_turn())) {
            Ok(mut reply) => {
                span.answered(reply.status);
                (reply.history, reply.job, reply.span) = (history, job, span);
                Ok(reply)
            }
            Err(error) => {
                span.ended(Err(&error));
                Err(error.of_call(history, job))
            }
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
    fn no_turn(&self) -> Error {
        let limit = self.limits.of_call(self.end);
        Error::unsent(limit, "while the client paused for the rate limit of the service")
            .of(self.request.route.clone(), None)
    }

    async fn attempt(&self, sent_at: Instant) -> Result<RawResponse, Error> {
        let Config { base_url, http_client, max_response_size, credentials, .. } = self.config;
        let route = &self.request.route;
        let fail = |error: Error| error.of(route.clone(), None);
        let running = Running::new(self.limits, self.end);
        let (authorization, began) = match credentials {
            Credentials::Fixed(authorization) => (authorization.clone(), sent_at),
            Credentials::Provider(provider) => {
                let when = "while waiting for the provider of the API key";
                let provided = running.head(config::provided_authorization(&**provider)).await;
                let provided = provided.unwrap_or_else(|limit| Err(Error::unsent(limit, when)));
                (provided.map_err(fail)?, Instant::now())
            }
        };
        let (mut url, mut redirects) = (self.url(), 0);
        loop {
            let body = self.request.body.clone().map(Body::full).unwrap_or_default();
            let headers = self.headers(authorization.clone());
            let sending = http_client.send(route.method.clone(), &url, headers, body);
            let response = match running.head(sending).await {
                Ok(Ok(response)) => response,
                Ok(Err(failure)) => return Err(fail(Error::no_response(&url, failure))),
                Err(limit) => return Err(fail(Error::timed_out(&url, limit, None))),
            };
            let elapsed = began.elapsed();
            let incoming = Incoming::new(route.clone(), url, response, running);
            incoming.check_url()?;
            match incoming.redirect(redirects, |to| check_call(&route.method, base_url, to))? {
                Some(next) => url = next,
                None => {
                    let mut reply = incoming.reply(*max_response_size).await?;
                    (reply.authorization, reply.elapsed) = (Some(authorization), elapsed);
                    return Ok(reply);
                }
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

    fn headers(&self, authorization: HeaderValue) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(5);
        headers.insert(AUTHORIZATION, authorization);
        headers.insert(USER_AGENT, self.config.user_agent.clone());
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if self.request.body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        } else if matches!(self.request.route.method, Method::POST | Method::PUT | Method::PATCH) {
            // Without a length some servers refuse these (411), and by itself none is sent.
            headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        headers.extend(self.options.headers.clone());
        headers
    }
}
