//! Sends calls to the service and retries them. `retry` decides which failures are retried; `get`
//! and `put` send to other hosts, without the key.

mod attempt;
mod get;
mod incoming;
mod limit;
mod put;
mod redirect;

use url::Url;

use self::attempt::Sending;
use super::options::CallOptions;
use super::reply::{Reply, repeats};
use super::request::Request;
use super::retry::{AttemptFailure, Attempts};
use super::trace::Span;
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
        let sending = Sending::new(config, request, options)?;
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
                        reply.retry_after = retry_after;
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

/// Whether a response repeats a query parameter, which may be a signature. Some storages quote the
/// request that they refuse.
fn repeats_query(body: &[u8], url: &Url) -> bool {
    let text = String::from_utf8_lossy(body);
    let as_sent = url.query().into_iter().flat_map(|query| query.split(['&', '=']));
    let meant = url.query_pairs().map(|(_, value)| value.into_owned());
    as_sent.map(str::to_owned).chain(meant).any(|secret| repeats(&text, &secret))
}
