//! Sign-in, sessions, and the keys of an account.
//!
//! A session is a key with a row in `session`.

use std::cmp::Reverse;

use async_trait::async_trait;
use tokio_postgres::Row;

use super::PostgresStore;
use super::db::{Params, Statement};
use super::rows::{caller, column, is_no_session, micros};
use crate::domain::{AccountId, ApiKeyRecord, Caller, KeyId, NamedKey, Scopes, SessionRecord};
use crate::limits::{
    API_KEYS_MAX, LAST_USE_PRECISION, SESSION_IDLE, SESSION_MAX, SIGN_IN_CODE_LIFETIME,
};
use crate::store::{Result, SessionStore, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] =
    &[&CODE, &SIGN_IN, &FIND, &LIST, &END, &CREATE_KEY, &KEYS, &REVOKE_KEY];

/// No row in `owner` if there is no such account. What has expired is locked first, without
/// what a concurrent statement forgets.
static CODE: Statement = Statement::idempotent(
    "sessions.create_code",
    "WITH clock AS MATERIALIZED (SELECT coalesce($3::timestamptz, clock_timestamp()) AS now),
     old_codes AS (
         DELETE FROM sign_in_code WHERE digest = ANY (ARRAY(
             SELECT digest FROM sign_in_code WHERE expires_at <= (SELECT now FROM clock)
             FOR UPDATE SKIP LOCKED))
     ), old_sessions AS (
         DELETE FROM session WHERE key_id = ANY (ARRAY(
             SELECT key_id FROM session WHERE expires_at <= (SELECT now FROM clock)
             FOR UPDATE SKIP LOCKED))
         RETURNING key_id
     ), old_keys AS (
         DELETE FROM api_key WHERE id = ANY (ARRAY(SELECT key_id FROM old_sessions))
     ), owner AS (
         SELECT id FROM account WHERE name = $1::text
     ), code AS (
         INSERT INTO sign_in_code (digest, account_id, expires_at)
         SELECT $2::bytea, id, now + $4::bigint * interval '1 microsecond' FROM owner, clock
         ON CONFLICT (digest) DO NOTHING
     )
     SELECT EXISTS (SELECT FROM owner)",
);

/// Of two executions with one code, one waits for the other's deletion and finds no code. Not
/// idempotent: a second execution would report that the code is not valid.
static SIGN_IN: Statement = Statement::non_idempotent(
    "sessions.sign_in",
    "WITH clock AS MATERIALIZED (SELECT coalesce($3::timestamptz, clock_timestamp()) AS now),
     code AS (
         DELETE FROM sign_in_code WHERE digest = $1::bytea RETURNING account_id, expires_at
     ), k AS (
         INSERT INTO api_key (account_id, public_id, digest, prompts_write, created_at)
         SELECT account_id, 'session_' || gen_random_uuid(), $2::bytea, true, now
         FROM code, clock WHERE expires_at > now
         RETURNING id, account_id, created_at
     ), s AS (
         INSERT INTO session (key_id, digest, last_seen_at, expires_at)
         SELECT id, $2::bytea, created_at, created_at + $4::bigint * interval '1 microsecond'
         FROM k
         RETURNING key_id, last_seen_at, expires_at
     )
     SELECT k.id, k.account_id, a.name, k.created_at, s.last_seen_at, s.expires_at
     FROM k JOIN s ON s.key_id = k.id JOIN account a ON a.id = k.account_id",
);

/// Whether the session `s` with the key `k` has neither ended nor expired at `now`.
macro_rules! is_valid {
    ($idle:literal) => {
        concat!(
            "k.revoked_at IS NULL AND s.expires_at > now AND s.last_seen_at > now - ",
            $idle,
            "::bigint * interval '1 microsecond'"
        )
    };
}

/// Writes only if the last recorded use is old.
static FIND: Statement = Statement::idempotent(
    "sessions.find",
    concat!(
        "WITH clock AS MATERIALIZED (SELECT coalesce($2::timestamptz, clock_timestamp()) AS now),
        found AS MATERIALIZED (
            SELECT k.id, k.account_id, a.name, k.created_at, s.last_seen_at, s.expires_at
            FROM clock, session s JOIN api_key k ON k.id = s.key_id
                JOIN account a ON a.id = k.account_id
            WHERE s.digest = $1::bytea AND ",
        is_valid!("$3"),
        "), seen AS (
            UPDATE session s SET last_seen_at = now FROM clock
            WHERE s.key_id = (SELECT id FROM found)
                AND s.last_seen_at <= now - $4::bigint * interval '1 microsecond'
            RETURNING s.last_seen_at
        )
        SELECT id, account_id, name, created_at, expires_at,
            coalesce((SELECT last_seen_at FROM seen), last_seen_at) AS last_seen_at
        FROM found"
    ),
);

