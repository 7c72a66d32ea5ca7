//! Time, behind one door, so that a test can bring its own.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_core::future::BoxFuture;
use tokio::time::Instant;

use crate::model::Timestamp;

/// Where a client gets the time from; the system, by Tokio's timers, unless told.
///
/// A paused Tokio clock is followed without one of these.
pub trait Clock: Send + Sync + 'static {
    /// Time since some moment that stays the same; it never goes back.
    fn elapsed(&self) -> Duration;

    /// The date and time of day, which an HTTP date in `Retry-After` is held against.
    fn now(&self) -> Timestamp;

    /// Done when this much time has passed.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// The time of a client. Moments are Tokio's, whoever the clock is.
#[derive(Clone)]
pub(super) enum Time {
    System,
    Own { clock: Arc<dyn Clock>, zero: Instant },
}

/// A time limit ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RanOut;

impl Time {
    pub(super) fn of(clock: Arc<dyn Clock>) -> Self {
        Self::Own { clock, zero: Instant::now() }
    }

    pub(super) fn now(&self) -> Instant {
        match self {
            Self::System => Instant::now(),
            // A clock that far ahead stands still at the last moment there is.
            Self::Own { clock, zero } => zero.checked_add(clock.elapsed()).unwrap_or(*zero),
        }
    }

    /// The date and time of day.
    pub(super) fn date(&self) -> Timestamp {
        match self {
            Self::System => Timestamp::now(),
            Self::Own { clock, .. } => clock.now(),
        }
    }

    /// The moment this much later; `None` if there is none, which is never.
    pub(super) fn after(&self, duration: Duration) -> Option<Instant> {
        self.now().checked_add(duration)
    }

    pub(super) fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        match self {
            Self::System => Box::pin(tokio::time::sleep(duration)),
            Self::Own { clock, .. } => clock.sleep(duration),
        }
    }

    /// What `work` gives, unless it takes until `limit`.
    pub(super) async fn until<T>(
        &self,
        limit: Option<Instant>,
        work: impl Future<Output = T>,
    ) -> Result<T, RanOut> {
        let Some(limit) = limit else { return Ok(work.await) };
        let clock = match self {
            Self::System => {
                return tokio::time::timeout_at(limit, work).await.map_err(|_| RanOut);
            }
            Self::Own { clock, .. } => clock,
        };
        let mut work = pin!(work);
        let mut over = clock.sleep(limit.saturating_duration_since(self.now()));
        poll_fn(|cx| {
            if let Poll::Ready(outcome) = work.as_mut().poll(cx) {
                return Poll::Ready(Ok(outcome));
            }
            over.as_mut().poll(cx).map(|()| Err(RanOut))
        })
        .await
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::System => "System",
            Self::Own { .. } => "Own",
        })
    }
}
