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
pub struct Peer(pub IpAddr);

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
