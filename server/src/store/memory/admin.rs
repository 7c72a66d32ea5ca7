//! What the operator does, and what servers remember.

use std::collections::BTreeMap;

use async_trait::async_trait;
use jiff::Timestamp;

use super::{Data, MemoryStore};
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
        let mut data = self.data.write();
        let is_new = data.account_named(name).is_none();
        if is_new {
            data.create_account(name);
        }
        Ok(is_new)
    }

    async fn accounts(&self) -> Result<Vec<(String, Timestamp)>> {
        let data = self.data.read();
        let accounts = data.accounts.values();
        Ok(accounts.map(|account| (account.name.to_string(), account.created_at)).collect())
    }

    async fn keys(&self, account: Option<&str>) -> Result<Vec<KeyEntry>> {
        let data = self.data.read();
        let find = |name| Ok(data.account_named(name).ok_or(StoreError::NotFound)?.id);
        let account = account.map(find).transpose()?;
        let keys = data.keys.values().filter(|key| account.is_none_or(|id| key.account == id));
        let mut keys: Vec<_> = keys.collect();
        keys.sort_by_key(|key| (key.account, key.id));
        Ok(keys.into_iter().filter_map(|key| data.entry(key)).collect())
    }

    async fn create_key(&self, account: &str, key: &NewKey) -> Result<bool> {
        let mut data = self.data.write();
        let Some(account) = data.account_named(account).map(|account| account.id) else {
            return Ok(false);
        };
        data.insert_key(account, key.clone()).map(|_| true)
    }

    async fn revoke_key(&self, public_id: &str) -> Result<Option<KeyEntry>> {
        let mut data = self.data.write();
        let now = self.clock.now();
        let Some(key) = data.key_mut(public_id) else { return Ok(None) };
        key.revoked_at.get_or_insert(now);
        let key = key.clone();
        Ok(data.entry(&key))
    }

    async fn seed_first_key(&self, account: &str, key: &NewKey) -> Result<bool> {
        let mut data = self.data.write();
        if !data.accounts.is_empty() {
            return Ok(false);
        }
        let account = data.create_account(account);
        data.insert_key(account, key.clone()).map(|_| true)
    }

    async fn settings(&self) -> Result<BTreeMap<String, Vec<u8>>> {
        Ok(self.data.read().settings.clone())
    }

    async fn set(&self, name: &str, value: &[u8], replace: Replace<'_>) -> Result<Vec<u8>> {
        let mut data = self.data.write();
        let present = data.settings.entry(name.to_owned()).or_insert_with(|| value.to_vec());
        if replace == Replace::Any || replace == Replace::Only(present) {
            *present = value.to_vec();
        }
        Ok(present.clone())
    }
}
