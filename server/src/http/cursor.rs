//! Cursors of `GET /prompts`: the position of the next page, signed.
//!
//! The signature covers the position, the account and the filters, so that a cursor is only valid
//! for its own listing (PG-09). The store defines what a position means.

use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, Mac};
use promptarium::{PromptId, VaultId};
use sha2::Sha256;

use crate::domain::{AccountId, PromptKind, SigningKey};

#[derive(Clone, Copy, Debug)]
pub struct Listing<'a> {
    pub account: AccountId,
    pub vault: Option<VaultId>,
    pub kind: Option<PromptKind>,
    pub search: Option<&'a str>,
}

/// Signs and verifies cursors. Servers that share a signing key accept each other's cursors.
#[derive(Clone)]
pub struct Cursors {
    mac: Hmac<Sha256>,
}

impl Cursors {
    pub fn new(signing_key: &SigningKey) -> Self {
        Self { mac: signing_key.mac("promptarium cursor 1") }
    }

    /// The cursor of the page after `position`.
    pub fn write(&self, listing: &Listing<'_>, position: PromptId) -> String {
        let signature = self.sign(listing, position).finalize().into_bytes();
        let bytes = [&position.get().to_be_bytes()[..], &signature[..16]].concat();
        BASE64URL_NOPAD.encode(&bytes)
    }

    /// The position in a text, if that is a cursor of `listing`.
    pub fn read(&self, listing: &Listing<'_>, text: &str) -> Option<PromptId> {
        let (position, signature) = parts(text)?;
        let position = PromptId::new(i64::from_be_bytes(position));
        let verified = self.sign(listing, position).verify_truncated_left(&signature);
        verified.is_ok().then_some(position)
    }

    /// Whether a text could be a cursor of some listing.
    pub fn has_form(text: &str) -> bool {
        parts(text).is_some()
    }

    fn sign(&self, listing: &Listing<'_>, position: PromptId) -> Hmac<Sha256> {
        let kind = listing.kind.map_or(0, |kind| kind as u8 + 1);
        let mut mac = self.mac.clone();
        mac.update(&listing.account.0.to_be_bytes());
        mac.update(&[u8::from(listing.vault.is_some()), kind]);
        mac.update(&listing.vault.map_or(0, VaultId::get).to_be_bytes());
        mac.update(&position.get().to_be_bytes());
        // All before has a fixed length.
        if let Some(search) = listing.search {
            mac.update(b"q");
            mac.update(search.as_bytes());
        }
        mac
    }
}

fn parts(text: &str) -> Option<([u8; 8], [u8; 16])> {
    let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
    let (position, signature) = bytes.split_first_chunk()?;
    Some((*position, signature.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> SigningKey {
        SigningKey::new(&[byte; SigningKey::BYTES_MIN]).unwrap()
    }

    const PLAIN: Listing<'_> =
        Listing { account: AccountId(1), vault: None, kind: None, search: None };

    #[test]
    fn a_cursor_is_valid_for_its_own_listing_and_key_only_and_without_any_change() {
        let cursors = Cursors::new(&key(b'k'));
        let text = cursors.write(&PLAIN, PromptId::new(42));
        assert_eq!(Cursors::new(&key(b'k')).read(&PLAIN, &text), Some(PromptId::new(42)));
        for other in [
            Listing { account: AccountId(2), ..PLAIN },
            Listing { vault: Some(VaultId::new(0)), ..PLAIN },
            Listing { kind: Some(PromptKind::Text), ..PLAIN },
            Listing { search: Some(""), ..PLAIN },
            Listing { search: Some("gull"), ..PLAIN },
        ] {
            assert_eq!(cursors.read(&other, &text), None, "{other:?}");
        }
        assert_eq!(Cursors::new(&key(b'o')).read(&PLAIN, &text), None);

        let changed = (0..text.len()).flat_map(|at| {
            let (before, after) = (&text[..at], &text[at + 1..]);
            ["", "A", "b", "-", "=", "é"].map(|other| format!("{before}{other}{after}"))
        });
        for changed in changed.chain([format!("{text}A")]).filter(|changed| *changed != text) {
            assert_eq!(cursors.read(&PLAIN, &changed), None, "{changed}");
        }
    }
}
