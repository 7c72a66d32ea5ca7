//! Limits how often wrong sign-in codes are tried.
//!
//! A code has 256 bits and cannot be guessed; the limits slow down whoever tries. They decide only
//! how a wrong code is answered, so that nobody can lock out the right one: behind a proxy all
//! clients have one address.

use std::net::IpAddr;

use crate::clock::Clock;
use crate::http::auth::AuthError;
use crate::http::error::ApiError;
use crate::http::rates::windows::{Rate, Windows};
use crate::limits::{SIGN_IN_ATTEMPTS_MAX, SIGN_IN_ATTEMPTS_PER_ADDRESS, SIGN_IN_WINDOW_SECONDS};
use crate::quota::Client;

/// The wrong codes of each address, and of all together.
#[derive(Debug)]
pub struct Attempts(Windows<Client>);

impl Attempts {
    pub(crate) fn new(clock: Clock) -> Self {
        Self(Windows::new(clock))
    }

    /// Counts a wrong code, and returns the answer to it.
    pub(crate) fn wrong(&self, peer: IpAddr) -> ApiError {
        let rate = |quota| Rate { quota, seconds: SIGN_IN_WINDOW_SECONDS };
        let (left, refused) = self.0.count(&[
            (peer.into(), rate(SIGN_IN_ATTEMPTS_PER_ADDRESS)),
            (Client::Server, rate(SIGN_IN_ATTEMPTS_MAX)),
        ]);
        match refused {
            Some(at) => ApiError::TooManyAttempts(left[at].seconds),
            None => AuthError::WrongCode.into(),
        }
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
}
