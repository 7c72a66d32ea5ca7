//! The secret that signs cursors, upload slots and output names.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// A secret that signs what the service hands out. `Debug` hides it.
#[derive(Clone)]
pub struct SigningKey(Box<[u8]>);

impl SigningKey {
    /// Minimum length in bytes.
    pub const BYTES_MIN: usize = 32;

    /// Accepts a secret of at least [`SigningKey::BYTES_MIN`] bytes.
    pub fn new(secret: &[u8]) -> Option<Self> {
        (secret.len() >= Self::BYTES_MIN).then(|| Self(secret.into()))
    }

    /// A random key.
    pub fn random() -> Self {
        Self(Box::new(rand::random::<[u8; Self::BYTES_MIN]>()))
    }

    /// HMAC-SHA-256 with this key, domain-separated by `context`: a signature made for one
    /// context never verifies in another.
    pub fn mac(&self, context: &'static str) -> Hmac<Sha256> {
        #[expect(clippy::expect_used, reason = "HMAC accepts a key of any length")]
        let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&self.0).expect("any key length");
        mac.update(context.as_bytes());
        mac.update(b"\0");
        mac
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").finish_non_exhaustive()
    }
}
