//! Upload slots: permission to put one file of one type and size under one name, within a limited
//! time.
//!
//! Slots are stateless. The upload URL carries the signed claims; the token is another signature
//! of the same claims. Both together allow the upload. A slot is good for one upload because its
//! name is new and a name is put only once.

use bytes::{Buf, BufMut};
use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, Mac};
use promptarium::limits::UPLOAD_SLOT_LIFETIME_SECONDS;
use sha2::Sha256;

use super::asset_url::Assets;
use crate::clock::Clock;
use crate::domain::{AccountId, AssetName, Media, SigningKey};

/// The parameter of an upload URL that contains the signed claims.
const PARAMETER: &str = "slot";
/// Size, account and expiry, eight bytes each.
const CLAIMS_BYTES: usize = 24;

/// Issues and verifies slots. Servers that share a signing key accept each other's slots.
#[derive(Clone)]
pub struct Slots {
    url_mac: Hmac<Sha256>,
    token_mac: Hmac<Sha256>,
    assets: Assets,
    clock: Clock,
}

/// The upload that a slot permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotClaims {
    /// It includes the type of the file.
    pub name: AssetName,
    pub size: u64,
    pub account: AccountId,
    /// Unix time in microseconds.
    expires: i64,
}

/// A slot with its secrets. They are all that an upload needs.
pub struct IssuedSlot {
    pub claims: SlotClaims,
    /// Takes the bytes, once.
    pub upload_url: String,
    pub token: String,
    /// The permanent URL of the file.
    pub url: String,
}

/// Why an upload is not permitted. No text repeats what the request contained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SlotError {
    #[error(
        "this address takes one upload, by PUT with `Authorization: Bearer <token of the slot>`; \
         the image is at the slot's url, not here"
    )]
    NoToken,
    #[error("the token is not the one for this upload address, or the address was changed")]
    Invalid,
    /// [`UPLOAD_SLOT_LIFETIME_SECONDS`] have passed (LI-16).
    #[error("the upload address has run out; ask for a new slot")]
    Expired,
}

impl Slots {
    pub fn new(signing_key: &SigningKey, assets: Assets, clock: Clock) -> Self {
        Self {
            url_mac: signing_key.mac("promptarium upload address 1"),
            token_mac: signing_key.mac("promptarium upload token 1"),
            assets,
            clock,
        }
    }

    pub fn issue(&self, account: AccountId, media: Media, size: u64) -> IssuedSlot {
        let lifetime = UPLOAD_SLOT_LIFETIME_SECONDS.cast_signed() * 1_000_000;
        let expires = self.clock.now().as_microsecond() + lifetime;
        let name = AssetName::random(media);
        let mut claims = Vec::with_capacity(CLAIMS_BYTES);
        claims.put_u64(size);
        claims.put_i64(account.0);
        claims.put_i64(expires);
        let sign = |mac| signature(mac, &name, &claims).finalize().into_bytes();
        let signed = [&claims[..], &sign(&self.url_mac)].concat();
        let upload_url = self.assets.upload_url_of(&name);
        IssuedSlot {
            claims: SlotClaims { name, size, account, expires },
            upload_url: format!("{upload_url}?{PARAMETER}={}", BASE64URL_NOPAD.encode(&signed)),
            token: BASE64URL_NOPAD.encode(&sign(&self.token_mac)),
            url: self.assets.url_of(&name),
        }
    }

    /// Verifies a request to an upload URL by the name in its path, its query and its token.
    pub fn verify(
        &self,
        name: Option<AssetName>,
        query: Option<&str>,
        token: &str,
    ) -> Result<SlotClaims, SlotError> {
        let decode = |text: &str| BASE64URL_NOPAD.decode(text.as_bytes()).ok();
        let name = name.ok_or(SlotError::Invalid)?;
        let signed = query.and_then(slot_parameter).and_then(decode).ok_or(SlotError::Invalid)?;
        let (mut claims, url_signature) =
            signed.split_at_checked(CLAIMS_BYTES).ok_or(SlotError::Invalid)?;
        let token = decode(token).ok_or(SlotError::Invalid)?;
        let url_is_valid = signature(&self.url_mac, &name, claims).verify_slice(url_signature);
        let token_is_valid = signature(&self.token_mac, &name, claims).verify_slice(&token);
        url_is_valid.and(token_is_valid).map_err(|_| SlotError::Invalid)?;
        let (size, account) = (claims.get_u64(), AccountId(claims.get_i64()));
        let claims = SlotClaims { name, size, account, expires: claims.get_i64() };
        let expired = self.clock.now().as_microsecond() > claims.expires;
        if expired { Err(SlotError::Expired) } else { Ok(claims) }
    }
}

/// Comparing it takes constant time. All parts have a fixed length but the type, which is last.
fn signature(mac: &Hmac<Sha256>, name: &AssetName, claims: &[u8]) -> Hmac<Sha256> {
    let mut mac = mac.clone();
    mac.update(name.id());
    mac.update(claims);
    mac.update(name.media().content_type().as_bytes());
    mac
}

