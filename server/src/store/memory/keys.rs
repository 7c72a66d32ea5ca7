//! Keys, sessions and one-time codes.

use std::cmp::Reverse;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

use super::{Data, Kind, MemoryStore};
use crate::domain::{AccountId, Caller, KeyId, KeyRecord, NewKey, SessionRecord};
use crate::limits::{
    API_KEYS_MAX, LAST_USE_PRECISION, SESSION_IDLE, SESSION_MAX, SIGN_IN_CODE_LIFETIME,
};
use crate::store::{KeyStore, Result, SessionStore, StoreError};

#[derive(Debug)]
pub(super) struct Session {
    /// Of what the browser keeps.
    digest: [u8; 32],
    pub(super) record: SessionRecord,
    pub(super) has_ended: bool,
}

/// What a one-time code stands for.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) account: AccountId,
    expires_at: Timestamp,
}

impl Data {
    fn key(&self, public_id: &str) -> Option<&KeyRecord> {
        self.keys.get(self.by_public_id.get(public_id)?)
    }

    pub(super) fn key_mut(&mut self, public_id: &str) -> Option<&mut KeyRecord> {
        self.keys.get_mut(self.by_public_id.get(public_id)?)
    }

    fn keys_of(&self, account: AccountId) -> impl Iterator<Item = &KeyRecord> {
        self.keys.values().filter(move |key| key.account == account)
    }

    pub(super) fn insert_key(&mut self, account: AccountId, new: NewKey) -> Result<KeyRecord> {
        if self.key(&new.public_id).is_some() {
            return Err(StoreError::KeyTaken);
        }
        let (id, created_at) = (KeyId(self.shared.next_id(Kind::Other)), self.shared.clock.now());
        let key = KeyRecord {
            id,
            account,
            digest: new.digest,
            public_id: new.public_id,
            name: new.name,
            scopes: new.scopes,
            created_at,
            last_used_at: None,
            revoked_at: new.revoked.then_some(created_at),
        };
        self.by_public_id.insert(key.public_id.clone(), id);
        self.keys.insert(id, key.clone());
        Ok(key)
    }
}

impl Session {
    fn is_valid(&self, now: Timestamp) -> bool {
        let idle_end = after(self.record.last_seen_at, SESSION_IDLE);
        !self.has_ended && self.record.expires_at > now && idle_end > now
    }
}

/// The time this long after another.
fn after(time: Timestamp, by: Duration) -> Timestamp {
    time.checked_add(by).unwrap_or(Timestamp::MAX)
}

#[async_trait]
impl KeyStore for MemoryStore {
    async fn seed_key(&self, account: &str, key: NewKey) -> Result<()> {
        let mut data = self.data.write();
        let owner = data.account_named(account).map(|account| account.id);
        if let Some(other) = data.key(&key.public_id) {
            let same = Some(other.account) == owner
                && (other.digest, other.scopes) == (key.digest, key.scopes)
                && other.is_revoked() == key.revoked;
            return if same { Ok(()) } else { Err(StoreError::KeyTaken) };
        }
        let owner = owner.unwrap_or_else(|| data.create_account(account));
        data.insert_key(owner, key).map(drop)
    }

    async fn find_key(&self, public_id: &str, _: &[u8; 32]) -> Result<Option<KeyRecord>> {
        Ok(self.data.read().key(public_id).cloned())
    }

    async fn record_use(&self, key: &KeyRecord) -> Result<()> {
        let now = self.clock.now();
        let is_due = |key: &KeyRecord| {
            let last = key.last_used_at;
            last.is_none_or(|last| after(last, LAST_USE_PRECISION) <= now)
        };
        if self.data.read().keys.get(&key.id).is_some_and(is_due)
            && let Some(key) = self.data.write().keys.get_mut(&key.id)
        {
            key.last_used_at = Some(now);
        }
        Ok(())
    }

    async fn confirm_key(&self, caller: &Caller) -> Result<()> {
        self.data.read().check(caller)
    }

