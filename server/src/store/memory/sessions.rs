//! Sign-in and sessions.

use std::cmp::Reverse;
use std::sync::Arc;

use async_trait::async_trait;

use super::keys::{Code, Keys, Live, after};
use super::{MemoryStore, next, read, write};
use crate::domain::{Caller, KeyId, SessionRecord};
use crate::limits::{LAST_USE_PRECISION, SESSION_MAX, SIGN_IN_CODE_LIFETIME};
use crate::store::{Result, SessionStore, StoreError};

#[async_trait]
impl SessionStore for MemoryStore {
    async fn create_sign_in_code(&self, account: &str, digest: [u8; 32]) -> Result<()> {
        let (mut keys, now) = (write(&self.keys), self.shared.now());
        let Keys { accounts, sessions, codes, live, .. } = &mut *keys;
        codes.retain(|_, code| code.expires_at > now);
        sessions.retain(|_, session| {
            let keep = session.expires_at > now;
            if !keep {
                live.remove(&session.id);
            }
            keep
        });
        let owner = *accounts.get(account).ok_or(StoreError::NotFound)?;
        codes.entry(digest).or_insert_with(|| Code {
            account: owner,
            account_name: account.into(),
            expires_at: after(now, SIGN_IN_CODE_LIFETIME),
        });
        Ok(())
    }

    async fn sign_in(&self, code: [u8; 32], session: [u8; 32]) -> Result<Option<SessionRecord>> {
        let (mut keys, now) = (write(&self.keys), self.shared.now());
        let Some(code) = keys.codes.remove(&code).filter(|code| code.expires_at > now) else {
            return Ok(None);
        };
        let record = SessionRecord {
            id: KeyId(next(&self.shared.others)),
            account: code.account,
            account_name: code.account_name,
            created_at: now,
            last_seen_at: now,
            expires_at: after(now, SESSION_MAX),
        };
        let live = Live { account: self.account(record.account)?, last_use: Arc::default() };
        keys.live.insert(record.id, live);
        keys.sessions.insert(session, record.clone());
        Ok(Some(record))
    }

    async fn find_session(&self, digest: [u8; 32]) -> Result<Option<SessionRecord>> {
        let (mut keys, now) = (write(&self.keys), self.shared.now());
        let Some(session) = keys.sessions.get(&digest).filter(|found| keys.is_valid(found, now))
        else {
            return Ok(None);
        };
        let mut session = session.clone();
        if after(session.last_seen_at, LAST_USE_PRECISION) <= now {
            session.last_seen_at = now;
            keys.sessions.insert(digest, session.clone());
        }
        Ok(Some(session))
    }

    async fn sessions(&self, caller: &Caller) -> Result<Vec<SessionRecord>> {
        let (keys, now) = (read(&self.keys), self.shared.now());
        keys.check(caller)?;
        let own = keys.sessions.values().filter(|session| session.account == caller.account);
        let mut valid: Vec<_> = own.filter(|found| keys.is_valid(found, now)).cloned().collect();
        valid.sort_unstable_by_key(|session| Reverse((session.created_at, session.id)));
        Ok(valid)
    }

    async fn end_session(&self, caller: &Caller, id: KeyId) -> Result<()> {
        let mut keys = write(&self.keys);
        keys.check(caller)?;
        let mut own = keys.sessions.values().filter(|session| session.account == caller.account);
        own.find(|session| session.id == id).ok_or(StoreError::NotFound)?;
        keys.live.remove(&id);
        Ok(())
    }
}
