//! Keys, sessions and one-time codes.

use std::cmp::Reverse;

use async_trait::async_trait;
use jiff::Timestamp;

use super::MemoryStore;
use super::account::AccountView;
use super::data::{Code, Data, Kind, Session};
use crate::clock::after;
use crate::domain::{AccountId, Caller, KeyId, KeyRecord, NewKey, SessionRecord};
use crate::limits::{API_KEYS_MAX, LAST_USE_PRECISION, SESSION_MAX, SIGN_IN_CODE_LIFETIME};
use crate::store::{KeyStore, Result, SessionStore, StoreError};

impl Data {
    fn key(&self, public_id: &str) -> Option<&KeyRecord> {
        self.keys.get(self.public_ids.get(&public_id.into())?)
    }

    fn keys_of(&self, account: AccountId) -> impl Iterator<Item = &KeyRecord> {
        self.keys.values().filter(move |key| key.account == account)
    }

    pub(super) fn insert_key(&mut self, account: AccountId, new: NewKey) -> Result<KeyRecord> {
        if self.key(&new.public_id).is_some() {
            return Err(StoreError::KeyTaken);
        }
        let (id, created_at) = (KeyId(self.next_id(Kind::Other)), self.now());
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
        self.public_ids.insert(key.public_id.clone(), id);
        self.keys.insert(id, key.clone());
        Ok(key)
    }

    /// Revokes a key, if it is of this account, and returns it.
    pub(super) fn revoke(&mut self, public_id: &str, of: Option<AccountId>) -> Option<KeyRecord> {
        let (key, now) = (self.key(public_id)?, self.now());
        let id = Some(key).filter(|key| of.is_none_or(|of| key.account == of))?.id;
        let key = self.keys.get_mut(&id)?;
        key.revoked_at.get_or_insert(now);
        Some(key.clone())
    }
}

impl MemoryStore {
    /// Records the use of a key or session, at most once per `LAST_USE_PRECISION`, and returns its
    /// time. A failure is ignored, so that reads succeed while the disk is full.
    async fn note_use(
        &self,
        id: KeyId,
        last: Option<Timestamp>,
        note: impl FnOnce(&mut Data, Timestamp) -> Option<()> + Send,
    ) -> Option<Timestamp> {
        let now = self.data.read().now();
        let is_due = |last: Timestamp| after(last, LAST_USE_PRECISION) <= now;
        if !last.is_none_or(is_due) || !self.uses.lock().get(&id).copied().is_none_or(is_due) {
            return None;
        }
        self.uses.lock().insert(id, now);
        match self.step(|data| Ok(note(data, now))).await {
            Ok(_) => drop(self.uses.lock().remove(&id)),
            Err(error) => tracing::debug!(%error, "the last use of a key is not recorded"),
        }
        Some(now)
    }
}

#[async_trait]
impl KeyStore for MemoryStore {
    async fn seed_key(&self, account: &str, key: NewKey) -> Result<()> {
        self.step(|data| {
            let owner = data.account_named(account);
            if let Some(other) = data.key(&key.public_id) {
                let same = Some(other.account) == owner
                    && (other.digest, other.scopes) == (key.digest, key.scopes)
                    && other.is_revoked() == key.revoked;
                return if same { Ok(()) } else { Err(StoreError::KeyTaken) };
            }
            let owner = owner.unwrap_or_else(|| data.create_account(account));
            data.insert_key(owner, key).map(drop)
        })
        .await
    }

    async fn find_key(&self, public_id: &str, _: &[u8; 32]) -> Result<Option<KeyRecord>> {
        self.look(|data| Ok(data.key(public_id).cloned())).await
    }

    async fn record_use(&self, key: &KeyRecord) -> Result<()> {
        let note = |data: &mut Data, now| {
            data.keys.get_mut(&key.id)?.last_used_at = Some(now);
            Some(())
        };
        self.note_use(key.id, key.last_used_at, note).await;
        Ok(())
    }

    async fn confirm_key(&self, caller: &Caller) -> Result<()> {
        self.look(|data| data.check(caller)).await
    }

