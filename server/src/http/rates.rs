//! Limits of how many requests a key or an account may send in a time, off unless they are set.
//!
//! A window begins with the first request in it, and a request beyond the quota counts nowhere, so
//! the count is exact on one server. Servers of one database count each for themselves. The
//! responses have the headers of draft-ietf-httpapi-ratelimit-headers-10.

pub(crate) mod windows;

use std::fmt::{self, Write};
use std::str::FromStr;

use http::{HeaderMap, HeaderName, HeaderValue};

use self::windows::{Left, Rate, Windows};
use crate::clock::Clock;
use crate::domain::Caller;

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const CURRENT: HeaderName = HeaderName::from_static("ratelimit");

/// Whose requests are counted.
const PER: [&str; 2] = ["key", "account"];
/// Which requests are counted, and their routes by name; none are all. A slot takes one upload.
const KINDS: [(&str, &[&str]); 3] = [
    ("requests", &[]),
    ("generations", &["createGeneration", "generate", "retryJob"]),
    ("uploads", &["createUploadSlot", "uploadPicture"]),
];

/// How many requests of a kind one key or account may send in a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RateLimit {
    /// One of [`PER`].
    per: &'static str,
    /// One of [`KINDS`], with its routes.
    kind: &'static str,
    routes: &'static [&'static str],
    rate: Rate,
}

/// A request beyond a limit, which can be sent again in so many seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this {} may send {} {} in {} seconds; try again in {seconds} seconds",
    limit.per, limit.rate.quota, limit.kind, limit.rate.seconds
)]
pub struct OverRate {
    limit: RateLimit,
    pub(crate) seconds: u64,
}

/// `key:requests=600/60`: 600 requests of a key in 60 seconds.
impl FromStr for RateLimit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number =
            |text: &str| text.parse().ok().filter(|number| (1..=1_000_000).contains(number));
        let limit = || {
            let (subject, rate) = text.split_once('=')?;
            let ((per, kind), (quota, seconds)) = (subject.split_once(':')?, rate.split_once('/')?);
            let per = PER.into_iter().find(|word| *word == per)?;
            let (kind, routes) = KINDS.into_iter().find(|(word, _)| *word == kind)?;
            let rate = Rate { quota: number(quota)?, seconds: number(seconds)? };
            Some(Self { per, kind, routes, rate })
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
        write!(f, "{}-{}-{}s", self.per, self.kind, self.rate.seconds)
    }
}

/// Counts the requests of each key and account.
pub struct Rates {
    limits: Vec<RateLimit>,
    /// By the limit's position and the id of the key or account.
    windows: Windows<(usize, i64)>,
}

/// The headers of a response to a request that was counted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RateHeaders {
    policy: String,
    current: String,
}

impl Rates {
    pub(crate) fn new(limits: Vec<RateLimit>, clock: Clock) -> Self {
        Self { limits, windows: Windows::new(clock) }
    }

    /// Counts a request of the route with this name. `headers` gets what the response says of
    /// the limits, also if the request is refused.
    pub(crate) fn count(
        &self,
        caller: &Caller,
        route: &str,
        headers: &mut RateHeaders,
    ) -> Result<(), OverRate> {
        let applies = |limit: &RateLimit| limit.routes.is_empty() || limit.routes.contains(&route);
        let applying = self.limits.iter().enumerate().filter(|(_, limit)| applies(limit));
        let keys: Vec<_> = applying
            .map(|(at, limit)| {
                let id = if limit.per == "key" { caller.key.0 } else { caller.account.0 };
                ((at, id), limit.rate)
            })
            .collect();
        if keys.is_empty() {
            return Ok(());
        }
        let (left, refused) = self.windows.count(&keys);
        for (((at, _), _), left) in keys.iter().zip(&left) {
            headers.add(self.limits[*at], *left);
        }
        refused.map_or(Ok(()), |at| {
            Err(OverRate { limit: self.limits[keys[at].0.0], seconds: left[at].seconds })
        })
    }
}

impl RateHeaders {
    fn add(&mut self, limit: RateLimit, left: Left) {
        let separator = if self.policy.is_empty() { "" } else { ", " };
        let (Rate { quota, seconds: window }, Left { events, seconds }) = (limit.rate, left);
        // Writing to a string does not fail.
        let _ = write!(self.policy, "{separator}\"{limit}\";q={quota};w={window}");
        let _ = write!(self.current, "{separator}\"{limit}\";r={events};t={seconds}");
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
