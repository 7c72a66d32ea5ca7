//! Upload slots: permission to put one file of one type and size under one name, within a limited
//! time.
//!
//! Slots are stateless. The upload URL carries the signed claims; the token is another signature
//! of the same claims. Both together allow the upload. A slot is good for one upload because its
//! name is new and a name is put only once.

use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, Mac};
use promptarium::limits::UPLOAD_SLOT_LIFETIME_SECONDS;
use sha2::Sha256;

use crate::blobs::AssetName;
use crate::blobs::asset_url::Assets;
use crate::clock::Clock;
use crate::domain::{AccountId, Media, SigningKey};

/// The query parameter of an upload URL that contains the signed claims.
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

/// What a slot permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotClaims {
    /// The name of the file, which includes its type.
    pub name: AssetName,
    /// The exact size in bytes.
    pub size: u64,
    /// The account that asked for the slot.
    pub account: AccountId,
    /// Unix time in microseconds.
    expires: i64,
}

/// A slot with its secrets. They are all that an upload needs.
pub struct IssuedSlot {
    /// What it permits.
    pub claims: SlotClaims,
    /// Takes the bytes, once.
    pub upload_url: String,
    /// Authorises the upload.
    pub token: String,
    /// The permanent URL of the file.
    pub url: String,
}

/// Why an upload is not permitted. No text repeats what the request contained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SlotError {
    /// The request has no well-formed token.
    #[error(
        "this address takes one upload, by PUT with `Authorization: Bearer <token of the slot>`; \
         the image is at the slot's url, not here"
    )]
    NoToken,
    /// URL and token do not belong together, or one of them was changed.
    #[error("the token is not the one for this upload address, or the address was changed")]
    Invalid,
    /// [`UPLOAD_SLOT_LIFETIME_SECONDS`] have passed (LI-16).
    #[error("the upload address has run out; ask for a new slot")]
    Expired,
}

impl Slots {
    /// Slots whose URLs are below those of `assets`.
    pub fn new(signing_key: &SigningKey, assets: Assets, clock: Clock) -> Self {
        Self {
            url_mac: signing_key.mac("promptarium upload address 1"),
            token_mac: signing_key.mac("promptarium upload token 1"),
            assets,
            clock,
        }
    }

    /// A new slot for a file of this type and size.
    pub fn issue(&self, account: AccountId, media: Media, size: u64) -> IssuedSlot {
        let lifetime = Duration::from_secs(UPLOAD_SLOT_LIFETIME_SECONDS);
        let lifetime = i64::try_from(lifetime.as_micros()).unwrap_or(i64::MAX);
        let expires = self.clock.now().as_microsecond().saturating_add(lifetime);
        let claims = SlotClaims { name: AssetName::random(media), size, account, expires };
        let (name, bytes) = (claims.name, claims.to_bytes());
        let sign = |mac| signature(mac, &name, &bytes).finalize().into_bytes();
        let signed = [&bytes[..], &sign(&self.url_mac)].concat();
        let upload_url = self.assets.upload_url_of(&name);
        IssuedSlot {
            claims,
            upload_url: format!("{upload_url}?{PARAMETER}={}", BASE64URL_NOPAD.encode(&signed)),
            token: BASE64URL_NOPAD.encode(&sign(&self.token_mac)),
            url: self.assets.url_of(&name),
        }
    }

    /// Verifies a request to an upload URL by the name in its path, its query and its token.
    ///
    /// # Errors
    /// If the three are not exactly those of one slot, or the slot has expired.
    pub fn verify(
        &self,
        name: Option<AssetName>,
        query: Option<&str>,
        token: &str,
    ) -> Result<SlotClaims, SlotError> {
        let decode = |text: &str| BASE64URL_NOPAD.decode(text.as_bytes()).ok();
        let name = name.ok_or(SlotError::Invalid)?;
        let signed = query.and_then(slot_parameter).and_then(decode).ok_or(SlotError::Invalid)?;
        let (claims, url_signature) = signed.split_first_chunk().ok_or(SlotError::Invalid)?;
        let token = decode(token).ok_or(SlotError::Invalid)?;
        let url_is_valid = signature(&self.url_mac, &name, claims).verify_slice(url_signature);
        let token_is_valid = signature(&self.token_mac, &name, claims).verify_slice(&token);
        url_is_valid.and(token_is_valid).map_err(|_| SlotError::Invalid)?;
        let claims = SlotClaims::from_bytes(name, claims);
        let expired = self.clock.now().as_microsecond() > claims.expires;
        if expired { Err(SlotError::Expired) } else { Ok(claims) }
    }
}

impl SlotClaims {
    fn to_bytes(self) -> [u8; CLAIMS_BYTES] {
        let mut bytes = [0; CLAIMS_BYTES];
        bytes[..8].copy_from_slice(&self.size.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.account.0.to_be_bytes());
        bytes[16..].copy_from_slice(&self.expires.to_be_bytes());
        bytes
    }

    fn from_bytes(name: AssetName, bytes: &[u8; CLAIMS_BYTES]) -> Self {
        let number = |at: usize| {
            bytes[at..at + 8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
        };
        let signed = |at| number(at).cast_signed();
        Self { name, size: number(0), account: AccountId(signed(8)), expires: signed(16) }
    }
}

/// Comparing it takes constant time. All parts have a fixed length but the type, which is last.
fn signature(mac: &Hmac<Sha256>, name: &AssetName, claims: &[u8; CLAIMS_BYTES]) -> Hmac<Sha256> {
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

/// URL and token stay out.
impl std::fmt::Debug for IssuedSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IssuedSlot").field("claims", &self.claims).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
