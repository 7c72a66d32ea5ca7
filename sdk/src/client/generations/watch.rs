//! Asking for a job's status again and again, as a stream of what changed.
//!
//! Knows no resource and sends nothing itself: it is handed the question. There is
//! no task behind it, so dropping it ends everything it does.

use std::fmt;
use std::future::poll_fn;
use std::ops::RangeInclusive;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use futures_core::future::BoxFuture;
use tokio::time::Instant;

use crate::client::Error;
use crate::client::backoff::{Backoff, Dice};
use crate::client::clock::Time;
use crate::model::{GenerationStatus, JobId};

type Ask = dyn FnMut() -> Asking + Send;
type Asking = BoxFuture<'static, Result<Answer, Error>>;
type Change = Result<GenerationStatus, Error>;

/// One answer to the question how far a job has come.
pub(super) struct Answer {
    pub(super) status: GenerationStatus,
    /// How long the service asks to be left alone.
    pub(super) retry_after: Option<Duration>,
}

/// What becomes of a job, as a stream: its status at once, then each status that
/// differs from the one before, and last the final one.
///
/// Made by [`Generations::watch`](crate::call::Generations::watch). The job is asked
/// for again after a delay that grows, is never the same twice, and is never shorter
/// than the service asks for. A poll that fails in a way that may pass
/// ([`Error::is_retryable`]) does not end the stream; any other failure does, as an
/// error, and so does the deadline ([`Error::is_deadline`]). A job that failed is no
/// error here: its final status says so.
///
/// The deadline starts when the stream is first polled, and needs a Tokio runtime.
/// Dropping the stream stops all its traffic.
///
/// ```
/// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
/// let mut changes = client.generations().watch("invoice-17");
/// while let Some(status) = changes.next().await {
///     println!("{}", status?.status);
/// }
/// # Ok(())
/// # }
/// # promptarium::testing::demo::run(example);
/// ```
#[must_use = "a stream asks only when it is polled"]
pub struct Watch {
    job: JobId,
    ask: Box<Ask>,
    time: Time,
    backoff: Backoff,
    deadline: Duration,
    over: Option<Over>,
    state: State,
    last: Option<GenerationStatus>,
    failure: Option<Error>,
}

enum State {
    Due,
    Asking(Asking),
    Waiting(BoxFuture<'static, ()>),
    Ended,
}

/// The deadline, running; without a moment it is never reached.
struct Over {
    at: Option<Instant>,
    sleep: BoxFuture<'static, ()>,
}

impl Watch {
    /// How long the whole may take unless told otherwise: 10 minutes.
    pub const DEFAULT_DEADLINE: Duration = Duration::from_secs(600);

    /// How long to wait before asking again unless told otherwise: a quarter of a
    /// second at first, then longer, up to 5 seconds.
    pub const DEFAULT_POLL_EVERY: RangeInclusive<Duration> =
        Duration::from_millis(250)..=Duration::from_secs(5);

    pub(super) fn new(
        job: JobId,
        time: Time,
        dice: Dice,
        ask: impl FnMut() -> Asking + Send + 'static,
    ) -> Self {
        Self {
            job,
            ask: Box::new(ask),
            time,
            backoff: Backoff::new(&Self::DEFAULT_POLL_EVERY, dice),
            deadline: Self::DEFAULT_DEADLINE,
            over: None,
            state: State::Due,
            last: None,
            failure: None,
        }
    }

    /// How long to wait before asking again, from the first time to the longest. Each
    /// delay is drawn between half its length and the whole.
    pub fn poll_every(mut self, delays: RangeInclusive<Duration>) -> Self {
        self.backoff = self.backoff.with_lengths(&delays);
        self
    }

    /// How long the whole may take, a poll on its way included;
    /// [`Duration::MAX`] for as long as it needs.
    pub const fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Names the job.
    #[must_use]
    pub const fn job_id(&self) -> &JobId {
        &self.job
    }

