//! The interface of sign-in, sessions and the keys of an account.

use async_trait::async_trait;

use super::Result;
use crate::domain::{ApiKeyRecord, Caller, KeyId, NamedKey, SessionRecord};

/// Sign-in by one-time code, browser sessions, and the keys that a session manages.
///
/// Times are the store's: a code is valid for `limits::SIGN_IN_CODE_LIFETIME` from its creation, a
/// session for `limits::SESSION_MAX` and while it is used every `limits::SESSION_IDLE`.
#[async_trait]
pub trait SessionStore: Send + Sync + 'static {
    /// Stores the digest of a one-time code for the account with this name. Codes that have
    /// expired are forgotten, and so are sessions at the end of their longest duration.
    ///
    /// # Errors
    /// [`StoreError::NotFound`](super::StoreError::NotFound) if there is no such account.
    async fn create_sign_in_code(&self, account: &str, digest: [u8; 32]) -> Result<()>;

    /// Uses up a code and starts a session with the id of digest `session`. `None` if no code
    /// with this digest is valid: unknown, used or expired. Of two calls with one code, one gets
    /// a session. `browser` is stored with the session.
    async fn sign_in(
        &self,
        code: [u8; 32],
        session: [u8; 32],
        browser: Option<&str>,
    ) -> Result<Option<SessionRecord>>;

    /// The session with this digest, unless it has ended or expired. Never from a cache. Records
    /// that it was used. Only this method and [`SessionStore::sessions`] check the expiry: a
    /// session that expires during a request may finish it.
    async fn find_session(&self, digest: [u8; 32]) -> Result<Option<SessionRecord>>;

    /// The sessions of the caller's account that have neither ended nor expired; newest first.
    async fn sessions(&self, caller: &Caller) -> Result<Vec<SessionRecord>>;

    /// Ends a session of the caller's account, on all servers at once. Idempotent.
    ///
    /// # Errors
    /// [`StoreError::NotFound`](super::StoreError::NotFound) if the account has had no such
    /// session, or it is forgotten. [`StoreError::KeyRevoked`](super::StoreError::KeyRevoked) may
    /// also mean that the caller has ended its own session by this call: the statement is sent
    /// again after a lost connection.
    async fn end_session(&self, caller: &Caller, id: KeyId) -> Result<()>;

    /// Creates a key of the caller's account. Keys that the operator creates count toward the
    /// limit, but are not refused by it.
    ///
    /// # Errors
    /// [`StoreError::TooManyKeys`](super::StoreError::TooManyKeys) if the account has
    /// `limits::API_KEYS_MAX` keys that are not revoked, and
    /// [`StoreError::KeyTaken`](super::StoreError::KeyTaken) if the public id is in use.
    async fn create_api_key(&self, caller: &Caller, new: NamedKey) -> Result<ApiKeyRecord>;

    /// The keys of the caller's account, revoked ones included, sessions not; newest first.
    async fn api_keys(&self, caller: &Caller) -> Result<Vec<ApiKeyRecord>>;

    /// Revokes a key of the caller's account, on all servers at once. Revoking again keeps the
    /// first time. A key that revokes itself may get
    /// [`StoreError::KeyRevoked`](super::StoreError::KeyRevoked), as with
    /// [`SessionStore::end_session`].
    ///
    /// # Errors
    /// [`StoreError::NotFound`](super::StoreError::NotFound) if the account has no such key;
    /// the id of a session is no such key.
    async fn revoke_api_key(&self, caller: &Caller, public_id: &str) -> Result<ApiKeyRecord>;
}
