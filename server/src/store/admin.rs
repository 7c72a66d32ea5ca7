//! What the operator does, and what the servers of a store remember together.

use std::collections::BTreeMap;

use async_trait::async_trait;
use jiff::Timestamp;

use super::Result;
#[cfg(doc)]
use super::StoreError;
use crate::domain::{KeyEntry, NewKey};

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
