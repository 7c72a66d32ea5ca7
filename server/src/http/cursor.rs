//! Cursors of `GET /prompts`: where the next page begins, in a form nobody can forge.
//!
//! A cursor is the position and a signature over the position, the account and
//! the filters of the listing. The filters need not travel in it: a request with
//! other filters, another account or a changed cursor gives another signature
//! (PG-09). What a position means is the store's affair.

use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, Mac};
use promptarium::{PromptId, VaultId};
use sha2::Sha256;

use crate::domain::{AccountId, PromptKind, SigningKey};

const POSITION_BYTES: usize = 8;
const SIGNATURE_BYTES: usize = 16;

/// The listing that a cursor belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Listing {
    /// Whose prompts.
    pub account: AccountId,
    /// The filter `vaultId`.
    pub vault: Option<VaultId>,
    /// The filter `type`.
    pub kind: Option<PromptKind>,
}

/// Signs and checks cursors. Servers that share a signing key accept each
/// other's cursors.
#[derive(Clone)]
pub struct Cursors {
    mac: Hmac<Sha256>,
}

/// The text is no cursor of this listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor of this listing")]
pub struct CursorRefused;

impl Cursors {
    /// Cursors signed with the server's key.
    pub fn new(signing_key: &SigningKey) -> Self {
        Self { mac: signing_key.mac("promptarium cursor 1") }
    }

    /// The cursor of the page after `position`.
    pub fn write(&self, listing: &Listing, position: PromptId) -> String {
        let mut bytes = [0; POSITION_BYTES + SIGNATURE_BYTES];
        bytes[..POSITION_BYTES].copy_from_slice(&position.get().to_be_bytes());
        let signature = self.sign(listing, position).finalize().into_bytes();
        bytes[POSITION_BYTES..].copy_from_slice(&signature[..SIGNATURE_BYTES]);
        BASE64URL_NOPAD.encode(&bytes)
    }

    /// The position in a cursor of `listing`.
    ///
    /// # Errors
    /// If the text is anything but a cursor that [`Cursors::write`] gave for this
    /// very listing.
    pub fn read(&self, listing: &Listing, text: &str) -> Result<PromptId, CursorRefused> {
        let (position, signature) = parts(text).ok_or(CursorRefused)?;
        let position = PromptId::new(i64::from_be_bytes(position));
        self.sign(listing, position)
            .verify_truncated_left(&signature)
            .map_err(|_| CursorRefused)?;
        Ok(position)
    }

    /// Whether a text could be a cursor of some listing.
    pub fn has_form(text: &str) -> bool {
        parts(text).is_some()
    }

    fn sign(&self, listing: &Listing, position: PromptId) -> Hmac<Sha256> {
        let kind = match listing.kind {
            None => 0_u8,
            Some(PromptKind::Image) => 1,
            Some(PromptKind::Text) => 2,
            Some(PromptKind::Video) => 3,
        };
        let mut mac = self.mac.clone();
        mac.update(&listing.account.0.to_be_bytes());
        mac.update(&[u8::from(listing.vault.is_some()), kind]);
        mac.update(&listing.vault.map_or(0, VaultId::get).to_be_bytes());
        mac.update(&position.get().to_be_bytes());
        mac
    }
}

fn parts(text: &str) -> Option<([u8; POSITION_BYTES], [u8; SIGNATURE_BYTES])> {
    let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
    let (position, signature) = bytes.split_first_chunk()?;
    Some((*position, signature.try_into().ok()?))
}

impl std::fmt::Debug for Cursors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cursors").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> SigningKey {
        SigningKey::new(&[byte; SigningKey::BYTES_MIN]).unwrap()
    }

    const PLAIN: Listing = Listing { account: AccountId(1), vault: None, kind: None };

    #[test]
    fn a_cursor_reads_back_in_its_own_listing() {
        let cursors = Cursors::new(&key(b'k'));
        let text = cursors.write(&PLAIN, PromptId::new(42));
        assert_eq!(cursors.read(&PLAIN, &text), Ok(PromptId::new(42)));
        assert_eq!(Cursors::new(&key(b'k')).read(&PLAIN, &text), Ok(PromptId::new(42)));
    }

    #[test]
    fn another_listing_or_key_refuses_it() {
        let cursors = Cursors::new(&key(b'k'));
        let text = cursors.write(&PLAIN, PromptId::new(42));
        let others = [
            Listing { account: AccountId(2), ..PLAIN },
            Listing { vault: Some(VaultId::new(0)), ..PLAIN },
            Listing { vault: Some(VaultId::new(7)), ..PLAIN },
            Listing { kind: Some(PromptKind::Text), ..PLAIN },
        ];
        for other in others {
            assert_eq!(cursors.read(&other, &text), Err(CursorRefused), "{other:?}");
        }
        assert_eq!(Cursors::new(&key(b'o')).read(&PLAIN, &text), Err(CursorRefused));
    }

    #[test]
    fn every_changed_character_is_seen() {
        let cursors = Cursors::new(&key(b'k'));
        let text = cursors.write(&PLAIN, PromptId::new(42));
        for at in 0..text.len() {
            for other in ["A", "b", "-", "=", "é"] {
                let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
                if changed != text {
                    assert_eq!(cursors.read(&PLAIN, &changed), Err(CursorRefused), "{changed}");
                }
            }
            assert_eq!(cursors.read(&PLAIN, &text[..at]), Err(CursorRefused));
        }
        assert_eq!(cursors.read(&PLAIN, &format!("{text}A")), Err(CursorRefused));
    }
}
