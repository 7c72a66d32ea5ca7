//! The time limits of one exchange, each step under all of them.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::Instant;

use crate::client::Error;
use crate::client::clock::Time;
use crate::client::error::TimeLimit;

/// Limits that have begun to run.
pub(super) struct Running<'a> {
    time: &'a Time,
    idle: Duration,
    /// The nearer of those that do not begin again with each step, and its length.
    end: Option<(Instant, TimeLimit, Duration)>,
}

/// Which limit ran out, and how long it was.
#[derive(Debug, Clone, Copy)]
pub(super) struct Over {
    limit: TimeLimit,
    after: Duration,
}

impl<'a> Running<'a> {
    pub(super) const fn idle_only(time: &'a Time, idle: Duration) -> Self {
        Self { time, idle, end: None }
    }

    /// `attempt` runs from now; `call` runs already, and ends at `call_end`.
    pub(super) fn new(
        time: &'a Time,
        idle: Duration,
        attempt: Duration,
        call: Duration,
        call_end: Option<Instant>,
    ) -> Self {
        let attempt_end = time.after(attempt).map(|end| (end, TimeLimit::Attempt, attempt));
        let call_end = call_end.map(|end| (end, TimeLimit::Call, call));
        let end = attempt_end.into_iter().chain(call_end).min_by_key(|(end, ..)| *end);
        Self { time, idle, end }
    }

    /// One step that is often there already, and then needs neither clock nor timer.
    /// After each the limit for standing still begins anew.
    pub(super) async fn step<T>(&self, step: impl Future<Output = T>) -> Result<T, Over> {
        let mut step = pin!(step);
        match poll_fn(|cx| Poll::Ready(step.as_mut().poll(cx))).await {
            Poll::Ready(outcome) => Ok(outcome),
            Poll::Pending => self.wait(step).await,
        }
    }

    /// One step that is never there at once, so that looking would only cost time.
    pub(super) async fn wait<T>(&self, step: impl Future<Output = T>) -> Result<T, Over> {
        let idle = self.time.after(self.idle).map(|end| (end, TimeLimit::Idle, self.idle));
        let first = self.end.into_iter().chain(idle).min_by_key(|(end, ..)| *end);
        let outcome = self.time.until(first.map(|(end, ..)| end), step).await;
        outcome.map_err(|_| {
            let (_, limit, after) = first.unwrap_or((self.time.now(), TimeLimit::Idle, self.idle));
            Over { limit, after }
        })
    }
}

impl Over {
    pub(super) fn told(self, origin: String, status: Option<http::StatusCode>) -> Error {
        Error::timed_out(origin, self.limit, self.after, status)
    }
}