static LIST: Statement = Statement::read_only(
    "sessions.list",
    concat!(
        caller!("$2"),
        " SELECT found.* FROM caller LEFT JOIN LATERAL (
            SELECT k.id, k.account_id, a.name, k.created_at, s.last_seen_at, s.expires_at
            FROM api_key k JOIN session s ON s.key_id = k.id JOIN account a ON a.id = k.account_id
            WHERE k.account_id = caller.account_id AND ",
        is_valid!("$3"),
        ") AS found ON true"
    ),
);

static END: Statement = Statement::idempotent(
    "sessions.end",
    concat!(
        caller!("$3"),
        ", ended AS (
            UPDATE api_key k SET revoked_at = coalesce(k.revoked_at, now)
            FROM caller, session s
            WHERE k.id = $2 AND k.account_id = caller.account_id AND s.key_id = k.id
            RETURNING 1
        )
        SELECT EXISTS (SELECT FROM ended) AS found FROM caller"
    ),
);

/// The columns that [`api_key`] reads, of a table or subquery named `k`.
macro_rules! key_columns {
    () => {
        "k.id, k.public_id, k.name, k.prompts_write, k.created_at, k.last_used_at, k.revoked_at"
    };
}

static CREATE_KEY: Statement = Statement::non_idempotent(
    "sessions.create_key",
    concat!(
        caller!("$8"),
        ", counted AS MATERIALIZED (
            SELECT account_id, now, lock_and_count_keys(account_id) < $7::bigint AS free
            FROM caller
        ), k AS (
            INSERT INTO api_key
                (account_id, public_id, digest, prompts_write, name, created_at, revoked_at)
            SELECT account_id, $2::text, $3::bytea, $4::boolean, $5::text, now,
                CASE WHEN $6::boolean THEN now END
            FROM counted WHERE free
            ON CONFLICT (public_id) DO NOTHING
            RETURNING *
        )
        SELECT ",
        key_columns!(),
        ", counted.free FROM counted LEFT JOIN k ON true"
    ),
);

static KEYS: Statement = Statement::read_only(
    "sessions.keys",
    concat!(
        caller!(),
        " SELECT ",
        key_columns!(),
        " FROM caller LEFT JOIN api_key k ON k.account_id = caller.account_id AND ",
        is_no_session!(),
    ),
);

/// Revoking again keeps the first time.
static REVOKE_KEY: Statement = Statement::idempotent(
    "sessions.revoke_key",
    concat!(
        caller!("$3"),
        ", k AS (
            UPDATE api_key k SET revoked_at = coalesce(k.revoked_at, now) FROM caller
            WHERE k.public_id = $2 AND k.account_id = caller.account_id AND ",
        is_no_session!(),
        " RETURNING k.*
        )
        SELECT ",
        key_columns!(),
        " FROM caller LEFT JOIN k ON true"
    ),
);

#[async_trait]
impl SessionStore for PostgresStore {
    async fn create_sign_in_code(&self, account: &str, digest: [u8; 32]) -> Result<()> {
        let lifetime = micros(SIGN_IN_CODE_LIFETIME);
        let params: Params<'_> = &[&account, &&digest[..], &self.db.now(), &lifetime];
        let rows = self.db.rows(&CODE, params).await?;
        let row = rows.first().ok_or_else(|| StoreError::Internal("there is no row".into()))?;
        if column(row, 0)? { Ok(()) } else { Err(StoreError::NotFound) }
    }

    async fn sign_in(&self, code: [u8; 32], session: [u8; 32]) -> Result<Option<SessionRecord>> {
        let params: Params<'_> = &[&&code[..], &&session[..], &self.db.now(), &micros(SESSION_MAX)];
        let rows = self.db.rows(&SIGN_IN, params).await?;
        Ok(rows.first().map(session_record).transpose()?.flatten())
    }

