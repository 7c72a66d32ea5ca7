//! Limits how often wrong sign-in codes are tried.
//!
//! A code has 256 bits and cannot be guessed; the limits slow down whoever tries. They decide only
//! how a wrong code is answered, so that nobody can lock out the right one: behind a proxy all
//! clients have one address.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::{IpAddr, Ipv6Addr};

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

use crate::clock::Clock;
use crate::http::auth::AuthError;
use crate::http::error::ApiError;
use crate::limits::{
    SIGN_IN_ADDRESSES_MAX, SIGN_IN_ATTEMPTS_MAX, SIGN_IN_ATTEMPTS_PER_ADDRESS, SIGN_IN_WINDOW,
};

/// The attempts of the current minute.
#[derive(Debug)]
pub struct Attempts {
    clock: Clock,
    window: Mutex<Window>,
}

#[derive(Debug)]
struct Window {
    /// When its first attempt was made.
    began: Timestamp,
    total: u32,
    by_address: HashMap<IpAddr, u32>,
}

impl Window {
    /// How long it still lasts. `None` also if the clock was set back before its start.
    fn left(&self, now: Timestamp) -> Option<SignedDuration> {
        let age = now.duration_since(self.began);
        (!age.is_negative()).then(|| SIGN_IN_WINDOW - age).filter(SignedDuration::is_positive)
    }

    /// Whole seconds until the next window.
    fn too_many(&self, now: Timestamp) -> ApiError {
        let left = self.left(now).unwrap_or_default().as_millis_f64() / 1000.0;
        ApiError::TooManyAttempts(left.ceil().max(1.0) as u64)
    }
}

impl Attempts {
    pub(crate) fn new(clock: Clock) -> Self {
        let window = Window { began: clock.now(), total: 0, by_address: HashMap::new() };
        Self { clock, window: Mutex::new(window) }
    }

    /// Counts a wrong code, and returns the answer to it.
    pub(crate) fn wrong(&self, peer: IpAddr) -> ApiError {
        let now = self.clock.now();
        let mut window = self.window.lock();
        if window.left(now).is_none() {
            *window = Window { began: now, total: 0, by_address: HashMap::new() };
        }
        window.total = window.total.saturating_add(1);
        // With more addresses than this, further ones count in the total only.
        let is_full = window.by_address.len() >= SIGN_IN_ADDRESSES_MAX;
        let count = match window.by_address.entry(address_group(peer)) {
            Entry::Vacant(_) if is_full => 0,
            entry => {
                let count = entry.or_default();
                *count = count.saturating_add(1);
                *count
            }
        };
        if count > SIGN_IN_ATTEMPTS_PER_ADDRESS || window.total > SIGN_IN_ATTEMPTS_MAX {
            window.too_many(now)
        } else {
            AuthError::WrongCode.into()
        }
    }
}

/// What counts as one address: with IPv6 the 64 bits of a network, of which one host has all.
pub(crate) fn address_group(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => {
            let network = u128::from(address) & !u128::from(u64::MAX);
            Ipv6Addr::from(network).into()
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use super::*;
    use crate::clock::ManualClock;

    fn attempts() -> (Attempts, ManualClock) {
        let clock = ManualClock::new("2026-01-02T03:04:05Z".parse().unwrap());
        (Attempts::new(Clock::Manual(clock.clone())), clock)
    }

    fn address(number: u32) -> IpAddr {
        Ipv4Addr::from(number).into()
    }

    /// Seconds to wait; `None` if a wrong code is only called wrong.
    fn wrong(attempts: &Attempts, peer: IpAddr) -> Option<u64> {
        match attempts.wrong(peer) {
            ApiError::TooManyAttempts(seconds) => Some(seconds),
            ApiError::Auth(AuthError::WrongCode) => None,
            error => panic!("{error}"),
        }
    }

    /// Wrong codes that are within the limits.
    fn try_often(attempts: &Attempts, peer: IpAddr, times: u32) {
        for _ in 0..times {
            assert_eq!(wrong(attempts, peer), None);
        }
    }

    #[test]
    fn an_address_has_ten_wrong_codes_in_a_minute() {
        let (attempts, clock) = attempts();
        try_often(&attempts, address(1), 10);
        assert_eq!(wrong(&attempts, address(1)), Some(60));
        assert_eq!(wrong(&attempts, address(2)), None);
        clock.advance(Duration::from_millis(59_500));
        assert_eq!(wrong(&attempts, address(1)), Some(1));
        clock.advance(Duration::from_millis(500));
        assert_eq!(wrong(&attempts, address(1)), None);
    }

    #[test]
    fn all_addresses_have_a_hundred_wrong_codes_in_a_minute() {
        let (attempts, _) = attempts();
        for number in 0..10 {
            try_often(&attempts, address(number), 10);
        }
        assert_eq!(wrong(&attempts, address(99)), Some(60));
    }

    #[test]
    fn networks_of_ipv6_and_mapped_addresses_of_ipv4_count_as_one() {
        for (one, other, same) in [
            ("2001:db8::1", "2001:db8::ffff:1", true),
            ("2001:db8::1", "2001:db8:0:1::1", false),
            ("::ffff:192.0.2.1", "192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false),
        ] {
            let (attempts, _) = attempts();
            try_often(&attempts, one.parse().unwrap(), 10);
            let refused = wrong(&attempts, other.parse().unwrap());
            assert_eq!(refused.is_some(), same, "{one} {other}");
        }
    }

    #[test]
    fn the_table_is_bounded() {
        let (attempts, _) = attempts();
        for number in 0..u32::try_from(SIGN_IN_ADDRESSES_MAX).unwrap() + 50 {
            attempts.wrong(address(number));
        }
        assert_eq!(attempts.window.lock().by_address.len(), SIGN_IN_ADDRESSES_MAX);
    }

    #[test]
    fn a_clock_that_is_set_back_starts_a_new_minute() {
        let (attempts, clock) = attempts();
        try_often(&attempts, address(1), 10);
        let now = Clock::Manual(clock).now();
        attempts.window.lock().began = now + SignedDuration::from_secs(3600);
        assert_eq!(wrong(&attempts, address(1)), None);
    }
}
