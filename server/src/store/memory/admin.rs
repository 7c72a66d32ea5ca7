//! What the operator does, and what servers remember.

use std::collections::BTreeMap;

use async_trait::async_trait;
use jiff::Timestamp;

use super::MemoryStore;
use super::data::Data;
use crate::domain::{KeyEntry, KeyRecord, NewKey};
use crate::store::{AdminStore, Replace, Result, StoreError};

impl Data {
    fn entry(&self, key: &KeyRecord) -> Option<KeyEntry> {
        let account = self.accounts.get(&key.account)?.name.to_string();
        Some(KeyEntry { account, key: key.clone() })
    }
}

#[async_trait]
impl AdminStore for MemoryStore {
    async fn create_account(&self, name: &str) -> Result<bool> {
        self.step(|data| {
            let is_new = data.account_named(name).is_none();
            if is_new {
                data.create_account(name);
            }
            Ok(is_new)
        })
        .await
    }

    async fn accounts(&self) -> Result<Vec<(String, Timestamp)>> {
        self.look(|data| {
            let accounts = data.accounts.values();
            Ok(accounts.map(|account| (account.name.to_string(), account.created_at)).collect())
        })
        .await
    }

    async fn keys(&self, account: Option<&str>) -> Result<Vec<KeyEntry>> {
        self.look(|data| {
            let find = |name| data.account_named(name).ok_or(StoreError::NotFound);
            let account = account.map(find).transpose()?;
            let keys = data.keys.values().filter(|key| account.is_none_or(|id| key.account == id));
            let mut keys: Vec<_> = keys.collect();
            keys.sort_by_key(|key| (key.account, key.id));
            Ok(keys.into_iter().filter_map(|key| data.entry(key)).collect())
        })
        .await
    }

    async fn create_key(&self, account: &str, key: &NewKey) -> Result<bool> {
        self.step(|data| match data.account_named(account) {
            Some(account) => data.insert_key(account, key.clone()).map(|_| true),
            None => Ok(false),
        })
        .await
    }

    async fn revoke_key(&self, public_id: &str) -> Result<Option<KeyEntry>> {
        self.step(|data| Ok(data.revoke(public_id, None).and_then(|key| data.entry(&key)))).await
    }

    async fn seed_first_key(&self, account: &str, key: &NewKey) -> Result<bool> {
        self.step(|data| {
            if !data.accounts.is_empty() {
                return Ok(false);
            }
            let account = data.create_account(account);
            data.insert_key(account, key.clone()).map(|_| true)
        })
        .await
    }

    async fn settings(&self) -> Result<BTreeMap<String, Vec<u8>>> {
        let all = |data: &Data| {
            data.settings.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        self.look(|data| Ok(all(data))).await
    }

    async fn set(&self, name: &str, value: &[u8], replace: Replace<'_>) -> Result<Vec<u8>> {
        self.step(|data| {
            let name = name.to_owned();
            let known = data
                .settings
                .get(&name)
                .filter(|present| replace != Replace::Any && replace != Replace::Only(present));
            if let Some(known) = known {
                return Ok(known.clone());
            }
            data.settings.insert(name, value.to_vec());
            Ok(value.to_vec())
        })
        .await
    }
}
