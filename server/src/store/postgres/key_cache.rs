//! Keys that were found before, so that a request costs no look-up, and the time of their last
//! use.
//!
//! Whether a key was revoked since is checked by every statement. Only keys that exist are
//! cached, so that guessing keys evicts none.

use std::sync::Arc;

use quick_cache::sync::Cache;

use super::db::{Db, Statement};
use super::rows::micros;
use crate::domain::{KeyId, KeyRecord};
use crate::error_chain::error_chain;
use crate::limits::{KEY_CACHE_SIZE, LAST_USE_PRECISION};
use crate::store::last_use::LastUse;

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&USED];

/// Other servers record uses of the key too.
static USED: Statement = Statement::non_idempotent(
    "keys.used",
    "WITH clock AS MATERIALIZED (SELECT coalesce($2::timestamptz, clock_timestamp()) AS now)
     UPDATE api_key k SET last_used_at = now FROM clock
     WHERE k.id = $1::bigint AND k.revoked_at IS NULL AND (k.last_used_at IS NULL
         OR k.last_used_at <= now - $3::bigint * interval '1 microsecond')",
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

    /// The key if it is cached, which counts as a use of it.
    pub(super) fn find(&self, db: &Db, public_id: &str) -> Option<KeyRecord> {
        let key = self.0.get(public_id)?;
        key.record_use(db);
        Some(key.record.clone())
    }

    /// Caches a key that is about to be used.
    pub(super) fn insert(&self, db: &Db, record: KeyRecord) {
        let public_id = record.key.public_id.clone();
        let key = Arc::new(CachedKey { record, last_use: LastUse::default() });
        key.record_use(db);
        self.0.insert(public_id, key);
    }

    /// Forgets a key that is revoked.
    pub(super) fn remove(&self, id: KeyId) {
        self.0.retain(|_, key| key.record.id != id);
    }
}

impl CachedKey {
    /// The request does not wait for it. If it fails, the time of the next use is recorded.
    fn record_use(&self, db: &Db) {
        if !self.last_use.record(db.clock.now()) {
            return;
        }
        let (id, db) = (self.record.id.0, db.clone());
        tokio::spawn(async move {
            let precision = micros(LAST_USE_PRECISION);
            if let Err(error) = db.rows(&USED, &[&id, &db.now(), &precision]).await {
                let error = error_chain(&error);
                tracing::debug!(error, "the last use of a key is not recorded");
            }
        });
    }
}
