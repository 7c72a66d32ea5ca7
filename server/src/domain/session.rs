//! Browser sessions, and the one-time codes that start them.
//!
//! A session is a key of its account that a browser keeps in a cookie: every step of the store
//! checks its [`KeyId`], and ending it is revoking it. Only SHA-256 digests are stored.

use data_encoding::BASE64URL_NOPAD;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{AccountId, Caller, KeyId, PublicUrl, Scopes};

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

debug_only! { SecretToken {} }

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
