-- Browser sessions, the one-time codes that start them, and what an owner sees of keys.
--
-- Servers of the schema before may run beside newer ones: no statement of theirs names what is
-- added here, and no key that a client can send has the public id of a session.

ALTER TABLE api_key ADD COLUMN name text, ADD COLUMN last_used_at timestamptz;

-- A session is a row of `api_key` and one here; `digest` is the same in both.
CREATE TABLE session (
    key_id bigint PRIMARY KEY REFERENCES api_key (id),
    digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    last_seen_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);

CREATE INDEX session_expiry ON session (expires_at);

CREATE TABLE sign_in_code (
    digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
    account_id bigint NOT NULL REFERENCES account (id),
    expires_at timestamptz NOT NULL
);

CREATE INDEX sign_in_code_expiry ON sign_in_code (expires_at);

-- The number of keys of an account that are not revoked, sessions not counted. It locks the
-- account, so that of two new keys at the limit one is refused. It is volatile, so that it sees
-- the key that it waited for.
CREATE FUNCTION lock_and_count_keys(account bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM 1 FROM account a WHERE a.id = lock_and_count_keys.account FOR NO KEY UPDATE;
    RETURN (SELECT count(*) FROM api_key k
        WHERE k.account_id = lock_and_count_keys.account AND k.revoked_at IS NULL
            -- Not NOT EXISTS, which may be made a join with all sessions.
            AND (SELECT s.key_id FROM session s WHERE s.key_id = k.id) IS NULL);
END $$;

-- The jobs of an account, newest first.
CREATE INDEX job_newest ON job (account_id, created_at, name_digest)
    WHERE state <> 'submitting';
