//! API keys as their owner sees them. What the operator does with them is in [`super::accounts`].

use constant_time_eq::constant_time_eq_32;
use parking_lot::Mutex;
use quick_cache::sync::Cache;

use super::prelude::*;
use crate::error_chain::error_chain;
use crate::limits::{API_KEYS_MAX, LAST_USE_PRECISION};

/// The columns that [`key_record`] reads, of a table or subquery named `k`.
pub(super) const KEY_COLUMNS: &str = "k.id, k.account_id, k.public_id, k.name, k.digest,
    k.prompts_write, k.created_at, k.last_used_at, k.revoked_at";

statements! {
    read_only FIND "keys.find"
        "SELECT {KEY_COLUMNS} FROM api_key k WHERE k.public_id = $1::text AND {IS_NO_SESSION}";
    pub(super) read_only CONFIRM "keys.confirm"
        "{CALLER} SELECT FROM caller";
    /// After a lock on the account, so that of two new keys at the limit one is refused.
    non_idempotent CREATE "keys.create_own"
        "{CALLER}, {NEW_KEY}, number AS MATERIALIZED (
             SELECT (SELECT count(*) FROM api_key k
                 WHERE k.account_id = $1 AND k.revoked_at IS NULL AND {IS_NO_SESSION}
             ) < $8::bigint AS below_limit FROM caller
         ), k AS (
             INSERT INTO api_key
                 (id, account_id, public_id, digest, prompts_write, name, created_at, revoked_at)
             SELECT new_key.id, $1, $3::text, $4::bytea, $5::boolean, $6::text, $9,
                 CASE WHEN $7::boolean THEN $9::timestamptz END
             FROM number, new_key WHERE below_limit
             ON CONFLICT (public_id) DO NOTHING
             RETURNING *
         )
         SELECT {KEY_COLUMNS}, number.below_limit FROM number LEFT JOIN k ON true";
    read_only LIST "keys.list_own"
        "{CALLER} SELECT {KEY_COLUMNS}
         FROM caller LEFT JOIN api_key k ON k.account_id = $1 AND {IS_NO_SESSION}
         ORDER BY k.created_at DESC, k.id DESC";
    /// Revoking again keeps the first time.
    idempotent REVOKE "keys.revoke_own"
        "{CALLER}, k AS (
             UPDATE api_key k SET revoked_at = coalesce(k.revoked_at, $4) FROM caller
             WHERE k.public_id = $3 AND k.account_id = $1 AND {IS_NO_SESSION}
             RETURNING k.*
         )
         SELECT {KEY_COLUMNS} FROM caller LEFT JOIN k ON true";
    /// Other servers record uses of the key too.
    pipelined USED "keys.used"
        "UPDATE api_key k SET last_used_at = $3
         WHERE k.account_id = $1 AND k.id = $2 AND k.revoked_at IS NULL
             AND (k.last_used_at IS NULL OR k.last_used_at <= $4)";
}

#[async_trait]
impl KeyStore for PostgresStore {
    async fn seed_key(&self, account: &str, key: NewKey) -> Result<()> {
        let is_there = self.create(account, Some(&key), false).await?;
        if is_there { Ok(()) } else { Err(StoreError::KeyTaken) }
    }

    async fn find_key(&self, public_id: &str, digest: &[u8; 32]) -> Result<Option<KeyRecord>> {
        if let Some(cached) = self.cached_key(public_id, digest) {
            return Ok(Some(cached));
        }
        let rows = self.db.rows(By::LookUp, &[(&FIND, &[&public_id])]).await?;
        let record = all(&rows, key_record)?.pop();
        if let Some(record) = record.as_ref().filter(|record| !record.is_revoked())
            // Of a key that is there, the last use is known too.
            && self.keys.get(public_id).is_none_or(|known| known.record.id != record.id)
        {
            let cached = CachedKey { record: record.clone(), last_use: Mutex::default() };
            self.keys.insert(public_id.into(), Arc::new(cached));
        }
        Ok(record)
    }

