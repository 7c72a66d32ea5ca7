//! Polls the status of a job and streams its changes. There is no task: dropping it ends it.

use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use futures_core::future::BoxFuture;

use super::{Polling, Polls, status_request};
use crate::call::{Call, Context, require_runtime};
use crate::error::Error;
use crate::macros::{debug, stream};
use crate::model::{GenerationJob, GenerationStatus, JobId, OutputHint, Timestamp};
use crate::send::evidence::is_absent;
use crate::send::policy::Backoff;
use crate::send::timeout::until;
use crate::time::{Elapsed, Instant, sleep};

/// For this long after a job was queued, 404 does not mean that there is no such job yet.
const NEW_JOB: Duration = Duration::from_secs(10);

/// The status, and `Retry-After` of its response.
type Polled = Result<(GenerationStatus, Option<Duration>), Error>;
type Step = BoxFuture<'static, Result<Polled, Elapsed>>;
type Change = Result<GenerationStatus, Error>;

const TIMEOUT: Duration = Duration::from_secs(600);

/// A job to ask for: its id, or the [`GenerationJob`], which also knows the vault and the text of
/// the output that [`wait`](crate::resources::Generations::wait) looks for.
#[derive(Debug, Clone)]
pub struct GenerationRef {
    pub(super) id: JobId,
    pub(super) output: OutputHint,
}

impl From<&GenerationJob> for GenerationRef {
    fn from(job: &GenerationJob) -> Self {
        Self { id: job.client_job_id.clone(), output: job.output_hint.clone().unwrap_or_default() }
    }
}

impl From<GenerationJob> for GenerationRef {
    fn from(job: GenerationJob) -> Self {
        Self::from(&job)
    }
}

impl<Id: Into<JobId>> From<Id> for GenerationRef {
    fn from(id: Id) -> Self {
        Self { id: id.into(), output: OutputHint::default() }
    }
}

/// A stream of the status of a job: the first one, each that differs from the one before, and
/// last the final one. Returned by [`Generations::watch`](crate::resources::Generations::watch).
///
/// The delay between polls grows, has jitter, and is at least `Retry-After`. A poll that fails with
/// a transient error ([`Error::is_retryable`]) or cannot be decoded does not end the stream, nor does
/// 404 in the 10 seconds after the job was queued, nor the first two in a row after a status; another
/// error and the timeout, which starts with the first poll, do, and name the job and its last
/// status. A failed job is not an error here: its final status says so.
///
/// ```
/// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
/// let mut changes = client.generations().watch("invoice-17");
/// while let Some(status) = changes.next().await {
///     println!("{}", status?.state);
/// }
/// # Ok(()) }
/// ```
pub type Watch = Call<GenerationStatus, Watching>;

/// The state of polling a job.
pub struct Watching {
    pub(super) job: JobId,
    /// The end of the time in which the service may not know the job yet.
    new_until: Option<Instant>,
    absences: u32,
    pub(super) polling: Polling,
    backoff: Option<Backoff>,
    pub(super) timeout: Duration,
    /// The end of the timeout, which starts with the first poll; `Some(None)` if there is none.
    deadline: Option<Option<Instant>>,
    delay: Duration,
    step: Option<Step>,
    ended: bool,
    last_status: Option<GenerationStatus>,
    last_error: Option<Error>,
}

/// After a status was received, so many responses in a row may say that there is no such job: not
/// every replica may have it.
const ABSENCES_MAX: u32 = 2;

impl Polls for Watching {
    fn polling(&mut self) -> &mut Polling {
        &mut self.polling
    }
}

impl Call<GenerationStatus, Watching> {
    /// The id of the job.
    pub const fn job_id(&self) -> &JobId {
        &self.builder.job
    }

    /// The status of the last poll that succeeded.
    pub const fn last_status(&self) -> Option<&GenerationStatus> {
        self.builder.last_status.as_ref()
    }

    /// The transient error of the last poll, if it failed.
    pub const fn last_error(&self) -> Option<&Error> {
        self.builder.last_error.as_ref()
    }

    fn poll_change(&mut self, cx: &mut TaskContext<'_>) -> Poll<Option<Change>> {
        self.builder.poll_change(&mut self.context, cx)
    }
}

