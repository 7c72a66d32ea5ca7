//! Signatures of what was agreed for an upload.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::TERMS_BYTES;
use crate::blobs::AssetName;

const SIGNATURE_BYTES: usize = 32;

/// Signs in one context; a signature of another one is worth nothing here.
#[derive(Clone)]
pub(super) struct Signer {
    mac: Hmac<Sha256>,
}

impl Signer {
    /// Takes the server's signing key, of any length, and what keeps its other
    /// uses apart from this one.
    pub(super) fn new(signing_key: &[u8], context: &[u8]) -> Self {
        #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
        let mut mac =
            <Hmac<Sha256> as KeyInit>::new_from_slice(signing_key).expect("HMAC takes any key");
        mac.update(context);
        Self { mac }
    }

    pub(super) fn sign(
        &self,
        name: &AssetName,
        terms: &[u8; TERMS_BYTES],
    ) -> [u8; SIGNATURE_BYTES] {
        self.over(name, terms).finalize().into_bytes().into()
    }

    /// Takes as long for a wrong signature as for a right one.
    pub(super) fn verify(
        &self,
        name: &AssetName,
        terms: &[u8; TERMS_BYTES],
        signature: &[u8],
    ) -> bool {
        self.over(name, terms).verify_slice(signature).is_ok()
    }

    /// Every part has a fixed length but the type, which stands last.
    fn over(&self, name: &AssetName, terms: &[u8; TERMS_BYTES]) -> Hmac<Sha256> {
        let mut mac = self.mac.clone();
        mac.update(name.id());
        mac.update(terms);
        mac.update(name.media().content_type().as_bytes());
        mac
    }
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signer").finish_non_exhaustive()
    }
}
