//! Keys, and the names that accounts are seeded under.
//!
//! Making the account itself is left to the caller of [`Keyring::seed`].

use std::collections::HashMap;

use crate::domain::{AccountId, KeyId, KeyRecord, NewKey};
use crate::store::StoreError;

#[derive(Debug, Default)]
pub(super) struct Keyring {
    keys: HashMap<Box<str>, KeyRecord>,
    accounts: HashMap<Box<str>, AccountId>,
}

impl Keyring {
    pub(super) fn find(&self, public_id: &str) -> Option<&KeyRecord> {
        self.keys.get(public_id)
    }

    /// Gives the account called `name` the key `key`; `open` makes the account
    /// if there is none of that name yet. The key can be found only when its
    /// account is there.
    pub(super) fn seed(
        &mut self,
        name: &str,
        key: NewKey,
        open: impl FnOnce() -> AccountId,
    ) -> Result<(), StoreError> {
        let account = self.accounts.get(name).copied();
        if let Some(known) = self.keys.get(&key.public_id) {
            let same = Some(known.account) == account && known.key == key;
            return if same { Ok(()) } else { Err(StoreError::KeyTaken) };
        }
        let account = account.unwrap_or_else(|| {
            let account = open();
            self.accounts.insert(name.into(), account);
            account
        });
        let id = KeyId(i64::try_from(self.keys.len()).unwrap_or(i64::MAX));
        self.keys.insert(key.public_id.clone(), KeyRecord { id, account, key });
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn accounts(&self) -> impl Iterator<Item = AccountId> {
        self.accounts.values().copied()
    }
}
