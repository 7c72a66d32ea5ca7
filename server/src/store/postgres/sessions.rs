//! Sign-in and sessions. A session is a key with a row in `session`.

use super::prelude::*;
use crate::limits::{LAST_USE_PRECISION, SESSION_IDLE, SESSION_MAX, SIGN_IN_CODE_LIFETIME};

const COLUMNS: &str =
    "k.id, k.account_id, a.name, s.browser, k.created_at, s.last_seen_at, s.expires_at";

statements! {
    /// What has expired is locked first, without what a concurrent statement forgets.
    idempotent CODE "sessions.create_code"
        "WITH old_codes AS (
                DELETE FROM sign_in_code WHERE digest = ANY (ARRAY(
                    SELECT digest FROM sign_in_code WHERE expires_at <= $3 FOR UPDATE SKIP LOCKED))
            ), old_sessions AS (
                DELETE FROM session WHERE key_id = ANY (ARRAY(
                    SELECT key_id FROM session WHERE expires_at <= $3 FOR UPDATE SKIP LOCKED))
                RETURNING key_id
            ), old_keys AS (
                DELETE FROM api_key WHERE id = ANY (ARRAY(SELECT key_id FROM old_sessions))
            ), owner AS (
                SELECT id FROM account WHERE name = $1::text
            ), code AS (
                INSERT INTO sign_in_code (digest, account_id, expires_at)
                SELECT $2::bytea, id, $4 FROM owner
                ON CONFLICT (digest) DO NOTHING
            )
            SELECT EXISTS (SELECT FROM owner)";
    /// Of two at once, one waits for the other's deletion and finds no code, as a second one does.
    non_idempotent SIGN_IN "sessions.sign_in"
        "WITH {NEW_KEY}, code AS (
            DELETE FROM sign_in_code WHERE digest = $1::bytea RETURNING account_id, expires_at
        ), k AS (
            INSERT INTO api_key (id, account_id, public_id, digest, prompts_write, created_at)
            SELECT new_key.id, account_id, $5::text, $2::bytea, true, $3
            FROM code, new_key WHERE expires_at > $3
            RETURNING id, account_id, created_at
        ), s AS (
            INSERT INTO session (key_id, digest, last_seen_at, expires_at, browser)
            SELECT id, $2::bytea, created_at, $4, $6::text FROM k
            RETURNING key_id, browser, last_seen_at, expires_at
        )
        SELECT {COLUMNS} FROM k JOIN s ON s.key_id = k.id JOIN account a ON a.id = k.account_id";
    /// Writes only if the last recorded use is old.
    idempotent FIND "sessions.find"
        "WITH found AS MATERIALIZED (
            SELECT {COLUMNS} FROM session s JOIN api_key k ON k.id = s.key_id
                JOIN account a ON a.id = k.account_id
            WHERE s.digest = $1::bytea AND k.revoked_at IS NULL AND s.expires_at > $2
                AND s.last_seen_at > $3
        ), seen AS (
            UPDATE session s SET last_seen_at = $2 WHERE s.key_id = (SELECT id FROM found)
                AND s.last_seen_at <= $4
            RETURNING s.last_seen_at
        )
        SELECT id, account_id, name, browser, created_at, expires_at,
            coalesce((SELECT last_seen_at FROM seen), last_seen_at) AS last_seen_at
        FROM found";
    read_only LIST "sessions.list"
        "{CALLER} SELECT found.* FROM caller LEFT JOIN LATERAL (
            SELECT {COLUMNS} FROM api_key k JOIN session s ON s.key_id = k.id JOIN account a ON a.id = k.account_id
            WHERE k.account_id = $1 AND k.revoked_at IS NULL AND s.expires_at > $3
                AND s.last_seen_at > $4
        ) AS found ON true ORDER BY found.created_at DESC, found.id DESC";
    idempotent END "sessions.end"
        "{CALLER}, ended AS (
            UPDATE api_key k SET revoked_at = coalesce(k.revoked_at, $4) FROM caller, session s
            WHERE k.id = $3 AND k.account_id = $1 AND s.key_id = k.id
            RETURNING 1
        )
        SELECT EXISTS (SELECT FROM ended) FROM caller";
}

#[async_trait]
impl SessionStore for PostgresStore {
    async fn create_sign_in_code(&self, account: &str, digest: [u8; 32]) -> Result<()> {
        let now = self.db.now();
        let expires_at = after(now, SIGN_IN_CODE_LIFETIME);
        let params: Params<'_> = &[&account, &&digest[..], &now, &expires_at];
        found(one(&self.db.rows(By::Server, &[(&CODE, params)]).await?)?)
    }

    async fn sign_in(
        &self,
        code: [u8; 32],
        session: [u8; 32],
        browser: Option<&str>,
    ) -> Result<Option<SessionRecord>> {
        let public_id = format!("session_{}", Uuid::new_v4());
        let now = self.db.now();
        let params: Params<'_> =
            &[&&code[..], &&session[..], &now, &after(now, SESSION_MAX), &public_id, &browser];
        Ok(all(&self.db.rows(By::Server, &[(&SIGN_IN, params)]).await?, session_record)?.pop())
    }

    async fn find_session(&self, digest: [u8; 32]) -> Result<Option<SessionRecord>> {
        let now = self.db.now();
        let (idle, seen) = (before(now, SESSION_IDLE), before(now, LAST_USE_PRECISION));
        let find = async |seen| {
            let params: Params<'_> = &[&&digest[..], &now, &idle, &seen];
            self.db.rows(By::LookUp, &[(&FIND, params)]).await
        };
        let rows = match find(seen).await {
            // No valid session is idle for so long, so this writes nothing.
            Err(StoreError::Full(_)) => find(idle).await?,
            outcome => outcome?,
        };
        Ok(all(&rows, session_record)?.pop())
    }

    async fn sessions(&self, caller: &Caller) -> Result<Vec<SessionRecord>> {
        let now = self.db.now();
        let params: Params<'_> = &[&now, &before(now, SESSION_IDLE)];
        let rows = self.db.rows(By::Caller(caller), &[(&LIST, params)]).await?;
        all(&rows, session_record)
    }

    async fn end_session(&self, caller: &Caller, id: KeyId) -> Result<()> {
        found(&self.db.row_of_caller(caller, &END, &[&id.0, &self.db.now()]).await?)
    }
}

fn session_record(row: &Row) -> Result<Option<SessionRecord>> {
    let Some(id) = column::<Option<i64>>(row, "id")? else { return Ok(None) };
    Ok(Some(SessionRecord {
        id: KeyId(id),
        account: AccountId(column(row, "account_id")?),
        account_name: column::<&str>(row, "name")?.into(),
        browser: column::<Option<&str>>(row, "browser")?.map(Into::into),
        created_at: column(row, "created_at")?,
        last_seen_at: column(row, "last_seen_at")?,
        expires_at: column(row, "expires_at")?,
    }))
}
