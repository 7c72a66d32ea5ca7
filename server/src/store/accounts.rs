//! API keys, sign-in by one-time code, sessions, what an owner does with an account, what the operator
//! does, and what the servers of a store remember together.

use std::collections::BTreeMap;

use async_trait::async_trait;
use jiff::Timestamp;
use promptarium::{PromptId, VaultId};

use super::Result;
#[cfg(doc)]
use super::StoreError;
use crate::domain::{
    AccountData, AccountId, Caller, KeyEntry, KeyId, KeyRecord, ListedPrompt, NewKey,
    SessionRecord, SharedPrompt, VaultRecord,
};

/// API keys, and the accounts that are created with them.
#[async_trait]
pub trait KeyStore: Send + Sync + 'static {
    /// Creates the account named `account` with its General vault unless it exists, and adds `key`
    /// to it, unless that exists. Fails with [`StoreError::KeyTaken`] if the public id is in use
    /// with another secret, account, scopes or revocation state.
    async fn seed_key(&self, account: &str, key: NewKey) -> Result<()>;

    /// The key with this public id, revoked or not, never a session. The caller verifies the
    /// secret.
    ///
    /// If `digest` is that of the key, the result may come from a cache, and the key may have been
    /// revoked since. Therefore every method with a [`Caller`] checks it again and fails with
    /// [`StoreError::KeyRevoked`]. A request that calls none must call [`KeyStore::confirm_key`].
    ///
    /// The time it takes does not tell apart a wrong secret, a revoked key and none (S-53).
    async fn find_key(&self, public_id: &str, digest: &[u8; 32]) -> Result<Option<KeyRecord>>;

    /// Notes the last use of a key, at most once per `LAST_USE_PRECISION`. Does not wait for it.
    async fn record_use(&self, key: &KeyRecord) -> Result<()>;

    /// Checks that the caller's key is not revoked at this moment.
    async fn confirm_key(&self, caller: &Caller) -> Result<()>;

    /// Creates a key of the caller's account. Fails with [`StoreError::TooManyKeys`] at
    /// `limits::API_KEYS_MAX` keys that are not revoked, and with [`StoreError::KeyTaken`] if the
    /// public id is in use. Keys that the operator creates count, but are not refused.
    async fn create_api_key(&self, caller: &Caller, new: NewKey) -> Result<KeyRecord>;

    /// The keys of the caller's account, revoked ones included, sessions not; newest first.
    async fn api_keys(&self, caller: &Caller) -> Result<Vec<KeyRecord>>;

    /// Revokes a key, on all servers at once. Revoking again keeps the first time. A key that
    /// revokes itself may get [`StoreError::KeyRevoked`], as with [`SessionStore::end_session`].
    async fn revoke_api_key(&self, caller: &Caller, public_id: &str) -> Result<KeyRecord>;
}

/// Sign-in and sessions.
///
/// Times are the store's: a code is valid for `limits::SIGN_IN_CODE_LIFETIME` from its creation, a
/// session for `limits::SESSION_MAX` and while it is used every `limits::SESSION_IDLE`.
#[async_trait]
pub trait SessionStore: Send + Sync + 'static {
    /// Stores the digest of a one-time code for the account with this name, or fails with
    /// [`StoreError::NotFound`]. Forgets codes and sessions that have expired for good.
    async fn create_sign_in_code(&self, account: &str, digest: [u8; 32]) -> Result<()>;

    /// Uses up a code and starts a session with the id of digest `session`. `None` if no code with
    /// this digest is valid. Of two calls with one code, one gets a session.
    async fn sign_in(
        &self,
        code: [u8; 32],
        session: [u8; 32],
        browser: Option<&str>,
    ) -> Result<Option<SessionRecord>>;

    /// The session with this digest, unless it has ended or expired, never from a cache. Records
    /// its use. Other methods but [`SessionStore::sessions`] do not check the expiry.
    async fn find_session(&self, digest: [u8; 32]) -> Result<Option<SessionRecord>>;

    /// The sessions of the caller's account that have neither ended nor expired; newest first.
    async fn sessions(&self, caller: &Caller) -> Result<Vec<SessionRecord>>;

    /// Ends a session, on all servers at once. [`StoreError::KeyRevoked`] may also mean that the
    /// caller has ended its own session: the statement is sent again after a lost connection.
    async fn end_session(&self, caller: &Caller, id: KeyId) -> Result<()>;
}

