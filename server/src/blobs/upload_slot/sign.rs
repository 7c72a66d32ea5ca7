//! Signatures of what was agreed for an upload.

use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::blobs::AssetName;
use crate::blobs::upload_slot::TERMS_BYTES;
use crate::domain::SigningKey;

const SIGNATURE_BYTES: usize = 32;

/// Signs in one context; a signature of another one is worth nothing here.
#[derive(Clone)]
pub(super) struct Signer {
    mac: Hmac<Sha256>,
}

impl Signer {
    /// A signer whose signatures are valid in `context` only.
    pub(super) fn new(signing_key: &SigningKey, context: &'static str) -> Self {
        Self { mac: signing_key.mac(context) }
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
