//! API keys and browser sessions: their records, the callers they authenticate, and their text.
//!
//! A key is `<vendor>_live_<public_id>_<secret>` (KE-01). Only the SHA-256 of the whole text is
//! stored (KE-04). Generated keys carry a checksum, so that a mistyped key is rejected without a
//! look-up; seeded keys need none.
//!
//! A session is a key of its account that a browser keeps in a cookie: every step of the store
//! checks its [`KeyId`], and ending it is revoking it. A one-time code starts it. Only SHA-256
//! digests are stored.

use std::borrow::Cow;
use std::fmt;

use data_encoding::BASE64URL_NOPAD;
use jiff::Timestamp;
use rand::distr::{Alphanumeric, SampleString};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::PublicUrl;

/// Prefix of every generated public id: the version of the format.
const PUBLIC_ID_PREFIX: &str = "p1";
const PUBLIC_ID_CHARS: usize = 16;
const SECRET_RANDOM_CHARS: usize = 43;
const CHECKSUM_CHARS: usize = 6;
/// Longest key. A header could hold hundreds of kilobytes, which nobody should look up.
const KEY_BYTES_MAX: usize = 512;

const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Id of an account inside the service; never on the wire.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct AccountId(pub i64);

/// The name of an account, which fits into a seed key.
pub(crate) fn account_name(text: &str) -> Result<String, &'static str> {
    let reserved = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '=' | ',' | ':');
    let valid = (1..=200).contains(&text.chars().count()) && !text.contains(reserved);
    valid
        .then(|| text.to_owned())
        .ok_or("is not an account name; use 1 to 200 characters without spaces, `:`, `,` and `=`")
}

/// Id of an API key inside the service; never on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct KeyId(pub i64);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Caller {
    /// The key it authenticated with. It may have been revoked since.
    pub key: KeyId,
    pub account: AccountId,
    pub scopes: Scopes,
}

/// Scopes of a key. Reading needs none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scopes {
    pub prompts_write: bool,
}

impl Scopes {
    pub const ALL: Self = Self { prompts_write: true };

    /// Parses a list of scopes with commas, or `none`. The error does not repeat the text.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "none" => Ok(Self::default()),
            list if list.split(',').all(|name| name == "prompts:write") => Ok(Self::ALL),
            _ => Err("is not one of: prompts:write, none"),
        }
    }
}

/// A key to create. Its secret is known by digest only.
#[derive(Clone, PartialEq, Eq)]
pub struct NewKey {
    /// The public part of the key; unique in the service.
    pub public_id: Box<str>,
    pub name: Option<Box<str>>,
    pub digest: [u8; 32],
    pub scopes: Scopes,
    pub revoked: bool,
}

impl NewKey {
    pub(crate) fn new(key: &ApiKey<'_>, scopes: Scopes) -> Self {
        let (public_id, digest) = (key.public_id().into(), key.digest());
        Self { public_id, name: None, digest, scopes, revoked: false }
    }
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRecord {
    pub id: KeyId,
    pub account: AccountId,
    pub digest: [u8; 32],
    pub public_id: Box<str>,
    pub name: Option<Box<str>>,
    pub scopes: Scopes,
    pub created_at: Timestamp,
    /// The last request with it, to within a minute.
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEntry {
    pub account: String,
    pub key: KeyRecord,
}

impl KeyRecord {
    pub const fn caller(&self) -> Caller {
        Caller { key: self.id, account: self.account, scopes: self.scopes }
    }

    pub const fn is_revoked(&self) -> bool {
        self.revoked_at.is_some()
    }
}

/// The prefix of a deployment's keys: lower-case letters and digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vendor(Box<str>);

/// The text of a key: generated, or not yet verified. `Debug` shows the public id only.
#[derive(Clone)]
pub struct ApiKey<'a> {
    whole: Cow<'a, str>,
    public_id: Cow<'a, str>,
}

pub(crate) type GeneratedKey = ApiKey<'static>;

/// Why a text is not an API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// It lacks one of the four parts, or has another vendor's prefix.
    Form,
    /// It looks like a generated key, but the checksum does not match.
    Checksum,
}

impl Default for Vendor {
    fn default() -> Self {
        Self("promptarium".into())
    }
}

