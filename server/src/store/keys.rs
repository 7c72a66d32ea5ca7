//! API keys, and the accounts that are created with them.

use async_trait::async_trait;

use super::Result;
#[cfg(doc)]
use super::StoreError;
use crate::domain::{Caller, KeyRecord, NewKey};

/// API keys. See the [parent module](super) for the rules that all methods share.
#[async_trait]
pub trait KeyStore: Send + Sync + 'static {
    /// Creates the account named `account` with its General vault unless it exists,
    /// and adds `key` to it. Idempotent: the identical key again changes nothing.
    ///
    /// # Errors
    /// [`StoreError::KeyTaken`] if the public id is in use with another secret, account,
    /// scopes or revocation state. Nothing changes then.
    async fn seed_key(&self, account: &str, key: NewKey) -> Result<()>;

    /// The key with this public id, revoked or not. The secret is not verified here.
    ///
    /// The result may come from a cache and be stale: the key may have been revoked
    /// since. Therefore every method with a [`Caller`] checks the key again and fails
    /// with [`StoreError::KeyRevoked`]. A request that calls no such method must call
    /// [`KeyStore::confirm_key`].
    async fn find_key(&self, public_id: &str) -> Result<Option<KeyRecord>>;

    /// Checks that the caller's key is not revoked at this moment.
    ///
    /// # Errors
    /// [`StoreError::KeyRevoked`].
    async fn confirm_key(&self, caller: &Caller) -> Result<()>;
}