    /// The request does not wait for it. If it fails, the time of the next use is recorded.
    async fn record_use(&self, key: &KeyRecord) -> Result<()> {
        let Some(cached) = self.keys.get(&*key.public_id) else { return Ok(()) };
        let (db, now) = (self.db.clone(), self.db.now());
        let recently = before(now, LAST_USE_PRECISION);
        {
            let last = &mut *cached.last_use.lock();
            if last.is_some_and(|last| last > recently) {
                return Ok(());
            }
            *last = Some(now);
        }
        tokio::spawn(async move {
            let (account, id) = (cached.record.account.0, cached.record.id.0);
            let params: Params<'_> = &[&account, &id, &now, &recently];
            if let Err(error) = db.rows(By::Server, &[(&USED, params)]).await {
                let error = error_chain(&error);
                tracing::debug!(error, "the last use of a key is not recorded");
            }
        });
        Ok(())
    }

    async fn confirm_key(&self, caller: &Caller) -> Result<()> {
        let outcome = self.db.row_of_caller(caller, &CONFIRM, &[]).await;
        if let Err(StoreError::KeyRevoked) = outcome {
            self.forget_key(caller.key);
        }
        outcome.map(drop)
    }

    async fn create_api_key(&self, caller: &Caller, new: NewKey) -> Result<KeyRecord> {
        let params: Params<'_> = &[
            &&*new.public_id,
            &&new.digest[..],
            &new.scopes.prompts_write,
            &new.name.as_deref(),
            &new.revoked,
            &int(API_KEYS_MAX),
            &self.db.now(),
        ];
        let steps = [(&LOCK_ACCOUNT, &[][..]), (&CREATE, params)];
        let row = self.db.row_of_steps(By::Caller(caller), &steps).await?;
        match key_record(&row)? {
            Some(key) => Ok(key),
            None if column(&row, "below_limit")? => Err(StoreError::KeyTaken),
            None => Err(StoreError::TooManyKeys),
        }
    }

    async fn api_keys(&self, caller: &Caller) -> Result<Vec<KeyRecord>> {
        all(&self.db.rows(By::Caller(caller), &[(&LIST, &[])]).await?, key_record)
    }

    async fn revoke_api_key(&self, caller: &Caller, public_id: &str) -> Result<KeyRecord> {
        let row = self.db.row_of_caller(caller, &REVOKE, &[&public_id, &self.db.now()]).await?;
        let key = key_record(&row)?.ok_or(StoreError::NotFound)?;
        self.forget_key(key.id);
        Ok(key)
    }
}

/// The key in a row of [`KEY_COLUMNS`]; `None` if an outer join found no key.
pub(super) fn key_record(row: &Row) -> Result<Option<KeyRecord>> {
    let Some(id) = column::<Option<i64>>(row, "id")? else { return Ok(None) };
    let digest: &[u8] = column(row, "digest")?;
    Ok(Some(KeyRecord {
        id: KeyId(id),
        account: AccountId(column(row, "account_id")?),
        digest: digest.try_into().map_err(|error| StoreError::Internal(Box::new(error)))?,
        public_id: column::<&str>(row, "public_id")?.into(),
        name: column::<Option<&str>>(row, "name")?.map(Into::into),
        scopes: Scopes { prompts_write: column(row, "prompts_write")? },
        created_at: column(row, "created_at")?,
        last_used_at: column(row, "last_used_at")?,
        revoked_at: column(row, "revoked_at")?,
    }))
}

/// Keys that were found before, by public id. Every statement checks whether they were revoked
/// since. Only keys that exist are cached, so that guessing evicts none.
pub(super) type KeyCache = Cache<Box<str>, Arc<CachedKey>>;

pub(super) struct CachedKey {
    record: KeyRecord,
    last_use: Mutex<Option<Timestamp>>,
}

impl PostgresStore {
    /// A key of the cache with this digest: a wrong one is not answered sooner than an unknown key.
    pub(super) fn cached_key(&self, public_id: &str, digest: &[u8; 32]) -> Option<KeyRecord> {
        let key = self.keys.get(public_id)?;
        constant_time_eq_32(&key.record.digest, digest).then(|| key.record.clone())
    }

    fn forget_key(&self, id: KeyId) {
        self.keys.retain(|_, key| key.record.id != id);
    }
}
