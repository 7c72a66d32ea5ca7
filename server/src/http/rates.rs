//! Limits of how many requests a key or an account may send in a time, off unless they are set.
//!
//! A window begins with the first request in it, and a request beyond the quota counts nowhere, so
//! the count is exact on one server. Servers of one database count each for themselves. The
//! responses have the headers of draft-ietf-httpapi-ratelimit-headers-10.

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::str::FromStr;

use http::{HeaderMap, HeaderName, HeaderValue};
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

use crate::clock::Clock;
use crate::domain::Caller;
use crate::limits::RATE_WINDOWS_MIN;

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const CURRENT: HeaderName = HeaderName::from_static("ratelimit");

/// How many requests of a kind one key or account may send in a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    per: Per,
    kind: Kind,
    quota: u32,
    seconds: u32,
}

/// A request beyond a limit, which can be sent again in so many seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}; try again in {seconds} seconds", limit.sentence())]
pub struct OverRate {
    limit: RateLimit,
    pub(crate) seconds: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Per {
    Key,
    Account,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Requests,
    Generations,
    Uploads,
}

const PER: [(&str, Per); 2] = [("key", Per::Key), ("account", Per::Account)];
const KINDS: [(&str, Kind); 3] =
    [("requests", Kind::Requests), ("generations", Kind::Generations), ("uploads", Kind::Uploads)];

impl Kind {
    /// Whether a request of the route with this name is counted.
    fn has(self, route: &str) -> bool {
        match self {
            Self::Requests => true,
            Self::Generations => matches!(route, "createGeneration" | "newPicture"),
            // A slot takes one upload.
            Self::Uploads => route == "createUploadSlot",
        }
    }
}

/// `key:requests=600/60`: 600 requests of a key in 60 seconds.
impl FromStr for RateLimit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        fn word<T: Copy>(table: &[(&str, T)], text: &str) -> Option<T> {
            table.iter().find(|(word, _)| *word == text).map(|(_, value)| *value)
        }
        let number =
            |text: &str| text.parse().ok().filter(|number| (1..=1_000_000).contains(number));
        let limit = || {
            let (subject, rate) = text.split_once('=')?;
            let ((per, kind), (quota, seconds)) = (subject.split_once(':')?, rate.split_once('/')?);
            let (per, kind) = (word(&PER, per)?, word(&KINDS, kind)?);
            Some(Self { per, kind, quota: number(quota)?, seconds: number(seconds)? })
        };
        limit().ok_or(
            "is not a rate limit; use key or account, requests, generations or uploads, a number \
             and seconds, such as key:requests=600/60",
        )
    }
}

/// Its name in the headers.
impl fmt::Display for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (per, kind) = self.words();
        write!(f, "{per}-{kind}-{}s", self.seconds)
    }
}

impl RateLimit {
    fn words(&self) -> (&'static str, &'static str) {
        let per = PER.iter().find(|(_, per)| *per == self.per);
        let kind = KINDS.iter().find(|(_, kind)| *kind == self.kind);
        (per.map_or("", |(word, _)| word), kind.map_or("", |(word, _)| word))
    }

    fn sentence(&self) -> String {
        let (per, kind) = self.words();
        format!("this {per} may send {} {kind} in {} seconds", self.quota, self.seconds)
    }
}

/// Counts the requests of each key and account.
pub struct Rates {
    limits: Vec<RateLimit>,
    clock: Clock,
    windows: Mutex<Windows>,
}

#[derive(Default)]
struct Windows {
    /// By the limit's position and the id of the key or account.
    open: HashMap<(usize, i64), Window>,
    /// With as many windows, ended ones are removed.
    prune_at: usize,
}

#[derive(Clone, Copy)]
struct Window {
    began: Timestamp,
    count: u32,
}

/// The headers of a response to a request that was counted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RateHeaders {
    policy: String,
    current: String,
}

impl Window {
    /// Seconds until its end. `None` if it has ended, also if the clock was set back before its
    /// start.
    fn left(&self, now: Timestamp, limit: RateLimit) -> Option<u64> {
        let age = now.duration_since(self.began);
        let left = SignedDuration::from_secs(limit.seconds.into()) - age;
        let left = Some(left).filter(|left| left.is_positive() && !age.is_negative())?;
        Some((left.as_millis_f64() / 1000.0).ceil().max(1.0) as u64)
    }
}

impl Windows {
    fn prune(&mut self, now: Timestamp, limits: &[RateLimit]) {
        if self.open.len() >= self.prune_at.max(RATE_WINDOWS_MIN) {
            self.open.retain(|(at, _), window| window.left(now, limits[*at]).is_some());
            self.prune_at = 2 * self.open.len();
        }
    }
}

impl Rates {
    pub(crate) fn new(limits: Vec<RateLimit>, clock: Clock) -> Self {
        Self { limits, clock, windows: Mutex::default() }
    }

    /// Counts a request of the route with this name. `headers` gets what the response says of
    /// the limits, also if the request is refused.
    pub(crate) fn count(
        &self,
        caller: &Caller,
        route: &str,
        headers: &mut RateHeaders,
    ) -> Result<(), OverRate> {
        if self.limits.is_empty() {
            return Ok(());
        }
        let now = self.clock.now();
        let mut windows = self.windows.lock();
        windows.prune(now, &self.limits);
        let applying = self.limits.iter().enumerate().filter(|(_, limit)| limit.kind.has(route));
        let mut counted: Vec<_> = applying
            .map(|(at, limit)| {
                let id = match limit.per {
                    Per::Key => caller.key.0,
                    Per::Account => caller.account.0,
                };
                let window = windows.open.get(&(at, id)).copied();
                let window = window.filter(|window| window.left(now, *limit).is_some());
                ((at, id), *limit, window.unwrap_or(Window { began: now, count: 0 }))
            })
            .collect();
        let refused = counted.iter().filter(|(_, limit, window)| window.count >= limit.quota);
        let refused = refused.map(|(_, limit, window)| (window.left(now, *limit), *limit));
        let refused = refused.max_by_key(|(left, _)| *left);
        for (key, _, window) in counted.iter_mut().filter(|_| refused.is_none()) {
            window.count += 1;
            windows.open.insert(*key, *window);
        }
        drop(windows);
        for (_, limit, window) in counted {
            headers.add(limit, window.count, window.left(now, limit).unwrap_or(1));
        }
        match refused {
            Some((left, limit)) => Err(OverRate { limit, seconds: left.unwrap_or(1) }),
            None => Ok(()),
        }
    }
}

impl RateHeaders {
    fn add(&mut self, limit: RateLimit, count: u32, left: u64) {
        let (separator, RateLimit { quota, seconds, .. }) =
            (if self.policy.is_empty() { "" } else { ", " }, limit);
        // Writing to a string does not fail.
        let _ = write!(self.policy, "{separator}\"{limit}\";q={quota};w={seconds}");
        let _ = write!(self.current, "{separator}\"{limit}\";r={};t={left}", quota - count);
    }

    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        for (name, text) in [(POLICY, &self.policy), (CURRENT, &self.current)] {
            if !text.is_empty()
                && let Ok(value) = HeaderValue::from_str(text)
            {
                headers.insert(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests;
