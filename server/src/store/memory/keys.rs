//! API keys, and the accounts that are created with them.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use async_trait::async_trait;

use super::account::Account;
use super::{MemoryStore, read, write};
use crate::domain::{AccountId, Caller, KeyId, KeyRecord, NewKey, NewVault, VaultVisibility};
use crate::store::{KeyStore, Result, StoreError};

/// The name of the vault that every account has.
const GENERAL: &str = "General";

#[derive(Debug, Default)]
pub(super) struct Keys {
    by_public_id: HashMap<Box<str>, KeyRecord>,
    pub(super) accounts: HashMap<Box<str>, AccountId>,
}

#[async_trait]
impl KeyStore for MemoryStore {
    async fn seed_key(&self, account: &str, key: NewKey) -> Result<()> {
        let mut keys = write(&self.keys);
        let existing = keys.accounts.get(account).copied();
        if let Some(known) = keys.by_public_id.get(&key.public_id) {
            let same = Some(known.account) == existing && known.key == key;
            return if same { Ok(()) } else { Err(StoreError::KeyTaken) };
        }
        let owner = existing.unwrap_or_else(|| {
            let id = self.create_account();
            keys.accounts.insert(account.into(), id);
            id
        });
        let id = KeyId(i64::try_from(keys.by_public_id.len()).unwrap_or(i64::MAX));
        let public_id = key.public_id.clone();
        keys.by_public_id.insert(public_id, KeyRecord { id, account: owner, key });
        Ok(())
    }

    async fn find_key(&self, public_id: &str) -> Result<Option<KeyRecord>> {
        Ok(read(&self.keys).by_public_id.get(public_id).cloned())
    }

    async fn confirm_key(&self, _: &Caller) -> Result<()> {
        // This store never revokes a key, so the result of `find_key` is never stale.
        Ok(())
    }
}

impl MemoryStore {
    /// Creates an account with its General vault.
    fn create_account(&self) -> AccountId {
        let mut account = Account::new(self.shared.next_account());
        let visibility = VaultVisibility::Private;
        let general = NewVault { name: GENERAL.into(), description: None, visibility };
        account.insert_vault(general, &self.shared).record.system = true;
        let id = account.id;
        write(&self.accounts).insert(id, Arc::new(RwLock::new(account)));
        id
    }
}
