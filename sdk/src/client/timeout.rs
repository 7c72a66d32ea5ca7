//! The time limits of calls, and those of one exchange; each step is under all of them.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use http::{Response, StatusCode};
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::Error;
use super::transport::Body;

#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) connect: Duration,
    pub(super) idle: Duration,
    /// As `idle`, for the beginning of the response.
    pub(super) first_byte: Duration,
    pub(super) attempt: Duration,
    pub(super) call: Duration,
    /// The setting that `call` comes from.
    pub(super) call_setting: TimeLimit,
}

/// The setting whose time limit expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeLimit {
    /// `idle_timeout` of the client or the call.
    Idle,
    /// `request_timeout` of the client or the call.
    Attempt,
    /// `overall_timeout` of the client.
    Call,
    /// `timeout` of the call.
    Whole,
}

/// Runs `work` until `end`; without one there is no time limit.
pub(super) async fn until<T>(
    end: Option<Instant>,
    work: impl Future<Output = T>,
) -> Result<T, Elapsed> {
    match end {
        Some(end) => timeout_at(end, work).await,
        None => Ok(work.await),
    }
}

/// Time limits that have started.
#[derive(Debug, Clone, Copy)]
pub(super) struct Running {
    idle: Duration,
    first_byte: Duration,
    /// The earlier end of those that do not start again with each step, and its length.
    end: Option<(Instant, TimeLimit, Duration)>,
}

/// The limit that ran out, and its length.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimedOut {
    limit: TimeLimit,
    after: Duration,
}

impl Running {
    pub(super) const fn idle_only(limits: Limits) -> Self {
        Self { idle: limits.idle, first_byte: limits.first_byte, end: None }
    }

    /// The limits of an attempt that starts now, within a call that ends at `call_end`.
    pub(super) fn new(limits: Limits, call_end: Option<Instant>) -> Self {
        let attempt_end = Instant::now().checked_add(limits.attempt);
        let attempt_end = attempt_end.map(|end| (end, TimeLimit::Attempt, limits.attempt));
        let call_end = call_end.map(|end| (end, limits.call_setting, limits.call));
        let end = attempt_end.into_iter().chain(call_end).min_by_key(|(end, ..)| *end);
        Self { end, ..Self::idle_only(limits) }
    }

    pub(super) async fn step<T>(&self, step: impl Future<Output = T>) -> Result<T, TimedOut> {
        let mut step = pin!(step);
        // Most chunks are there already and need neither the clock nor a timer.
        match poll_fn(|cx| Poll::Ready(step.as_mut().poll(cx))).await {
            Poll::Ready(done) => Ok(done),
            Poll::Pending => self.within(self.idle, step).await,
        }
    }

    pub(super) async fn exchange(
        &self,
        url: &Url,
        sending: impl Future<Output = Result<Response<Body>, Error>>,
    ) -> Result<Response<Body>, Error> {
        let head = self.within(self.first_byte, sending).await;
        head.unwrap_or_else(|timed_out| Err(timed_out.error(url, None)))
    }

    async fn within<T>(
        &self,
        idle: Duration,
        step: impl Future<Output = T>,
    ) -> Result<T, TimedOut> {
        let idle_end = Instant::now().checked_add(idle).map(|end| (end, TimeLimit::Idle, idle));
        let first = self.end.into_iter().chain(idle_end).min_by_key(|(end, ..)| *end);
        until(first.map(|(end, ..)| end), step).await.map_err(|_| {
            let (limit, after) =
                first.map_or((TimeLimit::Idle, idle), |(_, limit, after)| (limit, after));
            TimedOut { limit, after }
        })
    }
}

impl TimedOut {
    pub(super) fn error(self, url: &Url, status: Option<StatusCode>) -> Error {
        Error::timed_out(url, self.limit, self.after, status)
    }
}
