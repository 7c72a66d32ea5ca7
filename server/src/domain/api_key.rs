//! API keys as text: their form, how they are made, how one is told from a typo.
//!
//! A key is `<vendor>_live_<public_id>_<secret>` (KE-01). The public id finds the
//! record of the key; the SHA-256 of the whole text proves the secret, which is
//! kept nowhere (KE-04). Keys made here carry a checksum, so that a mistyped one
//! is refused without a look-up; keys that were seeded need none. Who owns a key
//! and what it may do is for the store and `auth` to say.

use std::fmt;

use rand::distr::{Alphanumeric, SampleString};
use sha2::{Digest, Sha256};

/// What every made public id begins with: the version of this form.
const PUBLIC_ID_PREFIX: &str = "p1";
const PUBLIC_ID_CHARS: usize = 16;
const SECRET_RANDOM_CHARS: usize = 43;
const CHECKSUM_CHARS: usize = 6;

const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The prefix that tells whose keys these are; checked when it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vendor(Box<str>);

/// A key as somebody presented it: of the right form, and not yet proved.
#[derive(Clone, Copy)]
pub struct PresentedKey<'a> {
    whole: &'a str,
    public_id: &'a str,
}

/// A key made here, secret included. `Debug` shows the public id only.
#[derive(Clone)]
pub struct MadeKey {
    whole: Box<str>,
    public_id: Box<str>,
}

/// Why a text is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// It does not have the four parts of a key, or not this vendor's prefix.
    #[error("it does not have the form <vendor>_live_<public id>_<secret>")]
    Form,
    /// It has the form of a key made here, with a secret that was never made.
    #[error("its checksum is wrong: it was cut short or mistyped")]
    Checksum,
}

impl Vendor {
    /// Takes lower-case letters and digits, at least one.
    pub fn new(text: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        (!text.is_empty() && text.bytes().all(plain)).then(|| Self(text.into()))
    }

    /// Reads a presented key. Only the text is looked at.
    ///
    /// # Errors
    /// Whatever the text lacks; nothing of the text is in the error.
    pub fn read<'a>(&self, whole: &'a str) -> Result<PresentedKey<'a>, KeyFault> {
        let (public_id, secret) = whole
            .strip_prefix(&*self.0)
            .and_then(|rest| rest.strip_prefix("_live_"))
            .and_then(|rest| rest.split_once('_'))
            .filter(|(public_id, secret)| is_word(public_id) && is_word(secret))
            .ok_or(KeyFault::Form)?;
        if is_made_form(public_id) && !has_checksum(whole, secret) {
            return Err(KeyFault::Checksum);
        }
        Ok(PresentedKey { whole, public_id })
    }

    /// Makes a key with 256 bits of secret.
    pub fn make(&self) -> MadeKey {
        let mut public_id = String::with_capacity(PUBLIC_ID_CHARS);
        public_id.push_str(PUBLIC_ID_PREFIX);
        public_id.extend(
            rand::random::<[u8; PUBLIC_ID_CHARS - PUBLIC_ID_PREFIX.len()]>()
                .map(|byte| char::from(BASE32[usize::from(byte % 32)])),
        );
        let mut whole = format!("{}_live_{public_id}_", self.0);
        Alphanumeric.append_string(&mut rand::rng(), &mut whole, SECRET_RANDOM_CHARS);
        let checksum = checksum(&whole);
        whole.extend(checksum.map(char::from));
        MadeKey { whole: whole.into(), public_id: public_id.into() }
    }
}

impl fmt::Display for Vendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'a> PresentedKey<'a> {
    /// The part that names the key; no secret.
    pub fn public_id(&self) -> &'a str {
        self.public_id
    }

    /// SHA-256 of the whole key, all that is ever stored of it.
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.whole).into()
    }
}

impl MadeKey {
    /// The whole key, to be shown to its owner once.
    pub fn expose(&self) -> &str {
        &self.whole
    }

    /// The key as its owner will present it.
    pub fn presented(&self) -> PresentedKey<'_> {
        PresentedKey { whole: &self.whole, public_id: &self.public_id }
    }
}

impl fmt::Debug for PresentedKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PresentedKey").field("public_id", &self.public_id).finish_non_exhaustive()
    }
}

