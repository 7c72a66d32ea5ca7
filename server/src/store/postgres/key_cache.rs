//! Keys that were found before, so that a request costs no look-up, and the time of their last
//! use.
//!
//! Whether a key was revoked since is checked by every statement. Only keys that exist are
//! cached, so that guessing keys evicts none.

use std::sync::Arc;

use constant_time_eq::constant_time_eq_32;
use quick_cache::sync::Cache;

use super::db::{By, Db, Params, Statement};
use super::rows::before;
use crate::domain::{KeyId, KeyRecord};
use crate::error_chain::error_chain;
use crate::limits::{KEY_CACHE_SIZE, LAST_USE_PRECISION};
use crate::store::last_use::LastUse;

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&USED];

/// Other servers record uses of the key too.
static USED: Statement = Statement::non_idempotent(
    "keys.used",
    "UPDATE api_key k SET last_used_at = $3
     WHERE k.account_id = $1 AND k.id = $2 AND k.revoked_at IS NULL
         AND (k.last_used_at IS NULL OR k.last_used_at <= $4)",
)
.pipelined();

/// The cache, by public id.
pub(super) struct KeyCache(Cache<Box<str>, Arc<CachedKey>>);

struct CachedKey {
    record: KeyRecord,
    /// As this server has recorded it.
    last_use: LastUse,
}

impl KeyCache {
    pub(super) fn new() -> Self {
        Self(Cache::new(KEY_CACHE_SIZE))
    }

    /// A key of the cache, if its secret has this digest: a wrong secret must not be answered
    /// sooner than a key that does not exist.
    pub(super) fn find(&self, public_id: &str, digest: &[u8; 32]) -> Option<KeyRecord> {
        let key = self.0.get(public_id)?;
        constant_time_eq_32(&key.record.key.digest, digest).then(|| key.record.clone())
    }

    pub(super) fn insert(&self, record: KeyRecord) {
        let public_id = record.key.public_id.clone();
        if self.0.get(&*public_id).is_some_and(|known| known.record == record) {
            // Its last use is known too.
            return;
        }
        self.0.insert(public_id, Arc::new(CachedKey { record, last_use: LastUse::default() }));
    }

    /// Records a use of a cached key. The request does not wait for it. If it fails, the time of
    /// the next use is recorded.
    pub(super) fn record_use(&self, db: &Db, public_id: &str) {
        let Some(key) = self.0.get(public_id).filter(|key| key.last_use.record(db.clock.now()))
        else {
            return;
        };
        let (account, id, db) = (key.record.account.0, key.record.id.0, db.clone());
        tokio::spawn(async move {
            let now = db.now();
            let params: Params<'_> = &[&account, &id, &now, &before(now, LAST_USE_PRECISION)];
            if let Err(error) = db.rows(By::Server, &USED, params).await {
                let error = error_chain(&error);
                tracing::debug!(error, "the last use of a key is not recorded");
            }
        });
    }

    /// Forgets a key that is revoked.
    pub(super) fn remove(&self, id: KeyId) {
        self.0.retain(|_, key| key.record.id != id);
    }
}