    async fn find_session(&self, digest: [u8; 32]) -> Result<Option<SessionRecord>> {
        let (idle, precision) = (micros(SESSION_IDLE), micros(LAST_USE_PRECISION));
        let params: Params<'_> = &[&&digest[..], &self.db.now(), &idle, &precision];
        let rows = self.db.look_up(&FIND, params).await?;
        Ok(rows.first().map(session_record).transpose()?.flatten())
    }

    async fn sessions(&self, caller: &Caller) -> Result<Vec<SessionRecord>> {
        let params: Params<'_> = &[&caller.key.0, &self.db.now(), &micros(SESSION_IDLE)];
        let rows = self.db.rows_of_caller(caller, &LIST, params).await?;
        let sessions = rows.iter().filter_map(|row| session_record(row).transpose());
        let mut sessions = sessions.collect::<Result<Vec<_>>>()?;
        sessions.sort_unstable_by_key(|session| Reverse((session.created_at, session.id)));
        Ok(sessions)
    }

    async fn end_session(&self, caller: &Caller, id: KeyId) -> Result<()> {
        let params: Params<'_> = &[&caller.key.0, &id.0, &self.db.now()];
        let row = self.db.row_of_caller(caller, &END, params).await?;
        if column(&row, "found")? { Ok(()) } else { Err(StoreError::NotFound) }
    }

    async fn create_api_key(&self, caller: &Caller, new: NamedKey) -> Result<ApiKeyRecord> {
        let NamedKey { name, key } = new;
        let limit = i64::try_from(API_KEYS_MAX).unwrap_or(i64::MAX);
        let params: Params<'_> = &[
            &caller.key.0,
            &&*key.public_id,
            &&key.digest[..],
            &key.scopes.prompts_write,
            &&*name,
            &key.revoked,
            &limit,
            &self.db.now(),
        ];
        let row = self.db.row_of_caller(caller, &CREATE_KEY, params).await?;
        match api_key(&row)? {
            Some((_, key)) => Ok(key),
            None if column(&row, "free")? => Err(StoreError::KeyTaken),
            None => Err(StoreError::TooManyKeys),
        }
    }

    async fn api_keys(&self, caller: &Caller) -> Result<Vec<ApiKeyRecord>> {
        let rows = self.db.rows_of_caller(caller, &KEYS, &[&caller.key.0]).await?;
        let keys = rows.iter().filter_map(|row| api_key(row).transpose());
        let mut keys = keys.collect::<Result<Vec<_>>>()?;
        keys.sort_unstable_by_key(|(id, key)| Reverse((key.created_at, *id)));
        Ok(keys.into_iter().map(|(_, key)| key).collect())
    }

    async fn revoke_api_key(&self, caller: &Caller, public_id: &str) -> Result<ApiKeyRecord> {
        let params: Params<'_> = &[&caller.key.0, &public_id, &self.db.now()];
        let row = self.db.row_of_caller(caller, &REVOKE_KEY, params).await?;
        let (id, key) = api_key(&row)?.ok_or(StoreError::NotFound)?;
        self.keys.remove(id);
        Ok(key)
    }
}

/// `None` if an outer join found no session.
fn session_record(row: &Row) -> Result<Option<SessionRecord>> {
    let Some(id) = column::<Option<i64>>(row, "id")? else { return Ok(None) };
    Ok(Some(SessionRecord {
        id: KeyId(id),
        account: AccountId(column(row, "account_id")?),
        account_name: column::<&str>(row, "name")?.into(),
        created_at: column(row, "created_at")?,
        last_seen_at: column(row, "last_seen_at")?,
        expires_at: column(row, "expires_at")?,
    }))
}

/// `None` if an outer join found no key.
fn api_key(row: &Row) -> Result<Option<(KeyId, ApiKeyRecord)>> {
    let Some(id) = column::<Option<i64>>(row, "id")? else { return Ok(None) };
    let key = ApiKeyRecord {
        public_id: column::<&str>(row, "public_id")?.into(),
        name: column::<Option<&str>>(row, "name")?.map(Into::into),
        scopes: Scopes { prompts_write: column(row, "prompts_write")? },
        created_at: column(row, "created_at")?,
        last_used_at: column(row, "last_used_at")?,
        revoked_at: column(row, "revoked_at")?,
    };
    Ok(Some((KeyId(id), key)))
}