impl fmt::Debug for MadeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MadeKey").field("public_id", &self.public_id).finish_non_exhaustive()
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn is_made_form(public_id: &str) -> bool {
    public_id.len() == PUBLIC_ID_CHARS
        && public_id
            .strip_prefix(PUBLIC_ID_PREFIX)
            .is_some_and(|rest| rest.bytes().all(|byte| BASE32.contains(&byte)))
}

fn has_checksum(whole: &str, secret: &str) -> bool {
    secret.len() == SECRET_RANDOM_CHARS + CHECKSUM_CHARS
        && whole
            .split_at_checked(whole.len() - CHECKSUM_CHARS)
            .is_some_and(|(rest, end)| checksum(rest) == *end.as_bytes())
}

/// Thirty-five bits of the SHA-256 of the rest of the key, in base 62. It tells a
/// typo from a key; it proves nothing, since anyone can compute it.
fn checksum(rest: &str) -> [u8; CHECKSUM_CHARS] {
    let digest: [u8; 32] = Sha256::digest(rest).into();
    let mut number = digest[..8].iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    [(); CHECKSUM_CHARS].map(|()| {
        let digit = usize::try_from(number % 62).unwrap_or_default();
        number /= 62;
        BASE62[digit]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vendor() -> Vendor {
        Vendor::new("promptarium").unwrap()
    }

    #[test]
    fn a_made_key_reads_back_with_the_stated_lengths() {
        let made = vendor().make();
        let read = vendor().read(made.expose()).unwrap();
        assert_eq!(read.public_id().len(), 16);
        assert!(read.public_id().starts_with("p1"));
        assert_eq!(made.expose().rsplit('_').next().unwrap().len(), 49);
        assert_eq!(read.digest(), made.presented().digest());
        assert_ne!(vendor().make().expose(), made.expose());
    }

    #[test]
    fn every_single_mistyped_character_of_a_made_key_is_seen() {
        let made = vendor().make();
        let whole = made.expose();
        let secret_at = whole.rfind('_').unwrap() + 1;
        for at in secret_at..whole.len() {
            let other = if &whole[at..=at] == "x" { "y" } else { "x" };
            let mistyped = format!("{}{other}{}", &whole[..at], &whole[at + 1..]);
            assert_eq!(vendor().read(&mistyped).unwrap_err(), KeyFault::Checksum, "at {at}");
        }
        for cut in secret_at + 1..whole.len() {
            assert_eq!(vendor().read(&whole[..cut]).unwrap_err(), KeyFault::Checksum);
        }
        assert_eq!(vendor().read(&format!("{whole}x")).unwrap_err(), KeyFault::Checksum);
    }

    #[test]
    fn a_seeded_key_needs_no_checksum() {
        let key = vendor().read("promptarium_live_a1_s3cret").unwrap();
        assert_eq!(key.public_id(), "a1");
        assert!(vendor().read("promptarium_live_P1abcdefghijklmn_s").is_ok());
    }

    #[test]
    fn other_texts_are_no_keys() {
        for text in [
            "",
            "promptarium",
            "promptarium_live_",
            "promptarium_live_a1",
            "promptarium_live_a1_",
            "promptarium_live__s",
            "promptarium_test_a1_s",
            "other_live_a1_s",
            "promptarium_live_a1_s_t",
            "promptarium_live_a1_s ",
            "Promptarium_live_a1_s",
            "promptarium_live_ä_s",
        ] {
            assert_eq!(vendor().read(text).unwrap_err(), KeyFault::Form, "{text:?}");
        }
    }

    #[test]
    fn debug_shows_the_public_id_only() {
        let key = vendor().read("promptarium_live_a1_s3cret").unwrap();
        assert_eq!(format!("{key:?}"), r#"PresentedKey { public_id: "a1", .. }"#);
        let made = vendor().make();
        let secret = made.expose().rsplit('_').next().unwrap();
        assert!(!format!("{made:?}").contains(secret));
    }

    #[test]
    fn a_vendor_is_lower_case_letters_and_digits() {
        assert!(Vendor::new("acme2").is_some());
        for text in ["", "Acme", "a_b", "a-b", "ä"] {
            assert!(Vendor::new(text).is_none(), "{text:?}");
        }
    }
}