impl Vendor {
    pub fn new(text: &str) -> Result<Self, &'static str> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let vendor = (!text.is_empty() && text.bytes().all(plain)).then(|| Self(text.into()));
        vendor.ok_or("is not a vendor; use lower-case letters and digits")
    }

    /// Parses a key. Checks the text only. The error never contains it.
    pub fn read<'a>(&self, whole: &'a str) -> Result<ApiKey<'a>, KeyError> {
        let (public_id, secret) = whole
            .strip_prefix(&*self.0)
            .and_then(|rest| rest.strip_prefix("_live_"))
            .and_then(|rest| rest.split_once('_'))
            .filter(|(public_id, secret)| is_word(public_id) && is_word(secret))
            .filter(|_| whole.len() <= KEY_BYTES_MAX)
            .ok_or(KeyError::Form)?;
        if is_generated(public_id) && !has_checksum(whole, secret) {
            return Err(KeyError::Checksum);
        }
        Ok(ApiKey { whole: whole.into(), public_id: public_id.into() })
    }

    /// Generates a key with 256 bits of secret.
    pub fn make(&self) -> GeneratedKey {
        let random = rand::random::<[u8; PUBLIC_ID_CHARS - PUBLIC_ID_PREFIX.len()]>();
        let random = random.map(|byte| char::from(BASE32[usize::from(byte % 32)]));
        let public_id = format!("{PUBLIC_ID_PREFIX}{}", String::from_iter(random));
        let mut whole = format!("{}_live_{public_id}_", self.0);
        Alphanumeric.append_string(&mut rand::rng(), &mut whole, SECRET_RANDOM_CHARS);
        let checksum = checksum(&whole);
        whole.extend(checksum.map(char::from));
        ApiKey { whole: whole.into(), public_id: public_id.into() }
    }
}

impl fmt::Display for Vendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ApiKey<'_> {
    pub fn public_id(&self) -> &str {
        &self.public_id
    }

    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(&*self.whole).into()
    }

    /// The whole key, to be shown to its owner once.
    pub fn expose(&self) -> &str {
        &self.whole
    }
}

