//! Limits of how many requests a key or an account may send in a time, off unless they are set.
//!
//! A window begins with the first request in it, and a request beyond the quota counts nowhere, so
//! the count is exact on one server. Servers of one database count each for themselves. The
//! responses have the headers of draft-ietf-httpapi-ratelimit-headers-10.

use std::collections::HashMap;
use std::str::FromStr;

use http::{HeaderName, HeaderValue};
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

use crate::clock::Clock;
use crate::domain::Caller;
use crate::http::error::ApiError;

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const CURRENT: HeaderName = HeaderName::from_static("ratelimit");

/// A picture in a form of the dashboard, which is counted beside the request.
pub(crate) const PICTURE: &str = "picture";
/// Which requests are counted, and their routes by name; none are all. A slot takes one upload.
const KINDS: [(&str, &[&str]); 3] = [
    ("requests", &[]),
    ("generations", &["createGeneration", "generate", "retryJob"]),
    ("uploads", &["createUploadSlot", PICTURE]),
];

/// How many requests of a kind one key or account may send in a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RateLimit {
    per: &'static str,
    kind: &'static str,
    routes: &'static [&'static str],
    events: u32,
    seconds: u32,
}

/// `key:requests=600/60`: 600 requests of a key in 60 seconds.
impl FromStr for RateLimit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number =
            |text: &str| text.parse().ok().filter(|number| (1..=1_000_000).contains(number));
        let limit = || {
            let (subject, rate) = text.split_once('=')?;
            let ((per, kind), (events, seconds)) =
                (subject.split_once(':')?, rate.split_once('/')?);
            let per = ["key", "account"].into_iter().find(|word| *word == per)?;
            let (kind, routes) = KINDS.into_iter().find(|(word, _)| *word == kind)?;
            Some(Self { per, kind, routes, events: number(events)?, seconds: number(seconds)? })
        };
        limit().ok_or(
            "is not a rate limit; use key or account, requests, generations or uploads, a number \
             and seconds, such as key:requests=600/60",
        )
    }
}

/// What a window counts: the limit, and the id of the key or account.
type Key = (RateLimit, i64);
/// The end of a window, and its events.
type Window = (Timestamp, u32);

/// After so many new windows, ended ones are removed.
const PRUNED_EVERY: usize = 1_000;

pub(crate) struct Rates {
    limits: Vec<RateLimit>,
    clock: Clock,
    open: Mutex<HashMap<Key, Window>>,
}

impl Rates {
    pub(crate) fn new(limits: Vec<RateLimit>, clock: Clock) -> Self {
        Self { limits, clock, open: Mutex::default() }
    }

    /// Counts a request of the route with this name. `headers` gets what the response says of
    /// the limits, also if the request is refused.
    pub(crate) fn count(
        &self,
        caller: &Caller,
        route: &str,
        headers: &mut Vec<(HeaderName, HeaderValue)>,
    ) -> Result<(), ApiError> {
        let applies = |limit: &&RateLimit| match limit.routes {
            [] => route != PICTURE,
            routes => routes.contains(&route),
        };
        let key = |limit: &RateLimit| {
            (*limit, if limit.per == "key" { caller.key.0 } else { caller.account.0 })
        };
        let keys: Vec<_> = self.limits.iter().filter(applies).map(key).collect();
        if keys.is_empty() {
            return Ok(());
        }
        let now = self.clock.now();
        let (windows, refused) = self.add(&keys, now);
        let left = |(end, _): Window| (end.duration_since(now).as_millis_f64() / 1e3).ceil() as u32;
        let (mut policy, mut current) = (Vec::new(), Vec::new());
        for ((limit, _), window) in keys.iter().zip(&windows) {
            let RateLimit { per, kind, events, seconds, .. } = limit;
            let (name, rest) =
                (format!("\"{per}-{kind}-{seconds}s\""), events.saturating_sub(window.1));
            policy.push(format!("{name};q={events};w={seconds}"));
            current.push(format!("{name};r={rest};t={}", left(*window)));
        }
        for (name, all) in [(POLICY, policy), (CURRENT, current)] {
            headers.extend(HeaderValue::try_from(all.join(", ")).map(|value| (name, value)));
        }
        let Some(at) = refused else { return Ok(()) };
        let (RateLimit { per, kind, events, seconds: time, .. }, seconds) =
            (keys[at].0, left(windows[at]));
        let text = format!(
            "this {per} may send {events} {kind} in {time} seconds; try again in {seconds} seconds"
        );
        Err(ApiError::TooMany { text, seconds })
    }

    /// Counts one event of each of these, unless one has had all of its own. Returns the windows, and
    /// if the event was refused the one that is used up for longest.
    fn add(&self, keys: &[Key], now: Timestamp) -> (Vec<Window>, Option<usize>) {
        let mut open = self.open.lock();
        let window = |key: &Key| {
            let end = now.checked_add(SignedDuration::from_secs(key.0.seconds.into()));
            let end = end.unwrap_or(Timestamp::MAX);
            // One that ends later is of a time before the clock was set back.
            let known = open.get(key).filter(|(known, _)| *known > now && *known <= end);
            known.copied().unwrap_or((end, 0))
        };
        let mut windows: Vec<_> = keys.iter().map(window).collect();
        let used_up = |at: &usize| windows[*at].1 >= keys[*at].0.events;
        let refused = (0..keys.len()).filter(used_up).max_by_key(|at| windows[*at].0);
        if refused.is_none() {
            for (window, key) in windows.iter_mut().zip(keys) {
                if open.len().is_multiple_of(PRUNED_EVERY) && !open.contains_key(key) {
                    open.retain(|_, (end, _)| *end > now);
                }
                window.1 += 1;
                open.insert(*key, *window);
            }
        }
        (windows, refused)
    }
}

#[cfg(test)]
mod tests;
