//! Invariants of the data, checked by reading all of it.

use crate::store::postgres::PostgresStore;

/// The invariant that each row violates.
const VIOLATIONS: &str = "
    SELECT 'a vault''s count is not the number of its memberships' FROM vault v WHERE prompt_count
        <> (SELECT count(*) FROM vault_prompt m
            WHERE m.account_id = v.account_id AND m.vault_id = v.id)
    UNION ALL SELECT 'an account has not exactly one system vault' FROM account a
        WHERE 1 <> (SELECT count(*) FROM vault v WHERE v.account_id = a.id AND v.system)
    UNION ALL SELECT 'a vault is not in the directory, or what is there is no vault of the account'
        FROM vault v FULL JOIN vault_directory d
            ON d.vault_id = v.id AND d.account_id = v.account_id
        WHERE v.id IS NULL OR d.vault_id IS NULL
    UNION ALL SELECT 'a slug is twice in an account'
        FROM vault GROUP BY account_id, slug HAVING count(*) > 1
    UNION ALL SELECT 'a membership is not of its prompt''s type' FROM vault_prompt m
        JOIN prompt p ON p.account_id = m.account_id AND p.id = m.prompt_id WHERE p.kind <> m.kind
    UNION ALL SELECT 'a membership joins what is not there or is another account''s'
        FROM vault_prompt m WHERE NOT EXISTS (SELECT 1 FROM prompt p
            WHERE p.account_id = m.account_id AND p.id = m.prompt_id) OR NOT EXISTS
            (SELECT 1 FROM vault v WHERE v.account_id = m.account_id AND v.id = m.vault_id)
    UNION ALL SELECT 'a job that has ended is due, or another one is not, or is twice' FROM job
        WHERE num_nonnulls(claimable_at, reserved_at)
            <> (state NOT IN ('completed', 'failed'))::integer
    UNION ALL SELECT 'what workers look for is not what is due or being submitted'
        FROM (SELECT * FROM job WHERE state NOT IN ('completed', 'failed')) AS j
        FULL JOIN due_job d ON d.account_id = j.account_id AND d.name_digest = j.name_digest
        WHERE d.due_at IS DISTINCT FROM coalesce(j.claimable_at, j.reserved_at)
            OR d.submitting IS DISTINCT FROM (j.state = 'submitting')
    UNION ALL SELECT 'a job that has ended is under a lease' FROM job
        WHERE state IN ('completed', 'failed') AND fence IS NOT NULL
    UNION ALL SELECT 'a session has another digest than its key, or a key that a client could send'
        FROM session s JOIN api_key k ON k.id = s.key_id
        WHERE s.digest <> k.digest OR k.public_id NOT LIKE 'session\\_%'
    UNION ALL SELECT 'two statements deadlocked' FROM pg_stat_database
        WHERE datname = current_database() AND deadlocks > 0
    UNION ALL SELECT 'something was changed before it was created' FROM (
        SELECT created_at, updated_at FROM prompt UNION ALL SELECT created_at, updated_at FROM vault
        UNION ALL SELECT created_at, updated_at FROM job) AS every WHERE updated_at < created_at";

impl PostgresStore {
    /// The invariants that do not hold. Ends the store's other connections, because a
    /// server process reports its deadlocks at the latest when it ends.
    pub(in crate::store) async fn broken_invariants(&self) -> Vec<String> {
        let client = self.db.exclusive().await.unwrap();
        let end = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
            WHERE datname = current_database() AND backend_type = 'client backend'
                AND pid <> pg_backend_pid()";
        client.batch_execute(end).await.unwrap();
        let rows = client.query(VIOLATIONS, &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }
}
