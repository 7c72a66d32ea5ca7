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

    use super::*;

    #[test]
    fn an_address_has_ten_wrong_codes_in_a_minute_and_all_have_a_hundred() {
        let attempts = Attempts::new(Clock::System);
        let is_only_wrong = |address: u32| match attempts.wrong(Ipv4Addr::from(address).into()) {
            ApiError::TooManyAttempts(seconds) => {
                assert_eq!(seconds, 60);
                false
            }
            ApiError::Auth(AuthError::WrongCode) => true,
            error => panic!("{error}"),
        };
        for address in 0..10 {
            assert!((0..10).all(|_| is_only_wrong(address)), "{address}");
            assert!(!is_only_wrong(address), "{address}");
        }
        assert!(!is_only_wrong(99));
    }
}