/// `None` unless the parameter is there exactly once.
fn slot_parameter(query: &str) -> Option<&str> {
    let parameters = query.split('&').filter_map(|parameter| parameter.split_once('='));
    let mut slots = parameters.filter(|(name, _)| *name == PARAMETER);
    let (_, value) = slots.next()?;
    slots.next().is_none().then_some(value)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use url::Url;

    use super::*;
    use crate::clock::ManualClock;

    const ALICE: AccountId = AccountId(1);
    const LIFETIME: Duration = Duration::from_secs(UPLOAD_SLOT_LIFETIME_SECONDS);

    fn slots() -> (Slots, ManualClock) {
        let clock = ManualClock::new("2026-01-02T03:04:05Z".parse().unwrap());
        (slots_with(&[b'k'; SigningKey::BYTES_MIN], &clock), clock)
    }

    fn slots_with(key: &[u8; SigningKey::BYTES_MIN], clock: &ManualClock) -> Slots {
        let assets = Assets::new(&Url::parse("http://example.com").unwrap(), &[]);
        Slots::new(&SigningKey::new(key).unwrap(), assets, Clock::Manual(clock.clone()))
    }

    /// What an upload request contains.
    struct Parts {
        name: Option<AssetName>,
        query: String,
        token: String,
    }

    fn parts(issued: &IssuedSlot) -> Parts {
        let (path, query) = issued.upload_url.split_once('?').unwrap();
        Parts {
            name: AssetName::parse(path.rsplit('/').next().unwrap()),
            query: query.to_owned(),
            token: issued.token.clone(),
        }
    }

    fn verify(slots: &Slots, parts: &Parts) -> Result<SlotClaims, SlotError> {
        slots.verify(parts.name, Some(&parts.query), &parts.token)
    }

    #[test]
    fn a_slot_is_valid_on_every_server_with_the_key() {
        let (slots, clock) = slots();
        let issued = slots.issue(ALICE, Media::Webp, 12_345);
        let slot = verify(&slots, &parts(&issued)).unwrap();
        assert_eq!(slot, issued.claims);
        assert_eq!((slot.size, slot.account, slot.name.media()), (12_345, ALICE, Media::Webp));
        assert!(
            verify(&slots_with(&[b'k'; SigningKey::BYTES_MIN], &clock), &parts(&issued)).is_ok()
        );
        let other = slots_with(&[b'o'; SigningKey::BYTES_MIN], &clock);
        assert_eq!(verify(&other, &parts(&issued)), Err(SlotError::Invalid));
    }

    #[test]
    fn a_slot_expires_after_its_lifetime() {
        let (slots, clock) = slots();
        let parts = parts(&slots.issue(ALICE, Media::Png, 1));
        clock.advance(LIFETIME);
        assert!(verify(&slots, &parts).is_ok());
        clock.advance(Duration::from_micros(1));
        assert_eq!(verify(&slots, &parts), Err(SlotError::Expired));
    }

    #[test]
    fn parts_of_different_slots_are_refused() {
        let (slots, _) = slots();
        let one = || parts(&slots.issue(ALICE, Media::Png, 1));
        let same = one();
        for other in [
            Parts { token: one().token, ..one() },
            Parts { query: one().query, ..one() },
            Parts { name: one().name, ..one() },
            Parts { query: same.query.clone(), token: same.token.clone(), ..one() },
            Parts { name: None, ..one() },
        ] {
            assert_eq!(verify(&slots, &other), Err(SlotError::Invalid));
        }
    }

    #[test]
    fn the_type_is_part_of_the_claims_and_the_signature_of_the_url_is_no_token() {
        let (slots, _) = slots();
        let issued = parts(&slots.issue(ALICE, Media::Png, 1));
        let name = AssetName::parse(&issued.name.unwrap().to_string().replace(".png", ".gif"));
        assert!(name.is_some());
        let signed = BASE64URL_NOPAD.decode(slot_parameter(&issued.query).unwrap().as_bytes());
        let token = BASE64URL_NOPAD.encode(&signed.unwrap()[CLAIMS_BYTES..]);
        assert_eq!(slots.verify(name, Some(&issued.query), &issued.token), Err(SlotError::Invalid));
        assert_eq!(slots.verify(issued.name, Some(&issued.query), &token), Err(SlotError::Invalid));
    }

    #[test]
    fn every_changed_character_is_refused() {
        let (slots, _) = slots();
        let right = parts(&slots.issue(ALICE, Media::Png, 1));
        let changes = |text: &str, from: usize| {
            let mut all =
                vec![text[..text.len() - 1].to_owned(), format!("{text}A"), String::new()];
            for at in from..text.len() {
                for other in ["A", "b", "-", "=", "é"] {
                    all.push(format!("{}{other}{}", &text[..at], &text[at + 1..]));
                }
            }
            all.retain(|changed| changed != text);
            all
        };
        for token in changes(&right.token, 0) {
            let outcome = slots.verify(right.name, Some(&right.query), &token);
            assert_eq!(outcome, Err(SlotError::Invalid), "{token}");
        }
        for query in changes(&right.query, 0) {
            let outcome = slots.verify(right.name, Some(&query), &right.token);
            assert_eq!(outcome, Err(SlotError::Invalid), "{query}");
        }
        let twice = format!("{0}&{0}", right.query);
        assert_eq!(slots.verify(right.name, Some(&twice), &right.token), Err(SlotError::Invalid));
        assert_eq!(slots.verify(right.name, None, &right.token), Err(SlotError::Invalid));
        let further = format!("a=b&{}&c", right.query);
        assert!(slots.verify(right.name, Some(&further), &right.token).is_ok());
    }
}
