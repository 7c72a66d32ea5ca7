//! API keys, sign-in by one-time code, browser sessions, and what the owner of an account does beside
//! the API.

use async_trait::async_trait;
use promptarium::{PromptId, VaultId};

use super::Result;
#[cfg(doc)]
use super::StoreError;
use crate::domain::{
    AccountData, AccountId, Caller, KeyId, KeyRecord, ListedPrompt, NewKey, SessionRecord,
    SharedPrompt, VaultRecord,
};

/// API keys, and the accounts that are created with them.
#[async_trait]
pub trait KeyStore: Send + Sync + 'static {
    /// Creates the account named `account` with its General vault unless it exists,
    /// and adds `key` to it. Idempotent: the identical key again changes nothing. Fails with
    /// [`StoreError::KeyTaken`] if the public id is in use with another secret, account, scopes or
    /// revocation state.
    async fn seed_key(&self, account: &str, key: NewKey) -> Result<()>;

    /// The key with this public id, revoked or not, but never a session. The caller verifies the
    /// secret.
    ///
    /// If `digest` is that of the key, the result may come from a cache and be stale: the key may
    /// have been revoked since. Therefore every method with a [`Caller`] checks the key again and fails
    /// with [`StoreError::KeyRevoked`]. A request that calls no such method must call
    /// [`KeyStore::confirm_key`].
    ///
    /// The time it takes does not tell apart a wrong secret, a revoked key and none (S-53).
    async fn find_key(&self, public_id: &str, digest: &[u8; 32]) -> Result<Option<KeyRecord>>;

    /// Notes that a request has proved to have this key: the time of its last use, at most once per
    /// `LAST_USE_PRECISION`. Does not wait until that is stored.
    async fn record_use(&self, key: &KeyRecord) -> Result<()>;

    /// Checks that the caller's key is not revoked at this moment.
    async fn confirm_key(&self, caller: &Caller) -> Result<()>;

    /// Creates a key of the caller's account. Fails with [`StoreError::TooManyKeys`] if the account
    /// has `limits::API_KEYS_MAX` keys that are not revoked, and with [`StoreError::KeyTaken`] if the
    /// public id is in use. Keys that the operator creates count toward the limit, but are not
    /// refused by it.
    async fn create_api_key(&self, caller: &Caller, new: NewKey) -> Result<KeyRecord>;

    /// The keys of the caller's account, revoked ones included, sessions not; newest first.
    async fn api_keys(&self, caller: &Caller) -> Result<Vec<KeyRecord>>;

    /// Revokes a key of the caller's account, on all servers at once. Revoking again keeps the
    /// first time. A key that revokes itself may get [`StoreError::KeyRevoked`], as with
    /// [`SessionStore::end_session`].
    async fn revoke_api_key(&self, caller: &Caller, public_id: &str) -> Result<KeyRecord>;
}

/// Sign-in and sessions.
///
/// Times are the store's: a code is valid for `limits::SIGN_IN_CODE_LIFETIME` from its creation, a
/// session for `limits::SESSION_MAX` and while it is used every `limits::SESSION_IDLE`.
#[async_trait]
pub trait SessionStore: Send + Sync + 'static {
    /// Stores the digest of a one-time code for the account with this name. Codes that have
    /// expired are forgotten, and so are sessions at the end of their longest duration. Fails with
    /// [`StoreError::NotFound`] if there is no such account.
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

    /// Ends a session of the caller's account, on all servers at once. Idempotent until the session is
    /// forgotten. [`StoreError::KeyRevoked`] may also mean that the caller has ended its own session
    /// by this call: the statement is sent again after a lost connection.
    async fn end_session(&self, caller: &Caller, id: KeyId) -> Result<()>;
}

/// Accounts as a whole, pictures that their owner uploads, and vaults that anybody may read.
#[async_trait]
pub trait AccountStore: Send + Sync + 'static {
    /// Gives the caller's account another name. Keys and sessions stay valid. Fails with
    /// [`StoreError::AccountTaken`] if another account has the name.
    async fn rename_account(&self, caller: &Caller, name: &str) -> Result<()>;

    /// Deletes the caller's account: jobs, prompts, vaults, keys, sessions and codes. Files stay:
    /// forks in other accounts may refer to them.
    ///
    /// It is several steps. The first one revokes all keys and sessions but the caller's. After a
    /// failure the account has the rest, and another call deletes it.
    async fn delete_account(&self, caller: &Caller) -> Result<()>;

    /// Adds these vaults and prompts to the caller's account. The contents of a system vault go to the
    /// system vault of the account. Fails with [`StoreError::TooManyVaults`],
    /// [`StoreError::TooManyPrompts`] or [`StoreError::TooLarge`].
    async fn import(&self, caller: &Caller, data: AccountData) -> Result<()>;

    /// The public or unlisted vault with this slug of the account with this name, for anybody.
    async fn shared_vault(&self, account: &str, slug: &str) -> Result<(AccountId, VaultRecord)>;

    /// A prompt of a vault. It checks no caller and no visibility: the request has just read the vault.
    async fn shared_prompt(
        &self,
        account: AccountId,
        vault: VaultId,
        prompt: PromptId,
    ) -> Result<SharedPrompt>;

    /// A part of the contents of a vault, in display order. It checks no caller and no visibility:
    /// the request has just read the vault.
    async fn vault_page(
        &self,
        account: AccountId,
        vault: VaultId,
        offset: usize,
        limit: usize,
    ) -> Result<Vec<ListedPrompt>>;
}
