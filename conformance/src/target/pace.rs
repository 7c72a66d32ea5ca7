//! How fast a run sends: one bucket for all its scenarios. Whoever is told to wait (429) makes all
//! others wait too, and `--rate` spaces requests from the start. Also what a run saw on the way.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::lock;

/// Responses that take longer on average make a run of the default `--jobs` slow.
const SLOW: Duration = Duration::from_millis(100);

pub(crate) struct Pace {
    interval: Duration,
    next: Mutex<Instant>,
    /// How many responses came, how many of them of a gateway, and how long all took.
    seen: Mutex<(u32, u32, Duration)>,
}

impl Pace {
    pub(crate) fn new(rate: Option<u32>) -> Self {
        Self {
            interval: rate.map_or(Duration::ZERO, |rate| Duration::from_secs(1) / rate.max(1)),
            next: Mutex::new(Instant::now()),
            seen: Mutex::default(),
        }
    }

    /// Waits for the turn of a request; how long that took.
    pub(crate) async fn turn(&self) -> Duration {
        let now = Instant::now();
        let at = {
            let mut next = lock(&self.next);
            let at = (*next).max(now);
            *next = at + self.interval;
            at
        };
        sleep_until(at).await;
        at - now
    }

    /// No request is sent for so long.
    pub(crate) fn pause(&self, wait: Duration) {
        let mut next = lock(&self.next);
        *next = (*next).max(Instant::now() + wait);
    }

    pub(crate) fn count(&self, taken: Duration, of_gateway: bool) {
        let (all, gateways, time) = &mut *lock(&self.seen);
        (*all, *gateways, *time) = (*all + 1, *gateways + u32::from(of_gateway), *time + taken);
    }

    /// What a report says of the way to the target, each in one line.
    pub(crate) fn notes(&self, jobs: usize) -> Vec<String> {
        let (all, gateways, time) = *lock(&self.seen);
        let average = time / all.max(1);
        let gateway = (gateways > 0).then(|| {
            format!("{gateways} of {all} responses came from a gateway before the target: 502, 503 or 504 without the envelope")
        });
        let slow = (average > SLOW && jobs < 64 && self.interval.is_zero()).then(|| {
            let average = average.as_millis();
            format!("a response took {average} ms on average; --jobs 64 makes such a run faster")
        });
        gateway.into_iter().chain(slow).collect()
    }
}
