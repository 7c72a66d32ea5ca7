//! Upload slots: leave to put one file of one type and size under one name,
//! within a limited time.
//!
//! Nothing is kept of a slot. Its address carries what was agreed, signed; its
//! token is another signature of the same. Whoever brings both may put the file.
//! That a slot is good for one upload only follows from the name: it is new, and
//! a name is given once.

mod sign;

use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use promptarium::limits::UPLOAD_SLOT_LIFETIME_SECONDS;

use self::sign::Signer;
use crate::blobs::AssetName;
use crate::blobs::asset_url::Assets;
use crate::clock::Clock;
use crate::domain::{AccountId, Media, SigningKey};

/// The parameter of an upload address that says what was agreed.
const PARAMETER: &str = "slot";
/// Size, account and end, eight bytes each.
const TERMS_BYTES: usize = 24;

/// Hands out slots and recognises them. Servers that share a signing key take
/// each other's slots.
#[derive(Clone, Debug)]
pub struct Slots {
    addresses: Signer,
    tokens: Signer,
    assets: Assets,
    clock: Clock,
}

/// Leave to put one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its name; it says the type too.
    pub name: AssetName,
    /// Exactly so many bytes.
    pub size: u64,
    /// Who asked for it.
    pub account: AccountId,
    /// Until when it may be put, in microseconds since 1970.
    ends: i64,
}

/// A slot with what is needed to use it. Whoever has it can upload.
pub struct HandedOut {
    /// What was agreed.
    pub slot: Slot,
    /// Where the bytes go, once.
    pub upload_url: String,
    /// What authorises that.
    pub token: String,
    /// Where the file will be, for good.
    pub url: String,
}

/// Why somebody may not upload. None of the texts repeats what was brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SlotRefusal {
    /// There is no token with the request, or it is not in its form.
    #[error(
        "this address takes one upload, by PUT with `Authorization: Bearer <token of the slot>`; \
         the image is at the slot's url, not here"
    )]
    NoToken,
    /// Address and token do not go together, or one of them was changed.
    #[error("the token is not the one for this upload address, or the address was changed")]
    Invalid,
    /// [`UPLOAD_SLOT_LIFETIME_SECONDS`] have passed (LI-16).
    #[error("the upload address has run out; ask for a new slot")]
    RunOut,
}

impl Slots {
    /// Slots of addresses below those of `assets`.
    pub fn new(signing_key: &SigningKey, assets: Assets, clock: Clock) -> Self {
        Self {
            addresses: Signer::new(signing_key, "promptarium upload address 1"),
            tokens: Signer::new(signing_key, "promptarium upload token 1"),
            assets,
            clock,
        }
    }

    /// A slot for a file of this type and size, from now on.
    pub fn hand_out(&self, account: AccountId, media: Media, size: u64) -> HandedOut {
        let lifetime = Duration::from_secs(UPLOAD_SLOT_LIFETIME_SECONDS);
        let lifetime = i64::try_from(lifetime.as_micros()).unwrap_or(i64::MAX);
        let ends = self.clock.now().as_microsecond().saturating_add(lifetime);
        let slot = Slot { name: AssetName::random(media), size, account, ends };
        let terms = slot.terms();
        let signed = [&terms[..], &self.addresses.sign(&slot.name, &terms)].concat();
        let address = self.assets.upload_url_of(&slot.name);
        HandedOut {
            slot,
            upload_url: format!("{address}?{PARAMETER}={}", BASE64URL_NOPAD.encode(&signed)),
            token: BASE64URL_NOPAD.encode(&self.tokens.sign(&slot.name, &terms)),
            url: self.assets.url_of(&slot.name),
        }
    }

    /// The slot of a request to an upload address: by the name in its path, its
    /// query, and the token it brings.
    ///
    /// # Errors
    /// If the three are not exactly those of one slot, or its time is over.
    pub fn admit(
        &self,
        name: Option<AssetName>,
        query: Option<&str>,
        token: &str,
    ) -> Result<Slot, SlotRefusal> {
        let name = name.ok_or(SlotRefusal::Invalid)?;
        let signed = signed_in(query).ok_or(SlotRefusal::Invalid)?;
        let (terms, signature) = signed.split_first_chunk().ok_or(SlotRefusal::Invalid)?;
        let token = BASE64URL_NOPAD.decode(token.as_bytes()).map_err(|_| SlotRefusal::Invalid)?;
        // Both are looked at in any case: how long it takes says nothing.
        let address_is_ours = self.addresses.verify(&name, terms, signature);
        let token_is_ours = self.tokens.verify(&name, terms, &token);
        if !(address_is_ours & token_is_ours) {
            return Err(SlotRefusal::Invalid);
        }
        let slot = Slot::of(name, terms);
        if self.clock.now().as_microsecond() > slot.ends {
            return Err(SlotRefusal::RunOut);
        }
        Ok(slot)
    }
}

impl Slot {
    fn terms(&self) -> [u8; TERMS_BYTES] {
        let mut terms = [0; TERMS_BYTES];
        terms[..8].copy_from_slice(&self.size.to_be_bytes());
        terms[8..16].copy_from_slice(&self.account.0.to_be_bytes());
        terms[16..].copy_from_slice(&self.ends.to_be_bytes());
        terms
    }

    fn of(name: AssetName, terms: &[u8; TERMS_BYTES]) -> Self {
        let eight = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&terms[at..at + 8]);
            bytes
        };
        Self {
            name,
            size: u64::from_be_bytes(eight(0)),
            account: AccountId(i64::from_be_bytes(eight(8))),
            ends: i64::from_be_bytes(eight(16)),
        }
    }
}

/// The terms and their signature; `None` unless they are there exactly once.
fn signed_in(query: Option<&str>) -> Option<Vec<u8>> {
    let parameters = query?.split('&').filter_map(|parameter| parameter.split_once('='));
    let mut slots = parameters.filter(|(name, _)| *name == PARAMETER);
    match (slots.next(), slots.next()) {
        (Some((_, value)), None) => BASE64URL_NOPAD.decode(value.as_bytes()).ok(),
        _ => None,
    }
}

/// Address and token stay out.
impl std::fmt::Debug for HandedOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HandedOut").field("slot", &self.slot).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
