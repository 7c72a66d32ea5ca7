//! From each earlier version to the latest: what was in the database stays, and the
//! schema ends up the one that a fresh database has.

use tokio_postgres::Client;

use super::{PETS, empty};
use crate::store::postgres::migrate::{LIST, Migration, Version, run};

/// Of each of our versions: rows as its program wrote them, and a text that reads
/// them back, one row and column, from the latest schema.
const WRITTEN: &[(&str, &str)] = &[(FIRST, READ_FIRST); 3];

const FIRST: &str = "INSERT INTO setting VALUES ('key', '\\x0102');
     WITH account AS (
         INSERT INTO account (name, general_vault_id, created_at)
         VALUES ('ada', 1, '2026-01-01') RETURNING id
     ), key AS (
         INSERT INTO api_key (account_id, public_id, digest, prompts_write, created_at)
         SELECT id, 'p', decode(repeat('07', 32), 'hex'), true, '2026-01-01' FROM account
     ), vault AS (
         INSERT INTO vault
             (account_id, id, name, slug, visibility, system, created_at, updated_at)
         SELECT id, 1, 'General', 'general', 'private', true, '2026-01-01', '2026-01-02'
         FROM account
     )
     INSERT INTO prompt (account_id, id, kind, title, body, created_at, updated_at)
     SELECT id, 5, 'text', 'Harbour', 'A harbour', '2026-01-03', '2026-01-04' FROM account;
     INSERT INTO membership (account_id, vault_id, prompt_id, kind)
     SELECT account_id, 1, id, kind FROM prompt;
     INSERT INTO job (account_id, name_digest, client_job_id, request_digest, job_order,
                      vault_id, state, request_id, memo, reservation, due_at, created_at, updated_at)
     SELECT account_id, decode(repeat('08', 32), 'hex'), 'j', decode(repeat('09', 32), 'hex'),
            '{}', 1, 'queued', 'r', 'm', '00000000-0000-0000-0000-000000000001', '2026-01-05',
            '2026-01-05', '2026-01-05' FROM prompt;";

const READ_FIRST: &str = "SELECT concat_ws(' ', account.name, public_id, prompts_write, slug, prompt_count, title,
                      body, prompt.updated_at AT TIME ZONE 'UTC', pin IS NULL, state, memo, setting.value)
     FROM setting, account JOIN api_key ON api_key.account_id = account.id
     JOIN vault ON vault.account_id = account.id
     JOIN prompt ON prompt.account_id = account.id
     JOIN membership ON membership.prompt_id = prompt.id AND membership.vault_id = vault.id
     JOIN job ON job.account_id = account.id";

/// What [`WRITTEN`] reads back.
const READ: &[&str] =
    &["ada p t general 1 Harbour A harbour 2026-01-04 00:00:00 t queued m \\x0102"; 3];

const PETS_WRITTEN: &[(&str, &str)] = &[
    ("INSERT INTO pet VALUES ('Io')", "SELECT name || ' ' || age FROM pet"),
    ("INSERT INTO pet VALUES ('Io', 7)", "SELECT name || ' ' || age FROM pet"),
];

/// Everything that makes a schema, a line each: columns, constraints, indexes,
/// triggers, functions, sequences. What the history holds is not part of it.
const CATALOG: &str = "
    SELECT format('column %s.%s %s%s %s %s', c.relname, a.attname,
                  format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN ' not null' END,
                  pg_get_expr(d.adbin, d.adrelid), a.attidentity) AS line
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'v', 'p')
        LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
        WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relnamespace = 'public'::regnamespace
    UNION ALL SELECT format('constraint %s %s %s', conrelid::regclass, conname,
                            pg_get_constraintdef(oid))
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT 'trigger ' || pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT 'function ' || pg_get_functiondef(oid)
        FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT format('relation %s %s %s', relkind, relname, reloptions)
        FROM pg_class WHERE relnamespace = 'public'::regnamespace
    ORDER BY line";

async fn catalog(client: &Client) -> Vec<String> {
    let rows = client.query(CATALOG, &[]).await.unwrap();
    rows.iter().map(|row| row.get("line")).collect()
}

/// Holds `list` to the promise; `expected` is what is read after `written`.
async fn holds(list: &'static [Version], written: &[(&str, &str)], expected: &[&str]) {
    assert_eq!(written.len(), list.len(), "each version has rows of its own in this test");
    let (mut fresh, _fresh_database) = empty().await;
    run(&mut fresh, list, Migration::Auto).await.unwrap();
    let schema = catalog(&fresh).await;
    for (earlier, ((write, read), expected)) in written.iter().zip(expected).enumerate() {
        let (mut client, _database) = empty().await;
        run(&mut client, &list[..=earlier], Migration::Auto).await.unwrap();
        client.batch_execute(write).await.unwrap();
        let applied = run(&mut client, list, Migration::Auto).await.unwrap();
        assert_eq!(applied.len(), list.len() - earlier - 1);
        let kept: String = client.query_one(*read, &[]).await.unwrap().get(0);
        assert_eq!(kept, *expected, "after {}", list[earlier].name);
        assert_eq!(catalog(&client).await, schema, "after {}", list[earlier].name);
    }
}

#[tokio::test]
async fn from_each_version_of_ours() {
    holds(LIST, WRITTEN, READ).await;
}

#[tokio::test]
async fn from_each_version_of_a_longer_list() {
    holds(PETS, PETS_WRITTEN, &["Io 1", "Io 7"]).await;
}

#[tokio::test]
async fn the_catalog_tells_schemas_apart() {
    let (mut client, _database) = empty().await;
    run(&mut client, LIST, Migration::Auto).await.unwrap();
    let schema = catalog(&client).await;
    assert!(schema.len() > 60, "{schema:#?}");
    for change in [
        "ALTER TABLE job DROP CONSTRAINT job_state_check",
        "DROP INDEX job_due",
        "DROP TRIGGER membership_parted ON membership",
        "ALTER TABLE vault ALTER COLUMN system DROP DEFAULT",
        "ALTER TABLE prompt ALTER COLUMN title DROP NOT NULL",
        "CREATE OR REPLACE FUNCTION count_parted() RETURNS trigger LANGUAGE plpgsql
             AS $$ BEGIN RETURN NULL; END $$",
        "DROP SEQUENCE membership_pin",
    ] {
        let before = catalog(&client).await;
        client.batch_execute(change).await.unwrap();
        assert_ne!(catalog(&client).await, before, "{change}");
    }
}
