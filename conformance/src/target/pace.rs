//! How fast a run sends: one bucket for all its scenarios. Whoever is told to wait (429) makes all
//! others wait too, and `--rate` spaces requests from the start. Also what a run saw on the way.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Responses that take longer on average make a run of the default `--jobs` slow.
const SLOW: Duration = Duration::from_millis(100);

pub(crate) struct Pace {
    interval: Duration,
    next: Mutex<Instant>,
    responses: AtomicU64,
    of_gateways: AtomicU64,
    milliseconds: AtomicU64,
}

impl Pace {
    pub(crate) fn new(rate: Option<u32>) -> Self {
        Self {
            interval: rate.map_or(Duration::ZERO, |rate| Duration::from_secs(1) / rate.max(1)),
            next: Mutex::new(Instant::now()),
            responses: AtomicU64::new(0),
            of_gateways: AtomicU64::new(0),
            milliseconds: AtomicU64::new(0),
        }
    }

    /// Waits for the turn of a request; how long that took.
    pub(crate) async fn turn(&self) -> Duration {
        let now = Instant::now();
        let at = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let at = (*next).max(now);
            *next = at + self.interval;
            at
        };
        if at > now {
            sleep_until(at).await;
        }
        at - now
    }

    /// No request is sent for so long.
    pub(crate) fn pause(&self, wait: Duration) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = (*next).max(Instant::now() + wait);
    }

    pub(crate) fn count(&self, taken: Duration, of_gateway: bool) {
        self.responses.fetch_add(1, Ordering::Relaxed);
        self.of_gateways.fetch_add(of_gateway.into(), Ordering::Relaxed);
        let milliseconds = u64::try_from(taken.as_millis()).unwrap_or(u64::MAX);
        self.milliseconds.fetch_add(milliseconds, Ordering::Relaxed);
    }

    /// What a report says of the way to the target, each in one line.
    pub(crate) fn notes(&self, jobs: usize) -> Vec<String> {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (all, gateways) = (load(&self.responses), load(&self.of_gateways));
        let average = load(&self.milliseconds) / all.max(1);
        let gateway = (gateways > 0).then(|| {
            format!("{gateways} of {all} responses came from a gateway before the target: 502, 503 or 504 without the envelope")
        });
        let slow = u128::from(average) > SLOW.as_millis() && jobs < 64 && self.interval.is_zero();
        let slow = slow.then(|| {
            format!("a response took {average} ms on average; --jobs 64 makes such a run faster")
        });
        gateway.into_iter().chain(slow).collect()
    }
}