    async fn create_api_key(&self, caller: &Caller, new: NewKey) -> Result<KeyRecord> {
        self.write(caller, |own| {
            let live = own.data.keys_of(own.id).filter(|key| !key.is_revoked());
            if live.count() >= API_KEYS_MAX {
                return Err(StoreError::TooManyKeys);
            }
            own.data.insert_key(own.id, new)
        })
        .await
    }

    async fn api_keys(&self, caller: &Caller) -> Result<Vec<KeyRecord>> {
        self.read(caller, |own| {
            let mut keys: Vec<_> = own.data.keys_of(own.id).cloned().collect();
            keys.sort_unstable_by_key(|key| Reverse((key.created_at, key.id)));
            Ok(keys)
        })
        .await
    }

    async fn revoke_api_key(&self, caller: &Caller, public_id: &str) -> Result<KeyRecord> {
        self.write(caller, |own| {
            own.data.revoke(public_id, Some(own.id)).ok_or(StoreError::NotFound)
        })
        .await
    }
}

#[async_trait]
impl SessionStore for MemoryStore {
    async fn create_sign_in_code(&self, account: &str, digest: [u8; 32]) -> Result<()> {
        let code = self.step(|data| {
            let now = data.now();
            data.codes.remove_where(|_, code| code.expires_at <= now);
            data.sessions.remove_where(|_, session| session.record.expires_at <= now);
            // Without an account they are forgotten too.
            let Some(account) = data.account_named(account) else { return Ok(None) };
            if !data.codes.contains(&digest) {
                let expires_at = after(now, SIGN_IN_CODE_LIFETIME);
                data.codes.insert(digest, Code { account, expires_at });
            }
            Ok(Some(()))
        });
        code.await?.ok_or(StoreError::NotFound)
    }

    async fn sign_in(
        &self,
        code: [u8; 32],
        session: [u8; 32],
        browser: Option<&str>,
    ) -> Result<Option<SessionRecord>> {
        self.step(|data| {
            let now = data.now();
            let code = data.codes.remove(&code).filter(|code| code.expires_at > now);
            let Some(Code { account, .. }) = code else { return Ok(None) };
            let id = KeyId(data.next_id(Kind::Other));
            let record = SessionRecord {
                id,
                account,
                account_name: data.accounts.get(&account).ok_or(StoreError::NotFound)?.name.clone(),
                browser: browser.map(Into::into),
                created_at: now,
                last_seen_at: now,
                expires_at: after(now, SESSION_MAX),
            };
            let started = Session { digest: session, record: record.clone(), has_ended: false };
            data.sessions.insert(id, started);
            Ok(Some(record))
        })
        .await
    }

    async fn find_session(&self, digest: [u8; 32]) -> Result<Option<SessionRecord>> {
        let found = self.look(|data| {
            let session = data.sessions.values().find(|session| session.digest == digest);
            let session = session.filter(|session| session.is_valid(data.now()));
            Ok(session.map(|session| session.record.clone()))
        });
        let Some(mut record) = found.await? else { return Ok(None) };
        let note = |data: &mut Data, now| {
            data.sessions.get_mut(&record.id)?.record.last_seen_at = now;
            Some(())
        };
        if let Some(now) = self.note_use(record.id, Some(record.last_seen_at), note).await {
            record.last_seen_at = now;
        }
        Ok(Some(record))
    }

    async fn sessions(&self, caller: &Caller) -> Result<Vec<SessionRecord>> {
        self.read(caller, |AccountView { data, id }| {
            let (now, all) = (data.now(), data.sessions.values());
            let own = all.filter(|one| one.record.account == *id && one.is_valid(now));
            let mut own: Vec<_> = own.map(|session| session.record.clone()).collect();
            own.sort_unstable_by_key(|session| Reverse((session.created_at, session.id)));
            Ok(own)
        })
        .await
    }

    async fn end_session(&self, caller: &Caller, id: KeyId) -> Result<()> {
        self.write(caller, |own| {
            let session = own.data.sessions.get_mut(&id);
            let session = session.filter(|session| session.record.account == own.id);
            session.ok_or(StoreError::NotFound)?.has_ended = true;
            Ok(())
        })
        .await
    }
}
