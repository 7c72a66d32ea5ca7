//! The catalogue: no triggers, no functions, and keys of account data that begin with the account.

use tokio_postgres::Client;

use super::super::distribute::ON_EVERY_NODE;
use super::super::scratch::ScratchDatabase;

/// Tables that are not spread by account. All others are account data.
fn global() -> Vec<&'static str> {
    [&ON_EVERY_NODE[..], &["due_job", "webhook_delivery", "promptarium_migration"]].concat()
}

/// What violates the rules, a line each. `$1` are the global tables.
const VIOLATIONS: &str = "
    WITH kind AS (
        SELECT oid, relname, relname = ANY ($1::text[]) AS global FROM pg_class
        WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
    )
    SELECT 'table without account_id: ' || relname FROM kind WHERE NOT global AND NOT EXISTS (
        SELECT FROM pg_attribute a
        WHERE a.attrelid = kind.oid AND a.attname = 'account_id' AND a.attnotnull)
    UNION ALL
    SELECT 'trigger: ' || t.tgname FROM pg_trigger t JOIN kind ON kind.oid = t.tgrelid
        LEFT JOIN pg_constraint c ON c.oid = t.tgconstraint WHERE c.contype IS DISTINCT FROM 'f'
    UNION ALL
    SELECT 'function: ' || proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL
    SELECT 'deferrable: ' || conname FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace AND condeferrable
    UNION ALL
    SELECT 'unique without the account: ' || i.indexrelid::regclass
        FROM pg_index i JOIN kind ON kind.oid = i.indrelid AND NOT kind.global
        LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
        WHERE i.indisunique AND a.attname IS DISTINCT FROM 'account_id'
    UNION ALL
    SELECT 'reference to account data: ' || c.conname FROM pg_constraint c
        JOIN kind child ON child.oid = c.conrelid AND child.global
        JOIN kind parent ON parent.oid = c.confrelid AND NOT parent.global
    UNION ALL
    SELECT 'reference without the account: ' || c.conname FROM pg_constraint c
        JOIN kind child ON child.oid = c.conrelid AND NOT child.global
        JOIN kind parent ON parent.oid = c.confrelid AND NOT parent.global
        WHERE NOT EXISTS (
            SELECT FROM unnest(c.conkey, c.confkey) AS pair (own, theirs)
            JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = pair.own
            JOIN pg_attribute b ON b.attrelid = c.confrelid AND b.attnum = pair.theirs
            WHERE a.attname = 'account_id' AND b.attname = 'account_id')
    UNION ALL
    SELECT 'reference to a global table but account: ' || c.conname FROM pg_constraint c
        JOIN kind child ON child.oid = c.conrelid AND NOT child.global
        JOIN kind parent ON parent.oid = c.confrelid AND parent.global
        WHERE parent.relname <> 'account'
    UNION ALL
    SELECT 'reference that changes the account: ' || c.conname FROM pg_constraint c
        JOIN kind child ON child.oid = c.conrelid AND NOT child.global
        WHERE c.contype = 'f' AND (c.confupdtype <> 'a' OR c.confdeltype NOT IN ('a', 'c'))
    ORDER BY 1";

async fn violations(client: &Client) -> Vec<String> {
    let rows = client.query(VIOLATIONS, &[&global()]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

/// Changes that each break the rule in the comment before them.
const BROKEN: &str = "
    -- table without account_id: note
    CREATE TABLE note (id bigint PRIMARY KEY)
    -- trigger: t
    CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; CREATE
    TRIGGER t AFTER INSERT ON prompt EXECUTE FUNCTION f()
    -- function: f
    CREATE FUNCTION f() RETURNS int LANGUAGE sql RETURN 1
    -- deferrable: vault_
    ALTER TABLE vault ALTER CONSTRAINT vault_account_id_fkey DEFERRABLE
    -- unique without the account: vault_id
    CREATE UNIQUE INDEX vault_id ON vault (id)
    -- reference to account data: d
    CREATE UNIQUE INDEX u ON vault (id, account_id); ALTER TABLE vault_directory ADD CONSTRAINT d
    FOREIGN KEY (vault_id, account_id) REFERENCES vault (id, account_id)
    -- reference without the account: r
    CREATE UNIQUE INDEX u ON vault (id); ALTER TABLE job ADD CONSTRAINT r FOREIGN KEY (vault_id)
    REFERENCES vault (id)
    -- reference to a global table but account: r
    ALTER TABLE job ADD CONSTRAINT r FOREIGN KEY (vault_id) REFERENCES vault_directory
    -- reference that changes the account: r
    ALTER TABLE job ADD CONSTRAINT r FOREIGN KEY (account_id, vault_id) REFERENCES vault ON UPDATE
    CASCADE";

#[tokio::test]
async fn the_schema_has_no_triggers_and_its_keys_begin_with_the_account() {
    let database = ScratchDatabase::create().await.unwrap();
    let client = database.client().await;
    assert_eq!(violations(&client).await, Vec::<String>::new());
    let there = "SELECT count(*) FROM unnest($1::text[]) name WHERE to_regclass(name) IS NOT NULL";
    let there: i64 = client.query_one(there, &[&global()]).await.unwrap().get(0);
    assert_eq!(usize::try_from(there), Ok(global().len()), "a global table is gone");
    for case in BROKEN.split("-- ").skip(1) {
        let (rule, change) = case.split_once('\n').unwrap();
        client.batch_execute(&format!("BEGIN; {change}")).await.unwrap();
        let found = violations(&client).await;
        assert!(found.iter().any(|line| line.starts_with(rule)), "{change}: {found:?}");
        client.batch_execute("ROLLBACK").await.unwrap();
    }
}
