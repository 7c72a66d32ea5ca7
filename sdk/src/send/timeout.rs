//! The time limits of calls, and those of one exchange; each step is under all of them.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use crate::error::{TimeLimit, TimedOut};
use crate::time::{Elapsed, Instant, timeout_at};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) connect: Duration,
    pub(crate) idle: Duration,
    pub(crate) first_byte: Duration,
    pub(crate) attempt: Duration,
    pub(crate) call: Duration,
    pub(crate) call_setting: TimeLimit,
    /// The end of a wait that the call is part of, and the timeout of the wait.
    pub(crate) deadline: Option<(Instant, Duration)>,
}

impl Limits {
    pub(crate) fn end(&self) -> Option<Instant> {
        let end = Instant::now().checked_add(self.call);
        end.into_iter().chain(self.deadline.map(|(end, _)| end)).min()
    }

    pub(crate) fn of_call(&self, call_end: Option<Instant>) -> TimedOut {
        match self.deadline {
            Some((end, after)) if Some(end) == call_end => {
                TimedOut { limit: TimeLimit::Whole, after }
            }
            _ => TimedOut { limit: self.call_setting, after: self.call },
        }
    }

    pub(crate) fn response(&self) -> Duration {
        self.first_byte.min(self.attempt).min(self.call)
    }
}

pub(crate) async fn until<T>(
    end: Option<Instant>,
    work: impl Future<Output = T>,
) -> Result<T, Elapsed> {
    match end {
        Some(end) => timeout_at(end, work).await,
        None => Ok(work.await),
    }
}

/// The slowest server that is not idle reads so many bytes in a second.
const LOWEST_RATE: u64 = 32 * 1024;

/// Bytes that the systems between this program and the server may keep.
const BUFFERS: u64 = 16 * 1024 * 1024;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Running {
    idle: Duration,
    first_byte: Duration,
    end: Option<(Instant, TimedOut)>,
}

impl Running {
    pub(crate) fn new(limits: Limits, call_end: Option<Instant>) -> Self {
        let attempt_end = Instant::now().checked_add(limits.attempt);
        let of_attempt = TimedOut { limit: TimeLimit::Attempt, after: limits.attempt };
        let attempt_end = attempt_end.map(|end| (end, of_attempt));
        let call_end = call_end.map(|end| (end, limits.of_call(Some(end))));
        let end = attempt_end.into_iter().chain(call_end).min_by_key(|(end, _)| *end);
        Self { idle: limits.idle, first_byte: limits.first_byte, end }
    }

    /// The limits after so many bytes were handed to the connection. The buffers between this program
    /// and the server may have all of them, and nobody can tell how many were read.
    pub(crate) fn after_sending(mut self, bytes: u64) -> Self {
        let unread = Duration::from_millis(bytes.min(BUFFERS) * 1000 / LOWEST_RATE);
        self.idle = self.idle.saturating_add(unread);
        self.first_byte = self.first_byte.saturating_add(unread);
        self
    }

    pub(crate) async fn step<T>(&self, step: impl Future<Output = T>) -> Result<T, TimedOut> {
        let mut step = pin!(step);
        // Most chunks are there already and need neither the clock nor a timer.
        match poll_fn(|cx| Poll::Ready(step.as_mut().poll(cx))).await {
            Poll::Ready(done) => Ok(done),
            Poll::Pending => self.within(self.idle, step).await,
        }
    }

    pub(crate) async fn head<T>(&self, head: impl Future<Output = T>) -> Result<T, TimedOut> {
        self.within(self.first_byte, head).await
    }

    async fn within<T>(
        &self,
        idle: Duration,
        step: impl Future<Output = T>,
    ) -> Result<T, TimedOut> {
        let idled = TimedOut { limit: TimeLimit::Idle, after: idle };
        let idle_end = Instant::now().checked_add(idle).map(|end| (end, idled));
        let first = self.end.into_iter().chain(idle_end).min_by_key(|(end, _)| *end);
        let (end, limit) = first.unzip();
        until(end, step).await.map_err(|_| limit.unwrap_or(idled))
    }
}
