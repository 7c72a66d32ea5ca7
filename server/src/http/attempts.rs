//! How a wrong sign-in code is answered: with 401, and with 429 after many of them.
//!
//! A code has 256 bits and cannot be guessed. The right one is always accepted, so that nobody can
//! lock out others: behind a proxy all clients have one address.

use std::net::IpAddr;

use crate::clock::Clock;
use crate::http::auth::AuthError;
use crate::http::error::ApiError;
use crate::http::rates::windows::{Rate, Windows};
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
        let rate = |events| Rate { events, seconds: 60 };
        let (left, refused) = self.0.count(&[(peer.into(), rate(10)), (Client::Server, rate(100))]);
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
