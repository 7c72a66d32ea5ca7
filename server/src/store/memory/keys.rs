//! Accounts by name, keys, sessions and one-time codes, protected by one lock.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

use super::{MemoryStore, SharedAccount, next, read, write};
use crate::domain::{
    AccountId, ApiKeyRecord, Caller, KeyId, KeyRecord, NamedKey, NewKey, SessionRecord,
};
use crate::limits::{API_KEYS_MAX, SESSION_IDLE};
use crate::store::last_use::LastUse;
use crate::store::{KeyStore, Result, StoreError};

#[derive(Debug, Default)]
pub(super) struct Keys {
    pub(super) accounts: HashMap<Box<str>, AccountId>,
    pub(super) by_public_id: HashMap<Box<str>, Key>,
    /// By the digest of what the browser keeps.
    pub(super) sessions: HashMap<[u8; 32], SessionRecord>,
    pub(super) codes: HashMap<[u8; 32], Code>,
    /// Keys that are not revoked and sessions that have not ended. Every request looks here twice.
    pub(super) live: BTreeMap<KeyId, Live>,
}

#[derive(Debug)]
pub(super) struct Key {
    pub(super) record: KeyRecord,
    pub(super) name: Option<Box<str>>,
    pub(super) created_at: Timestamp,
    pub(super) last_use: Arc<LastUse>,
    pub(super) revoked_at: Option<Timestamp>,
}

/// What requests need of a key or a session.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) account: SharedAccount,
    pub(super) last_use: Arc<LastUse>,
}

/// What a one-time code stands for.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) account: AccountId,
    pub(super) account_name: Box<str>,
    pub(super) expires_at: Timestamp,
}

impl Keys {
    /// Checks that the caller's key is not revoked.
    pub(super) fn check(&self, caller: &Caller) -> Result<()> {
        self.account(caller).map(drop)
    }

    /// The caller's account, if its key is not revoked.
    pub(super) fn account(&self, caller: &Caller) -> Result<&SharedAccount> {
        self.live.get(&caller.key).map(|live| &live.account).ok_or(StoreError::KeyRevoked)
    }

    /// Adds a key of this account whose public id is free.
    pub(super) fn insert(
        &mut self,
        record: KeyRecord,
        account: SharedAccount,
        name: Option<Box<str>>,
        now: Timestamp,
    ) -> &Key {
        let (revoked_at, last_use) = (record.key.revoked.then_some(now), Arc::default());
        if revoked_at.is_none() {
            self.live.insert(record.id, Live { account, last_use: Arc::clone(&last_use) });
        }
        let public_id = record.key.public_id.clone();
        let key = Key { record, name, created_at: now, last_use, revoked_at };
        self.by_public_id.entry(public_id).or_insert(key)
    }

    pub(super) fn is_valid(&self, session: &SessionRecord, now: Timestamp) -> bool {
        self.live.contains_key(&session.id)
            && session.expires_at > now
            && after(session.last_seen_at, SESSION_IDLE) > now
    }
}

impl Key {
    /// What its owner sees.
    pub(super) fn shown(&self) -> ApiKeyRecord {
        ApiKeyRecord {
            public_id: self.record.key.public_id.clone(),
            name: self.name.clone(),
            scopes: self.record.key.scopes,
            created_at: self.created_at,
            last_used_at: self.last_use.get(),
            revoked_at: self.revoked_at,
        }
    }
}

/// The time this long after another.
pub(super) fn after(time: Timestamp, by: Duration) -> Timestamp {
    time.checked_add(by).unwrap_or(Timestamp::MAX)
}

#[async_trait]
impl KeyStore for MemoryStore {
    async fn seed_key(&self, account: &str, key: NewKey) -> Result<()> {
        let mut keys = write(&self.keys);
        let existing = keys.accounts.get(account).copied();
        if let Some(Key { record, .. }) = keys.by_public_id.get(&key.public_id) {
            let same = Some(record.account) == existing && record.key == key;
            return if same { Ok(()) } else { Err(StoreError::KeyTaken) };
        }
        let owner = existing.unwrap_or_else(|| {
            let id = self.create_account();
            keys.accounts.insert(account.into(), id);
            id
        });
        let id = KeyId(next(&self.shared.others));
        let record = KeyRecord { id, account: owner, key };
        keys.insert(record, self.account(owner)?, None, self.shared.now());
        Ok(())
    }

    async fn find_key(&self, public_id: &str, _: &[u8; 32]) -> Result<Option<KeyRecord>> {
        Ok(read(&self.keys).by_public_id.get(public_id).map(|key| key.record.clone()))
    }

    async fn record_use(&self, key: &KeyRecord) -> Result<()> {
        if let Some(live) = read(&self.keys).live.get(&key.id) {
            live.last_use.record(self.shared.now());
        }
        Ok(())
    }

    async fn confirm_key(&self, caller: &Caller) -> Result<()> {
        read(&self.keys).check(caller)
    }

    async fn create_api_key(&self, caller: &Caller, new: NamedKey) -> Result<ApiKeyRecord> {
        let mut keys = write(&self.keys);
        let account = keys.account(caller)?.clone();
        let own = keys.by_public_id.values().filter(|key| key.record.account == caller.account);
        if own.filter(|key| key.revoked_at.is_none()).count() >= API_KEYS_MAX {
            return Err(StoreError::TooManyKeys);
        }
        if keys.by_public_id.contains_key(&new.key.public_id) {
            return Err(StoreError::KeyTaken);
        }
        let id = KeyId(next(&self.shared.others));
        let record = KeyRecord { id, account: caller.account, key: new.key };
        Ok(keys.insert(record, account, Some(new.name), self.shared.now()).shown())
    }

    async fn api_keys(&self, caller: &Caller) -> Result<Vec<ApiKeyRecord>> {
        let keys = read(&self.keys);
        keys.check(caller)?;
        let own = keys.by_public_id.values().filter(|key| key.record.account == caller.account);
        let mut own: Vec<_> = own.collect();
        own.sort_unstable_by_key(|key| Reverse((key.created_at, key.record.id)));
        Ok(own.into_iter().map(Key::shown).collect())
    }

    async fn revoke_api_key(&self, caller: &Caller, public_id: &str) -> Result<ApiKeyRecord> {
        let (mut keys, now) = (write(&self.keys), self.shared.now());
        keys.check(caller)?;
        let keys = &mut *keys;
        let key = keys.by_public_id.get_mut(public_id);
        let own = key.filter(|key| key.record.account == caller.account);
        let key = own.ok_or(StoreError::NotFound)?;
        key.revoked_at.get_or_insert(now);
        key.record.key.revoked = true;
        keys.live.remove(&key.record.id);
        Ok(key.shown())
    }
}
