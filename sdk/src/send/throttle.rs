//! Keeps a client below the rate limit of a service: after a 429 all clones of the client pause
//! together, and then send at a rate that is learned from the responses.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::time::{Instant, sleep_until};

const WINDOW: Duration = Duration::from_secs(1);

/// The pause after a 429 whose `Retry-After` cannot be read.
const DEFAULT_PAUSE: Duration = Duration::from_millis(500);

/// Longer ones overflow an [`Instant`].
const PAUSE_MAX: Duration = Duration::from_secs(24 * 3600);

/// After a 429 the rate becomes this part of the rate that the service accepted.
const DECREASE: f64 = 0.85;

/// The rate grows by this factor in each second without a 429.
const GROWTH: f64 = 1.02;

/// By then the rate is above the one that was refused, so the service allows more than it seemed.
const FAST_GROWTH_AFTER: f64 = 10.0;

const FAST_GROWTH: f64 = 1.1;

/// A single 429 makes the rate no smaller than this part of it.
const DECREASE_MAX: f64 = 0.5;

/// Without a 429 and without a waiting request for this long, the rate is no longer limited.
const RELEASE_AFTER: Duration = Duration::from_secs(30);

/// How a service limits the rate of a client; returned by [`Client::pressure`](crate::Client::pressure).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Pressure {
    /// Requests per second that the client sends at most; `None` while the service limits nothing.
    pub rate: Option<f64>,
    /// How long the client sends nothing, after a response 429.
    pub paused_for: Duration,
    /// Requests that wait for their turn.
    pub waiting: usize,
    /// Retries that are left in the [`RetryBudget`](crate::RetryBudget); `None` if it is unlimited.
    pub retries_left: Option<u64>,
}

#[derive(Default)]
pub(crate) struct Throttle {
    /// Held by the request whose turn is next. Tokio's mutex is fair: first come, first served.
    queue: tokio::sync::Mutex<()>,
    waiting: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    sent: Sent,
    limit: Option<Limit>,
}

/// The requests that were sent and not refused, in this window and the one before.
#[derive(Default)]
struct Sent {
    window: Option<Instant>,
    count: u32,
    before: u32,
}

struct Limit {
    rate: f64,
    /// The other refusals of this moment make the rate no smaller.
    rate_min: f64,
    /// The end of the pause, or the earliest time of the next request.
    next: Instant,
    paused_until: Instant,
    /// A 429 to a request that was sent earlier says nothing new.
    decreased_at: Instant,
    last_wait: Instant,
}

/// Counts a waiting request, also if its future is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Throttle {
    /// Waits for the turn of a request, which is at once if nothing limits the rate.
    pub(crate) async fn turn(&self) -> Instant {
        let now = Instant::now();
        if let state @ State { limit: None, .. } = &mut *self.state() {
            state.sent.add(now);
            return now;
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.waiting);
        let _first = self.queue.lock().await;
        loop {
            let now = Instant::now();
            let Some(next) = self.state().next_turn(now) else { return now };
            sleep_until(next).await;
        }
    }

    pub(crate) fn refused(&self, sent_at: Instant, retry_after: Option<Duration>) {
        self.state().refused(sent_at, Instant::now(), retry_after.unwrap_or(DEFAULT_PAUSE));
    }

    pub(crate) fn pressure(&self, retries_left: Option<u64>) -> Pressure {
        let (now, state) = (Instant::now(), self.state());
        let limit = state.limit.as_ref();
        Pressure {
            rate: limit.map(|limit| limit.rate_at(now)),
            paused_for: limit
                .map(|limit| limit.paused_until.saturating_duration_since(now))
                .unwrap_or_default(),
            waiting: self.waiting.load(Ordering::Relaxed),
            retries_left,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The time to wait for, or `None` after taking the turn.
    fn next_turn(&mut self, now: Instant) -> Option<Instant> {
        let limit = self.limit.as_mut()?;
        if limit.next > now {
            limit.last_wait = now;
            return Some(limit.next);
        }
        self.sent.add(now);
        limit.next = now + Duration::from_secs_f64(1.0 / limit.rate_at(now));
        if now.duration_since(limit.last_wait.max(limit.decreased_at)) > RELEASE_AFTER {
            self.limit = None;
        }
        None
    }

    fn refused(&mut self, sent_at: Instant, now: Instant, pause: Duration) {
        let pause = pause.min(PAUSE_MAX);
        let paused_until = now + pause;
        self.sent.remove(now);
        let measured = self.sent.rate(now, pause) * DECREASE;
        let limit = self.limit.get_or_insert(Limit {
            rate: measured,
            rate_min: 0.0,
            next: now,
            paused_until: now,
            decreased_at: now,
            last_wait: now,
        });
        if sent_at > limit.decreased_at {
            let rate = limit.rate_at(now);
            (limit.rate, limit.rate_min) = (rate * DECREASE, rate * DECREASE_MAX);
            limit.decreased_at = now;
        }
        limit.rate = limit.rate.min(measured.max(limit.rate_min));
        limit.paused_until = limit.paused_until.max(paused_until);
        limit.next = limit.next.max(limit.paused_until);
    }
}

impl Limit {
    /// Growth starts when the pause is over.
    fn rate_at(&self, now: Instant) -> f64 {
        let since = self.decreased_at.max(self.paused_until);
        let seconds = now.saturating_duration_since(since).as_secs_f64();
        let fast = (seconds - FAST_GROWTH_AFTER).max(0.0);
        (self.rate * GROWTH.powf(seconds - fast) * FAST_GROWTH.powf(fast)).min(1e6)
    }
}

impl Sent {
    fn add(&mut self, now: Instant) {
        self.advance(now);
        self.count = self.count.saturating_add(1);
    }

    fn remove(&mut self, now: Instant) {
        self.advance(now);
        let window = if self.count > 0 { &mut self.count } else { &mut self.before };
        *window = window.saturating_sub(1);
    }

    fn advance(&mut self, now: Instant) {
        let start = *self.window.get_or_insert(now);
        let age = now.duration_since(start);
        if age >= WINDOW {
            self.before = if age < WINDOW * 2 { self.count } else { 0 };
            (self.window, self.count) = (Some(now), 0);
        }
    }

    /// Requests per second that the service accepted: those of the two windows, over the time from
    /// their start to that at which it accepts requests again.
    fn rate(&self, now: Instant, pause: Duration) -> f64 {
        let start = self.window.unwrap_or(now);
        let mut seconds = (now.duration_since(start) + pause).as_secs_f64().max(1.0);
        if self.before > 0 {
            seconds = now.duration_since(start).as_secs_f64() + WINDOW.as_secs_f64();
        }
        f64::from(self.before.saturating_add(self.count).max(1)) / seconds
    }
}