debug_only! {
    NewKey { public_id, scopes }
    KeyRecord { account, public_id, scopes, revoked_at }
    ApiKey<'_> { public_id }
    SecretToken {}
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn is_generated(public_id: &str) -> bool {
    let is_random = |rest: &str| rest.bytes().all(|byte| BASE32.contains(&byte));
    public_id.len() == PUBLIC_ID_CHARS
        && public_id.strip_prefix(PUBLIC_ID_PREFIX).is_some_and(is_random)
}

fn has_checksum(whole: &str, secret: &str) -> bool {
    secret.len() == SECRET_RANDOM_CHARS + CHECKSUM_CHARS
        && whole
            .split_at_checked(whole.len() - CHECKSUM_CHARS)
            .is_some_and(|(rest, end)| checksum(rest) == *end.as_bytes())
}

/// 35 bits of the SHA-256 of the rest of the key, in base 62, which detect typing errors only.
fn checksum(rest: &str) -> [u8; CHECKSUM_CHARS] {
    let digest: [u8; 32] = Sha256::digest(rest).into();
    let mut number = digest[..8].iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    [(); CHECKSUM_CHARS].map(|()| {
        let digit = usize::try_from(number % 62).unwrap_or_default();
        number /= 62;
        BASE62[digit]
    })
}

/// 256 random bits as 43 characters, for URLs and cookies: a one-time code, or a session's id.
#[derive(Clone)]
pub(crate) struct SecretToken(Box<str>);

impl SecretToken {
    pub(crate) fn make() -> Self {
        Self(BASE64URL_NOPAD.encode(&rand::random::<[u8; 32]>()).into())
    }

    /// What a client sent, if it is a token, without white space around it: codes are pasted.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        (bytes.len() == 32).then(|| Self(text.into()))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// The link that signs a browser in. A browser sends no fragment, so the code is in no log.
    pub(crate) fn sign_in_link(&self, public: &PublicUrl) -> String {
        format!("{}/sign-in#{}", public.url().as_str().trim_end_matches('/'), self.0)
    }

    pub(crate) fn digest(&self) -> [u8; 32] {
        Sha256::digest(&*self.0).into()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// Also its id in the dashboard; it gives access to nothing.
    pub id: KeyId,
    pub account: AccountId,
    pub account_name: Box<str>,
    /// The browser that it is in, in a few words, as the browser has said.
    pub browser: Option<Box<str>>,
    pub created_at: Timestamp,
    /// The last request, to within a minute.
    pub last_seen_at: Timestamp,
    /// When it ends at the latest. It ends earlier if it is idle for too long.
    pub expires_at: Timestamp,
}

impl SessionRecord {
    /// The caller that this session authenticates. It may do everything.
    pub const fn caller(&self) -> Caller {
        Caller { key: self.id, account: self.account, scopes: Scopes::ALL }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vendor() -> Vendor {
        Vendor::new("promptarium").unwrap()
    }

    #[test]
    fn a_generated_key_parses_and_has_the_documented_lengths() {
        let generated = vendor().make();
        let parsed = vendor().read(generated.expose()).unwrap();
        assert_eq!(parsed.public_id().len(), 16);
        assert!(parsed.public_id().starts_with("p1"));
        assert_eq!(generated.expose().rsplit('_').next().unwrap().len(), 49);
        assert_eq!(parsed.digest(), generated.digest());
        assert_ne!(vendor().make().expose(), generated.expose());
    }

    #[test]
    fn the_checksum_detects_every_single_wrong_character_and_every_cut() {
        let generated = vendor().make();
        let whole = generated.expose();
        let secret_at = whole.rfind('_').unwrap() + 1;
        for at in secret_at..whole.len() {
            let other = if &whole[at..=at] == "x" { "y" } else { "x" };
            let mistyped = format!("{}{other}{}", &whole[..at], &whole[at + 1..]);
            assert_eq!(vendor().read(&mistyped).unwrap_err(), KeyError::Checksum, "at {at}");
        }
        for cut in secret_at + 1..whole.len() {
            assert_eq!(vendor().read(&whole[..cut]).unwrap_err(), KeyError::Checksum);
        }
        assert_eq!(vendor().read(&format!("{whole}x")).unwrap_err(), KeyError::Checksum);
    }

    #[test]
    fn a_seeded_key_needs_no_checksum() {
        let key = vendor().read("promptarium_live_a1_s3cret").unwrap();
        assert_eq!(key.public_id(), "a1");
        assert!(vendor().read("promptarium_live_P1abcdefghijklmn_s").is_ok());
    }

    #[test]
    fn malformed_keys_are_rejected() {
        let texts = "|~|~_live_|~_live_a1|~_live_a1_|~_live__s|~_test_a1_s|other_live_a1_s\
                     |~_live_a1_s_t|~_live_a1_s |Promptarium_live_a1_s|~_live_ä_s";
        for text in texts.replace('~', "promptarium").split('|') {
            assert_eq!(vendor().read(text).unwrap_err(), KeyError::Form, "{text:?}");
        }
        let of = |bytes: usize| format!("promptarium_live_a1_{:s<1$}", "", bytes - 20);
        assert!(vendor().read(&of(KEY_BYTES_MAX)).is_ok());
        assert_eq!(vendor().read(&of(KEY_BYTES_MAX + 1)).unwrap_err(), KeyError::Form);
    }

    #[test]
    fn debug_shows_the_public_id_only() {
        let key = vendor().read("promptarium_live_a1_s3cret").unwrap();
        assert_eq!(format!("{key:?}"), r#"ApiKey { public_id: "a1", .. }"#);
        let generated = vendor().make();
        let secret = generated.expose().rsplit('_').next().unwrap();
        assert!(!format!("{generated:?}").contains(secret));
    }

    #[test]
    fn a_vendor_is_lower_case_letters_and_digits() {
        assert!(Vendor::new("acme2").is_ok());
        for text in ["", "Acme", "a_b", "a-b", "ä"] {
            assert!(Vendor::new(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_token_is_43_characters_and_read_back_without_white_space() {
        let token = SecretToken::make();
        assert_eq!(token.expose().len(), 43);
        let read = SecretToken::read(&format!(" {}\n", token.expose())).unwrap();
        assert_eq!(read.expose(), token.expose());
        assert_ne!(SecretToken::make().expose(), token.expose());
        assert_eq!(format!("{token:?}"), "SecretToken { .. }", "debug shows no token");
    }

    #[test]
    fn a_text_of_another_form_is_no_token() {
        let all = SecretToken::make().0.repeat(2);
        for wrong in ["", &all[..42], &all[..44], &format!("{}=", &all[..42]), "session_1"] {
            assert!(SecretToken::read(wrong).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn a_sign_in_link_has_the_code_in_its_fragment() {
        let token = SecretToken::make();
        for public in ["https://example.com/p", "https://example.com/p/"] {
            let link = token.sign_in_link(&PublicUrl::parse(public).unwrap());
            assert_eq!(link, format!("https://example.com/p/sign-in#{}", token.expose()));
        }
    }
}