impl Watching {
    pub(super) fn new(job: &GenerationRef) -> Self {
        let queued = job.output.latest.map(|latest| Timestamp::now().duration_since(latest));
        let age = queued.map(|age| Duration::try_from(age).unwrap_or_default());
        let new_for = age.map(|age| NEW_JOB.saturating_sub(age));
        Self {
            job: job.id.clone(),
            new_until: new_for.map(|new_for| Instant::now() + new_for),
            polling: Polling::default(),
            absences: 0,
            backoff: None,
            timeout: TIMEOUT,
            deadline: None,
            delay: Duration::ZERO,
            step: None,
            ended: false,
            last_status: None,
            last_error: None,
        }
    }

    /// The end of all of it; starts the time.
    pub(super) fn start(&mut self, context: &mut Context) -> Option<Instant> {
        *self.deadline.get_or_insert_with(|| {
            self.timeout = context.options.timeout.take().unwrap_or(TIMEOUT);
            Instant::now().checked_add(self.timeout)
        })
    }

    pub(super) fn queued(&mut self, job: JobId) {
        self.job = job;
        self.new_until = Some(Instant::now() + NEW_JOB);
    }

    pub(super) fn delay(&mut self, retry_after: Option<Duration>) -> Duration {
        let Polling { interval, max_interval, .. } = self.polling;
        self.backoff.get_or_insert_with(|| Backoff::new(interval, max_interval)).delay(retry_after)
    }

    pub(super) fn poll_change(
        &mut self,
        context: &mut Context,
        cx: &mut TaskContext<'_>,
    ) -> Poll<Option<Change>> {
        while !self.ended {
            let mut step = self.step.take().unwrap_or_else(|| self.next_step(context));
            let Poll::Ready(outcome) = step.as_mut().poll(cx) else {
                self.step = Some(step);
                return Poll::Pending;
            };
            let outcome = outcome.unwrap_or_else(|_| Err(self.timed_out()));
            let change = self.take(context, outcome);
            if change.is_some() {
                return Poll::Ready(change);
            }
        }
        Poll::Ready(None)
    }

    /// Waits and polls once. A poll is not retried by itself, since the watch polls again.
    fn next_step(&mut self, context: &mut Context) -> Step {
        let deadline = self.start(context);
        let Context { client, options } = context.clone();
        let context = Context { client, options: options.without_retries() };
        let call = Call::new(context, status_request(&self.job), |reply| {
            let retry_after = reply.retry_after().flatten();
            Ok((reply.data()?, retry_after))
        });
        let delay = self.delay;
        Box::pin(async move {
            // The deadline needs one too.
            if let Err(error) = require_runtime() {
                return Ok(Err(error));
            }
            let poll = async move {
                // Even a sleep of zero takes a tick of the timer.
                if !delay.is_zero() {
                    sleep(delay).await;
                }
                call.await
            };
            until(deadline, poll).await
        })
    }

    /// Decides what follows from a poll, and whether it is a change.
    fn take(&mut self, context: &Context, outcome: Polled) -> Option<Change> {
        let (change, retry_after) = match outcome {
            Ok((status, retry_after)) => {
                (self.last_error, self.absences) = (None, 0);
                let end = self.polling.end(&status.state);
                self.ended = end.is_some();
                if end == Some(true) {
                    context.client.0.completed();
                }
                let changed = self.last_status.as_ref() != Some(&status);
                self.last_status = Some(status.clone());
                (changed.then_some(Ok(status)), retry_after)
            }
            Err(error) if self.is_transient(&error) => {
                let retry_after = error.retry_after();
                self.last_error = Some(error);
                (None, retry_after)
            }
            Err(error) => {
                self.ended = true;
                (Some(Err(error.with_last_status(self.last_status.clone()))), None)
            }
        };
        if !self.ended {
            // A longer one than a call waits for may outlast the wait.
            let longest = context.options.policy(&context.client.0).max_retry_after;
            self.delay = self.delay(retry_after.map(|after| after.min(longest)));
        }
        change
    }

    /// Whether a later poll may succeed. An answer of success that cannot be read says nothing.
    fn is_transient(&mut self, error: &Error) -> bool {
        if is_absent(error) {
            self.absences += 1;
            let is_new = self.new_until.is_some_and(|until| Instant::now() < until);
            return is_new || self.last_status.is_some() && self.absences <= ABSENCES_MAX;
        }
        error.is_retryable()
            || error.is_decode()
            || error.status().is_some_and(|status| status.is_success())
    }

    pub(super) fn timed_out(&mut self) -> Error {
        let last = self.last_status.clone();
        Error::wait_timeout(self.job.clone(), self.timeout, last, self.last_error.take())
    }
}

stream!([] Call<GenerationStatus, Watching> => GenerationStatus, Error, poll_change);

debug!(Watching, |it| job = it.job, polling = it.polling, last_status = it.last_status);
