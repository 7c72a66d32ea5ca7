//! One request with its retries, and the question whether a paid one was carried out.

use std::time::Duration;

use super::Context;
use crate::error::{Error, Outcome};
use crate::send::evidence::{Evidence, is_absent};
use crate::send::policy::Backoff;
use crate::send::reply::RawResponse;
use crate::send::request::Request;
use crate::send::timeout::until;
use crate::time::{Instant, sleep};

const FIRST_QUESTION: Duration = Duration::from_millis(200);

impl Context {
    pub(crate) async fn exchange<T>(
        &self,
        request: &Request,
        read: &(dyn Fn(RawResponse) -> Result<T, Error> + Send + Sync),
    ) -> Result<T, Error> {
        let error = match self.client.0.send(request, &self.options).await.and_then(read) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        match &request.status {
            Some(status) if error.outcome() != Outcome::NotDone => {
                match Box::pin(self.find_job(status, &error)).await {
                    Some(reply) => read(reply),
                    None => Err(error),
                }
            }
            _ => Err(error),
        }
    }

    /// Asks for the job of a request with an unknown outcome, for as long as the response to the
    /// request was waited for. `None` if that does not show it: a service may store a job late, so
    /// an absence does not say that it never will.
    async fn find_job(&self, status: &Request, error: &Error) -> Option<RawResponse> {
        let Self { client, options } = self;
        let limits = options.limits(&client.0);
        let window = limits.response();
        let end = Instant::now()
            .checked_add(window)
            .into_iter()
            .chain(limits.deadline.map(|(end, _)| end))
            .min();
        let once = options.clone().without_retries();
        // The last question comes near the end.
        let mut backoff = Backoff::new(FIRST_QUESTION, window / 8);
        let mut delay = backoff.delay(error.retry_after().filter(|after| *after < window));
        let asking = async {
            loop {
                sleep(delay).await;
                if let Ok(reply) = client.0.send(status, &once).await {
                    match reply.job_evidence() {
                        Ok(Evidence::Present(())) => return Some(reply),
                        // After any other refusal, such as 401, a later response tells no more.
                        Err(error)
                            if !reply.status.is_success()
                                && !error.is_retryable()
                                && !is_absent(&error) =>
                        {
                            return None;
                        }
                        Ok(Evidence::Absent | Evidence::Unclear(_)) | Err(_) => {}
                    }
                }
                delay = backoff.delay(None);
            }
        };
        until(end, asking).await.ok().flatten()
    }
}
