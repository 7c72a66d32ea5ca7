//! Sign-in by one-time code, and browser sessions.

use async_trait::async_trait;

use super::Result;
#[cfg(doc)]
use super::StoreError;
use crate::domain::{Caller, KeyId, SessionRecord};

/// Sign-in and sessions.
///
/// Times are the store's: a code is valid for `limits::SIGN_IN_CODE_LIFETIME` from its creation, a
/// session for `limits::SESSION_MAX` and while it is used every `limits::SESSION_IDLE`.
#[async_trait]
pub trait SessionStore: Send + Sync + 'static {
    /// Stores the digest of a one-time code for the account with this name. Codes that have
    /// expired are forgotten, and so are sessions at the end of their longest duration.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if there is no such account.
    async fn create_sign_in_code(&self, account: &str, digest: [u8; 32]) -> Result<()>;

    /// Uses up a code and starts a session with the id of digest `session`. `None` if no code
    /// with this digest is valid: unknown, used or expired. Of two calls with one code, one gets
    /// a session.
    async fn sign_in(&self, code: [u8; 32], session: [u8; 32]) -> Result<Option<SessionRecord>>;

    /// The session with this digest, unless it has ended or expired. Never from a cache. Records
    /// that it was used. Only this method and [`SessionStore::sessions`] check the expiry: a
    /// session that expires during a request may finish it.
    async fn find_session(&self, digest: [u8; 32]) -> Result<Option<SessionRecord>>;

    /// The sessions of the caller's account that have neither ended nor expired; newest first.
    async fn sessions(&self, caller: &Caller) -> Result<Vec<SessionRecord>>;

    /// Ends a session of the caller's account, on all servers at once. Idempotent.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if the account has had no such
    /// session, or it is forgotten. [`StoreError::KeyRevoked`] may
    /// also mean that the caller has ended its own session by this call: the statement is sent
    /// again after a lost connection.
    async fn end_session(&self, caller: &Caller, id: KeyId) -> Result<()>;
}
