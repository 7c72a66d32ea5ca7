//! Polls the status of a job and streams its changes. There is no task: dropping the stream stops
//! the polling.

use std::fmt;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::future::BoxFuture;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, sleep};

use crate::client::call::Endpoint as _;
use crate::client::methods::stream;
use crate::client::retry::Backoff;
use crate::client::timeout::until;
use crate::client::{Client, Error, RetryPolicy};
use crate::model::{GenerationStatus, JobId};

type Step = BoxFuture<'static, Result<Result<Polled, Error>, Elapsed>>;
type Change = Result<GenerationStatus, Error>;

struct Polled {
    status: GenerationStatus,
    retry_after: Option<Duration>,
}

/// A stream of the status of a job: the first one, each that differs from the one before, and
/// last the final one. Returned by [`Generations::watch`](crate::resources::Generations::watch).
///
/// The delay between polls grows, has jitter, and is at least `Retry-After`. A poll that fails
/// with a transient error ([`Error::is_retryable`]) or cannot be decoded does not end the stream;
/// another error and the timeout ([`Error::is_wait_timeout`]) do. A failed job is not an error
/// here: its final status says so. The timeout starts with the first poll.
///
/// ```
/// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
/// let mut changes = client.generations().watch("invoice-17");
/// while let Some(status) = changes.next().await {
///     println!("{}", status?.state);
/// }
/// # Ok(()) }
/// ```
#[must_use = "a stream polls the job only when it is polled"]
pub struct Watch {
    client: Client,
    pub(super) job: JobId,
    poll_interval: Duration,
    max_poll_interval: Duration,
    timeout: Duration,
    backoff: Option<Backoff>,
    /// The end of the timeout, which starts with the first poll; `Some(None)` if there is none.
    deadline: Option<Option<Instant>>,
    /// The wait before the next poll.
    delay: Duration,
    /// That wait and the poll.
    step: Option<Step>,
    ended: bool,
    last_status: Option<GenerationStatus>,
    last_error: Option<Error>,
}

impl Watch {
    pub(super) const fn new(client: Client, job: JobId) -> Self {
        Self {
            client,
            job,
            poll_interval: Duration::from_millis(250),
            max_poll_interval: Duration::from_secs(3),
            timeout: Duration::from_secs(600),
            backoff: None,
            deadline: None,
            delay: Duration::ZERO,
            step: None,
            ended: false,
            last_status: None,
            last_error: None,
        }
    }

    /// The delay before the second poll; 250 milliseconds by default. It doubles with each poll;
    /// with jitter, the delay is between half of it and the whole.
    pub const fn poll_interval(mut self, interval: Duration) -> Self {
        self.poll_interval = interval;
        self
    }

    /// The longest delay between two polls; 3 seconds by default.
    pub const fn max_poll_interval(mut self, interval: Duration) -> Self {
        self.max_poll_interval = interval;
        self
    }

    /// How long to wait for the end of the job; 10 minutes by default, [`Duration::MAX`] for no
    /// limit.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The id of the job.
    #[must_use]
    pub const fn job_id(&self) -> &JobId {
        &self.job
    }

    /// The status of the last poll that succeeded.
    #[must_use]
    pub const fn last_status(&self) -> Option<&GenerationStatus> {
        self.last_status.as_ref()
    }

    /// The transient error of the last poll, if it failed.
    #[must_use]
    pub const fn last_error(&self) -> Option<&Error> {
        self.last_error.as_ref()
    }

    /// Retries a call until it succeeds or fails with an error that is not transient, within the
    /// same timeout.
    pub(super) async fn retrying<'a, T>(
        &mut self,
        mut call: impl FnMut() -> BoxFuture<'a, Result<T, Error>>,
    ) -> Result<T, Error> {
        loop {
            let deadline = self.deadline();
            match until(deadline, call()).await {
                Ok(Err(error)) if error.is_retryable() => {
                    let delay = self.delay(error.retry_after());
                    self.last_error = Some(error);
                    self.sleep(delay).await?;
                }
                Ok(outcome) => return outcome,
                Err(_) => return Err(self.timed_out()),
            }
        }
    }

    pub(super) async fn pause(&mut self) -> Result<(), Error> {
        let delay = self.delay(None);
        self.sleep(delay).await
    }

    async fn sleep(&mut self, delay: Duration) -> Result<(), Error> {
        let slept = until(self.deadline(), sleep(delay)).await;
        slept.map_err(|_| self.timed_out())
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline.flatten()
    }

    fn delay(&mut self, retry_after: Option<Duration>) -> Duration {
        let (initial, max) = (self.poll_interval, self.max_poll_interval);
        self.backoff.get_or_insert_with(|| Backoff::new(initial, max)).delay(retry_after)
    }

    fn poll_change(&mut self, cx: &mut Context<'_>) -> Poll<Option<Change>> {
        let timeout = self.timeout;
        self.deadline.get_or_insert_with(|| Instant::now().checked_add(timeout));
        while !self.ended {
            let mut step = self.step.take().unwrap_or_else(|| self.next_step());
            let Poll::Ready(outcome) = step.as_mut().poll(cx) else {
                self.step = Some(step);
                return Poll::Pending;
            };
            let change = match outcome {
                Ok(outcome) => self.take(outcome),
                Err(_) => {
                    self.ended = true;
                    Some(Err(self.timed_out()))
                }
            };
            if change.is_some() {
                return Poll::Ready(change);
            }
        }
        Poll::Ready(None)
    }

    /// Waits and polls once. A poll is not retried by itself, since the watch polls again.
    fn next_step(&self) -> Step {
        let call = self.client.generation_status(&self.job).retry(RetryPolicy::never());
        let (delay, deadline) = (self.delay, self.deadline());
        Box::pin(until(deadline, async move {
            // Even a sleep of zero takes a tick of the timer.
            if !delay.is_zero() {
                sleep(delay).await;
            }
            let reply = call.exchange().await?;
            let retry_after = reply.retry_after();
            Ok(Polled { status: call.read(reply)?, retry_after })
        }))
    }

    /// Decides what follows from a poll, and whether it is a change.
    fn take(&mut self, outcome: Result<Polled, Error>) -> Option<Change> {
        let (retry_after, is_final) = match &outcome {
            Err(error) if is_transient(error) => (error.retry_after(), false),
            Err(_) => (None, true),
            Ok(polled) => (polled.retry_after, polled.status.state.is_final()),
        };
        self.ended = is_final;
        if !is_final {
            self.delay = self.delay(retry_after);
        }
        match outcome {
            Ok(Polled { status, .. }) => {
                self.last_error = None;
                let changed = self.last_status.as_ref() != Some(&status);
                self.last_status = Some(status.clone());
                changed.then_some(Ok(status))
            }
            Err(error) if is_final => Some(Err(error)),
            Err(error) => {
                self.last_error = Some(error);
                None
            }
        }
    }

    pub(super) fn timed_out(&mut self) -> Error {
        let last = self.last_status.clone();
        Error::wait_timeout(self.job.clone(), self.timeout, last, self.last_error.take())
    }
}

/// Whether a later poll may succeed. An answer of success that cannot be read says nothing about
/// the job.
fn is_transient(error: &Error) -> bool {
    error.is_retryable() || error.is_decode() || error.status().is_some_and(|s| s.is_success())
}

stream!(Watch -> GenerationStatus, poll_change);

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("job", &self.job)
            .field("timeout", &self.timeout)
            .field("last_status", &self.last_status)
            .finish_non_exhaustive()
    }
}
