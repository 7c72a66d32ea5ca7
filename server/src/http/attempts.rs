//! Limits how often wrong sign-in codes are tried.
//!
//! A code has 256 bits and cannot be guessed: the limits keep attempts from the store. An attempt
//! counts before its code is looked up, so that concurrent ones cannot pass the limit together; it
//! is taken back if the code is right. Only an address that has used up its own attempts is
//! refused unseen. The limit of all addresses decides how a wrong code is answered, so that nobody
//! can lock out the right one.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

use crate::clock::Clock;
use crate::http::auth::AuthError;
use crate::http::error::ApiError;
use crate::limits::{
    SIGN_IN_ADDRESSES_MAX, SIGN_IN_ATTEMPTS_MAX, SIGN_IN_ATTEMPTS_PER_ADDRESS, SIGN_IN_WINDOW,
};

/// The other end of a connection, as an extension of its requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);

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

    /// Counts an attempt, unless the address has used up its own.
    pub(crate) fn begin(&self, peer: IpAddr) -> Result<(), ApiError> {
        let now = self.clock.now();
        let mut window = self.window.lock();
        if window.left(now).is_none() {
            *window = Window { began: now, total: 0, by_address: HashMap::new() };
        }
        // With more addresses than this, further ones count in the total only.
        let is_full = window.by_address.len() >= SIGN_IN_ADDRESSES_MAX;
        let count = match window.by_address.get_mut(&group(peer)) {
            Some(count) => Some(count),
            None if is_full => None,
            None => Some(window.by_address.entry(group(peer)).or_default()),
        };
        match count {
            Some(count) if *count >= SIGN_IN_ATTEMPTS_PER_ADDRESS => {
                return Err(window.too_many(now));
            }
            Some(count) => *count += 1,
            None => {}
        }
        window.total = window.total.saturating_add(1);
        Ok(())
    }

    /// Takes an attempt back: its code was right.
    pub(crate) fn take_back(&self, peer: IpAddr) {
        let mut window = self.window.lock();
        window.total = window.total.saturating_sub(1);
        if let Some(count) = window.by_address.get_mut(&group(peer)) {
            *count = count.saturating_sub(1);
        }
    }

    /// The answer to a wrong code.
    pub(crate) fn wrong(&self) -> ApiError {
        let window = self.window.lock();
        match window.total {
            0..=SIGN_IN_ATTEMPTS_MAX => AuthError::WrongCode.into(),
            _ => window.too_many(self.clock.now()),
        }
    }
}

/// What counts as one address: with IPv6 the 64 bits of a network, of which one host has all.
fn group(peer: IpAddr) -> IpAddr {
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

    /// Seconds to wait; `None` for an attempt that is counted.
    fn refused(result: Result<(), ApiError>) -> Option<u64> {
        match result {
            Ok(()) => None,
            Err(ApiError::TooManyAttempts(seconds)) => Some(seconds),
            Err(error) => panic!("{error}"),
        }
    }

    fn begin_all(attempts: &Attempts, peer: IpAddr, times: u32) {
        for _ in 0..times {
            assert_eq!(refused(attempts.begin(peer)), None);
        }
    }

    #[test]
    fn an_address_has_ten_attempts_in_a_minute() {
        let (attempts, clock) = attempts();
        begin_all(&attempts, address(1), 10);
        assert_eq!(refused(attempts.begin(address(1))), Some(60));
        assert_eq!(refused(attempts.begin(address(2))), None);
        clock.advance(Duration::from_millis(59_500));
        assert_eq!(refused(attempts.begin(address(1))), Some(1));
        clock.advance(Duration::from_millis(500));
        assert_eq!(refused(attempts.begin(address(1))), None);
    }

    #[test]
    fn a_right_code_does_not_count() {
        let (attempts, _) = attempts();
        for _ in 0..200 {
            begin_all(&attempts, address(1), 1);
            attempts.take_back(address(1));
        }
        assert!(matches!(attempts.wrong(), ApiError::Auth(AuthError::WrongCode)));
    }

    #[test]
    fn after_a_hundred_wrong_codes_others_may_still_try_but_are_told_to_wait_if_wrong() {
        let (attempts, _) = attempts();
        for number in 0..10 {
            begin_all(&attempts, address(number), 10);
        }
        assert!(matches!(attempts.wrong(), ApiError::Auth(AuthError::WrongCode)));
        begin_all(&attempts, address(99), 1);
        assert!(matches!(attempts.wrong(), ApiError::TooManyAttempts(60)));
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
            begin_all(&attempts, one.parse().unwrap(), 10);
            let refused = refused(attempts.begin(other.parse().unwrap()));
            assert_eq!(refused.is_some(), same, "{one} {other}");
        }
    }

    #[test]
    fn the_table_is_bounded_and_a_full_one_refuses_nobody_new() {
        let (attempts, _) = attempts();
        let most = u32::try_from(SIGN_IN_ADDRESSES_MAX).unwrap();
        for number in 0..most + 50 {
            begin_all(&attempts, address(number), 1);
        }
        begin_all(&attempts, address(most + 1), 20);
        begin_all(&attempts, address(1), 9);
        assert_eq!(refused(attempts.begin(address(1))), Some(60));
        assert_eq!(attempts.window.lock().by_address.len(), SIGN_IN_ADDRESSES_MAX);
    }

    #[test]
    fn a_clock_that_is_set_back_starts_a_new_minute() {
        let (attempts, clock) = attempts();
        begin_all(&attempts, address(1), 10);
        attempts.window.lock().began = clock_after(&clock);
        assert_eq!(refused(attempts.begin(address(1))), None);
    }

    /// A time that is still to come.
    fn clock_after(clock: &ManualClock) -> Timestamp {
        Clock::Manual(clock.clone()).now() + SignedDuration::from_secs(3600)
    }
}
