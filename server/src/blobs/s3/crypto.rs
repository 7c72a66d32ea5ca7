//! The hash functions that requests to S3 are signed with. The crates that the
//! server has for its own signatures do it; S3 needs no others.

use hmac::{Hmac, KeyInit, Mac};
use object_store::client::{
    CryptoProvider, DigestAlgorithm, DigestContext, HmacContext, Signer, SigningAlgorithm,
};
use object_store::{Error, Result};
use sha2::{Digest, Sha256};

/// SHA-256 and HMAC with it.
#[derive(Debug)]
pub(super) struct Sha2;

impl CryptoProvider for Sha2 {
    fn digest(&self, algorithm: DigestAlgorithm) -> Result<Box<dyn DigestContext>> {
        match algorithm {
            DigestAlgorithm::Sha256 => Ok(Box::new(Digesting(Sha256::new(), [0; 32]))),
            other => Err(unknown(&other)),
        }
    }

    fn hmac(&self, algorithm: DigestAlgorithm, secret: &[u8]) -> Result<Box<dyn HmacContext>> {
        let keyed = <Hmac<Sha256> as KeyInit>::new_from_slice(secret);
        match (algorithm, keyed) {
            (DigestAlgorithm::Sha256, Ok(mac)) => Ok(Box::new(Signing(mac, [0; 32]))),
            (other, _) => Err(unknown(&other)),
        }
    }

    /// Only stores of other makes need this.
    fn sign(&self, algorithm: SigningAlgorithm, _: &[u8]) -> Result<Box<dyn Signer>> {
        Err(unknown(&algorithm))
    }
}

struct Digesting(Sha256, [u8; 32]);

impl DigestContext for Digesting {
    fn update(&mut self, data: &[u8]) {
        Digest::update(&mut self.0, data);
    }

    fn finish(&mut self) -> Result<&[u8]> {
        self.1 = self.0.finalize_reset().into();
        Ok(&self.1)
    }
}

struct Signing(Hmac<Sha256>, [u8; 32]);

impl HmacContext for Signing {
    fn update(&mut self, data: &[u8]) {
        Mac::update(&mut self.0, data);
    }

    fn finish(&mut self) -> Result<&[u8]> {
        self.1 = self.0.clone().finalize().into_bytes().into();
        Ok(&self.1)
    }
}

fn unknown(algorithm: &dyn std::fmt::Debug) -> Error {
    Error::NotSupported { source: format!("no {algorithm:?} for the blob store").into() }
}

#[cfg(test)]
mod tests {
    use data_encoding::HEXLOWER;

    use super::*;

    #[test]
    fn the_functions_give_the_published_values() {
        let mut digest = Sha2.digest(DigestAlgorithm::Sha256).unwrap();
        digest.update(b"a");
        digest.update(b"bc");
        assert_eq!(
            HEXLOWER.encode(digest.finish().unwrap()),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        // RFC 4231, test case 2.
        let mut mac = Sha2.hmac(DigestAlgorithm::Sha256, b"Jefe").unwrap();
        mac.update(b"what do ya want ");
        mac.update(b"for nothing?");
        assert_eq!(
            HEXLOWER.encode(mac.finish().unwrap()),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