    async fn create_api_key(&self, caller: &Caller, new: NewKey) -> Result<KeyRecord> {
        let mut data = self.locked(caller)?;
        let live = data.keys_of(caller.account).filter(|key| !key.is_revoked());
        if live.count() >= API_KEYS_MAX {
            return Err(StoreError::TooManyKeys);
        }
        data.insert_key(caller.account, new)
    }

    async fn api_keys(&self, caller: &Caller) -> Result<Vec<KeyRecord>> {
        let data = self.locked(caller)?;
        let mut own: Vec<_> = data.keys_of(caller.account).collect();
        own.sort_unstable_by_key(|key| Reverse((key.created_at, key.id)));
        Ok(own.into_iter().cloned().collect())
    }

    async fn revoke_api_key(&self, caller: &Caller, public_id: &str) -> Result<KeyRecord> {
        let mut data = self.locked(caller)?;
        let key = data
            .key_mut(public_id)
            .filter(|key| key.account == caller.account)
            .ok_or(StoreError::NotFound)?;
        key.revoked_at.get_or_insert(self.clock.now());
        Ok(key.clone())
    }
}

#[async_trait]
impl SessionStore for MemoryStore {
    async fn create_sign_in_code(&self, account: &str, digest: [u8; 32]) -> Result<()> {
        let (mut data, now) = (self.data.write(), self.clock.now());
        data.codes.retain(|_, code| code.expires_at > now);
        data.sessions.retain(|_, session| session.record.expires_at > now);
        let account = data.account_named(account).ok_or(StoreError::NotFound)?.id;
        let expires_at = after(now, SIGN_IN_CODE_LIFETIME);
        data.codes.entry(digest).or_insert(Code { account, expires_at });
        Ok(())
    }

    async fn sign_in(
        &self,
        code: [u8; 32],
        session: [u8; 32],
        browser: Option<&str>,
    ) -> Result<Option<SessionRecord>> {
        let (mut data, now) = (self.data.write(), self.clock.now());
        let code = data.codes.remove(&code).filter(|code| code.expires_at > now);
        let Some(Code { account, .. }) = code else { return Ok(None) };
        let id = KeyId(data.shared.next_id(Kind::Other));
        let record = SessionRecord {
            id,
            account,
            account_name: data.account_mut(account)?.name.clone(),
            browser: browser.map(Into::into),
            created_at: now,
            last_seen_at: now,
            expires_at: after(now, SESSION_MAX),
        };
        let started = Session { digest: session, record: record.clone(), has_ended: false };
        data.sessions.insert(id, started);
        Ok(Some(record))
    }

    async fn find_session(&self, digest: [u8; 32]) -> Result<Option<SessionRecord>> {
        let (mut data, now) = (self.data.write(), self.clock.now());
        let session = data.sessions.values_mut().find(|session| session.digest == digest);
        Ok(session.filter(|session| session.is_valid(now)).map(|Session { record, .. }| {
            if after(record.last_seen_at, LAST_USE_PRECISION) <= now {
                record.last_seen_at = now;
            }
            record.clone()
        }))
    }

    async fn sessions(&self, caller: &Caller) -> Result<Vec<SessionRecord>> {
        let (data, now) = (self.locked(caller)?, self.clock.now());
        let valid = data.sessions.values().filter(|session| session.is_valid(now));
        let own = valid.filter(|session| session.record.account == caller.account);
        let mut own: Vec<_> = own.map(|session| session.record.clone()).collect();
        own.sort_unstable_by_key(|session| Reverse((session.created_at, session.id)));
        Ok(own)
    }

    async fn end_session(&self, caller: &Caller, id: KeyId) -> Result<()> {
        let mut data = self.locked(caller)?;
        let session = data.sessions.get_mut(&id);
        let own = session.filter(|session| session.record.account == caller.account);
        own.ok_or(StoreError::NotFound)?.has_ended = true;
        Ok(())
    }
}