    /// The last status that was heard of, also when it did not differ.
    #[must_use]
    pub const fn last(&self) -> Option<&GenerationStatus> {
        self.last.as_ref()
    }

    /// Why the last poll failed, if it did and may yet succeed.
    #[must_use]
    pub const fn last_failure(&self) -> Option<&Error> {
        self.failure.as_ref()
    }

    /// The next change; `None` when the stream has ended.
    pub async fn next(&mut self) -> Option<Change> {
        poll_fn(|cx| self.poll_change(cx)).await
    }

    /// Makes a call that belongs to the waiting again and again, under the same
    /// deadline, until it succeeds or fails for good.
    pub(super) async fn insist<T>(
        &mut self,
        mut call: impl FnMut() -> BoxFuture<'static, Result<T, Error>>,
    ) -> Result<T, Error> {
        let limit = self.over.as_ref().map_or_else(|| Some(self.time.now()), |over| over.at);
        let time = self.time.clone();
        let tries = async {
            loop {
                match call().await {
                    Err(error) if error.is_retryable() => {
                        let delay = self.backoff.delay(error.retry_after());
                        self.failure = Some(error);
                        time.sleep(delay).await;
                    }
                    outcome => return outcome,
                }
            }
        };
        match time.until(limit, tries).await {
            Ok(outcome) => outcome,
            Err(_) => Err(self.too_late()),
        }
    }

    fn poll_change(&mut self, cx: &mut Context<'_>) -> Poll<Option<Change>> {
        self.over.get_or_insert_with(|| Over {
            at: self.time.after(self.deadline),
            sleep: self.time.sleep(self.deadline),
        });
        loop {
            match &mut self.state {
                State::Due => self.state = State::Asking((self.ask)()),
                State::Asking(asking) => match asking.as_mut().poll(cx) {
                    Poll::Ready(outcome) => {
                        if let Some(change) = self.take(outcome) {
                            return Poll::Ready(Some(change));
                        }
                    }
                    Poll::Pending => return self.poll_deadline(cx),
                },
                State::Waiting(delay) => match delay.as_mut().poll(cx) {
                    Poll::Ready(()) => self.state = State::Due,
                    Poll::Pending => return self.poll_deadline(cx),
                },
                State::Ended => return Poll::Ready(None),
            }
        }
    }

    /// Decides what follows from an answer, and whether anybody is told of it.
    fn take(&mut self, outcome: Result<Answer, Error>) -> Option<Change> {
        let asked = match outcome {
            Err(error) if !error.is_retryable() => {
                self.state = State::Ended;
                return Some(Err(error));
            }
            Ok(Answer { ref status, .. }) if status.status.is_final() => None,
            Ok(Answer { retry_after, .. }) => Some(retry_after),
            Err(ref error) => Some(error.retry_after()),
        };
        self.state = match asked {
            None => State::Ended,
            Some(asked) => State::Waiting(self.time.sleep(self.backoff.delay(asked))),
        };
        match outcome {
            Ok(Answer { status, .. }) => {
                self.failure = None;
                let changed = self.last.as_ref() != Some(&status);
                self.last = Some(status.clone());
                changed.then_some(Ok(status))
            }
            Err(error) => {
                self.failure = Some(error);
                None
            }
        }
    }

    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<Option<Change>> {
        if self.over.as_mut().is_some_and(|over| over.sleep.as_mut().poll(cx).is_pending()) {
            return Poll::Pending;
        }
        self.state = State::Ended;
        Poll::Ready(Some(Err(self.too_late())))
    }

    /// That the job has not ended in time.
    pub(super) fn too_late(&mut self) -> Error {
        let last = self.last.clone();
        Error::deadline(self.job.clone(), self.deadline, last, self.failure.take())
    }
}

impl Stream for Watch {
    type Item = Change;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Change>> {
        self.poll_change(cx)
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("job", &self.job)
            .field("deadline", &self.deadline)
            .field("last", &self.last)
            .finish_non_exhaustive()
    }
}