/// Accounts as a whole, pictures that their owner uploads, and vaults that anybody may read.
#[async_trait]
pub trait AccountStore: Send + Sync + 'static {
    /// Gives the account another name, or fails with [`StoreError::AccountTaken`].
    async fn rename_account(&self, caller: &Caller, name: &str) -> Result<()>;

    /// Deletes the account, but not its files, to which forks in other accounts may refer.
    ///
    /// It is several steps. The first one revokes other keys and sessions. After a failure the
    /// account has the rest, and another call deletes it.
    async fn delete_account(&self, caller: &Caller) -> Result<()>;

    /// Adds these vaults and prompts. The contents of a system vault go to that of the account.
    /// Fails with [`StoreError::TooManyVaults`], [`StoreError::TooManyPrompts`] or
    /// [`StoreError::TooLarge`].
    async fn import(&self, caller: &Caller, data: AccountData) -> Result<()>;

    /// The public or unlisted vault with this slug of the account with this name, for anybody.
    async fn shared_vault(&self, account: &str, slug: &str) -> Result<(AccountId, VaultRecord)>;

    /// A prompt of a vault. It checks no caller: the request has just read the vault.
    async fn shared_prompt(
        &self,
        account: AccountId,
        vault: VaultId,
        prompt: PromptId,
    ) -> Result<SharedPrompt>;

    /// A part of the contents of a vault, in display order, as unchecked as
    /// [`AccountStore::shared_prompt`].
    async fn vault_page(
        &self,
        account: AccountId,
        vault: VaultId,
        offset: usize,
        limit: usize,
    ) -> Result<Vec<ListedPrompt>>;
}

/// The name of each public URL that the deployment has had begins with this.
const PUBLIC_URL: &str = "public-url ";
const LAST_PUBLIC_URL: &str = "last-public-url";

/// Which value of a setting a new one replaces. One that is absent is set in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace<'a> {
    None,
    Only(&'a [u8]),
    Any,
}

/// Accounts, keys and settings, for the start of a server and for the commands of the operator.
#[async_trait]
pub trait AdminStore: Send + Sync + 'static {
    /// Creates an account with its General vault; `false`, and no change, if the name is in use.
    async fn create_account(&self, name: &str) -> Result<bool>;

    /// The names of all accounts and when they were created, oldest first.
    async fn accounts(&self) -> Result<Vec<(String, Timestamp)>>;

    /// The keys of the account with this name, or of all, by account, then by age. Fails with
    /// [`StoreError::NotFound`] if there is no such account.
    async fn keys(&self, account: Option<&str>) -> Result<Vec<KeyEntry>>;

    /// Creates a key of an existing account; `false` if there is no such account.
    async fn create_key(&self, account: &str, key: &NewKey) -> Result<bool>;

    /// Revokes a key, on every server at once. Revoking again keeps the first time. `None` if there
    /// is no such key; a session is none.
    async fn revoke_key(&self, public_id: &str) -> Result<Option<KeyEntry>>;

    /// Creates this account and key if there is no account at all, and returns whether it did.
    async fn seed_first_key(&self, account: &str, key: &NewKey) -> Result<bool>;

    /// Everything that the servers of this store remember, by name.
    async fn settings(&self) -> Result<BTreeMap<String, Vec<u8>>>;

    /// Sets a value, and returns the value that is set then.
    async fn set(&self, name: &str, value: &[u8], replace: Replace<'_>) -> Result<Vec<u8>>;

    /// The secret with which all servers of this store sign. The first one creates it.
    async fn signing_key(&self) -> Result<Vec<u8>> {
        self.set("signing-key", &rand::random::<[u8; 32]>(), Replace::None).await
    }

    /// Remembers a public URL of this deployment, and returns all that it has had.
    async fn add_public_url(&self, url: &str) -> Result<Vec<String>> {
        self.set(&format!("{PUBLIC_URL}{url}"), b"", Replace::None).await?;
        let settings = self.settings().await?.into_keys();
        Ok(settings.filter_map(|name| name.strip_prefix(PUBLIC_URL).map(str::to_owned)).collect())
    }

    /// What is known of the blob store: `description`, if nothing was known or what `replace` says.
    async fn blob_store(&self, description: &[u8], replace: Replace<'_>) -> Result<Vec<u8>> {
        self.set("blob-store", description, replace).await
    }

    /// Remembers where clients reach the servers of this store.
    async fn set_last_public_url(&self, url: &str) -> Result<()> {
        self.set(LAST_PUBLIC_URL, url.as_bytes(), Replace::Any).await.map(drop)
    }

    async fn last_public_url(&self) -> Result<Option<String>> {
        let url = self.settings().await?.remove(LAST_PUBLIC_URL);
        Ok(url.map(|url| String::from_utf8_lossy(&url).into_owned()))
    }
}
