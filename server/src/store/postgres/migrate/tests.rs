//! Migrations, and the way up from each earlier schema.

use std::process::Command;

use tokio::task::JoinSet;
use tokio_postgres::Client;

use super::{LIST, MigrateError, Migration, Version, run};
use crate::clock::Clock;
use crate::store::postgres::scratch::ScratchDatabase;
use crate::store::postgres::tests::cluster::bin;
use crate::store::postgres::tests::store_in;

/// Two versions that are not ours, to have more than one.
const PETS: &[Version] = &[
    Version { name: "V1__pets", sql: "CREATE TABLE pet (name text PRIMARY KEY)" },
    Version { name: "V2__age", sql: "ALTER TABLE pet ADD COLUMN age int NOT NULL DEFAULT 1" },
];

async fn empty() -> (Client, ScratchDatabase) {
    let database = ScratchDatabase::empty().await.unwrap();
    (database.client().await, database)
}

/// What the history holds, read as an operator would.
async fn history(client: &Client) -> Vec<String> {
    let text = "SELECT version || ' ' || name FROM promptarium_migration ORDER BY version";
    client.query(text, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn servers_that_start_at_once_apply_each_version_once_and_in_order() {
    let (mut client, database) = empty().await;
    let mut runs = JoinSet::new();
    for _ in 0..8 {
        let mut client = database.client().await;
        runs.spawn(async move { run(&mut client, PETS, Migration::Auto).await.unwrap() });
    }
    let mut applied = runs.join_all().await.concat();
    applied.sort_unstable();
    assert_eq!(applied, ["V1__pets", "V2__age"]);
    assert_eq!(history(&client).await, ["1 V1__pets", "2 V2__age"]);
    for migration in [Migration::Auto, Migration::Off] {
        assert!(run(&mut client, PETS, migration).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_later_programs_schema_is_refused_and_both_versions_are_named() {
    let (mut client, _database) = empty().await;
    run(&mut client, PETS, Migration::Auto).await.unwrap();
    for migration in [Migration::Auto, Migration::Off] {
        let error = run(&mut client, &PETS[..1], migration).await.unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, MigrateError::Newer { .. }), "{error:?}");
        assert!(text.contains("at V2__age, and V1__pets is the last"), "{text}");
    }
}

#[tokio::test]
async fn a_migration_whose_text_changed_is_refused_unless_only_its_line_ends_did() {
    const UNIX: &[Version] = &[Version { name: "V1__x", sql: "SELECT 1;\nSELECT 2;\n" }];
    const WINDOWS: &[Version] = &[Version { name: "V1__x", sql: "SELECT 1;\r\nSELECT 2;\r\n" }];
    const ALTERED: &[Version] = &[Version { name: "V1__x", sql: "SELECT 1;\nSELECT 3;\n" }];
    let (mut client, _database) = empty().await;
    run(&mut client, UNIX, Migration::Auto).await.unwrap();
    assert!(run(&mut client, WINDOWS, Migration::Auto).await.unwrap().is_empty());
    let error = run(&mut client, ALTERED, Migration::Auto).await.unwrap_err();
    assert!(matches!(error, MigrateError::Different { known: "V1__x", .. }), "{error:?}");
}

#[tokio::test]
async fn a_migration_that_fails_leaves_what_was_before_it_and_can_be_tried_again() {
    const TORN: &[Version] = &[
        Version { name: "V1__pets", sql: "CREATE TABLE pet (name text PRIMARY KEY)" },
        Version { name: "V2__age", sql: "CREATE TABLE half (a int); SELECT 1 / 0" },
    ];
    let (mut client, _database) = empty().await;
    let error = run(&mut client, TORN, Migration::Auto).await.unwrap_err();
    assert!(matches!(error, MigrateError::Failed { name: "V2__age", .. }), "{error:?}");
    let half = client.query_one("SELECT to_regclass('half') IS NULL", &[]).await.unwrap();
    assert!(half.get::<_, bool>(0), "half a migration is there");
    assert_eq!(history(&client).await, ["1 V1__pets"]);
    assert_eq!(run(&mut client, PETS, Migration::Auto).await.unwrap(), ["V2__age"]);
}

#[test]
fn every_file_is_in_the_list_in_the_order_of_its_number() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
    let mut files: Vec<_> = files.map(|file| file.into_string().unwrap()).collect();
    let number = |file: &str| file[1..].split_once("__").unwrap().0.parse::<usize>().unwrap();
    files.sort_by_key(|file| number(file));
    let listed: Vec<_> = LIST.iter().map(|version| format!("{}.sql", version.name)).collect();
    assert_eq!(listed, files);
    for (index, file) in files.iter().enumerate() {
        assert_eq!(number(file), index + 1, "{file}");
    }
}

/// Rows as the programs of the versions before the seventh wrote them.
const WRITTEN: &str = "INSERT INTO setting VALUES ('key', '\\x0102');
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
     INSERT INTO job (account_id, name_digest, client_job_id, request_digest, job_order, vault_id,
         state, request_id, memo, reservation, due_at, submitting_since, created_at, updated_at)
     SELECT account_id, sha256(j::bytea), j, sha256(''), '{}', 1, state, r, m,
         '00000000-0000-0000-0000-000000000001', due, since, '2026-01-05', '2026-01-05'
     FROM prompt, (VALUES ('j', 'queued', 'r', 'm', timestamptz '2026-01-05', NULL),
         ('lost', 'submitting', NULL, NULL, NULL, timestamptz '2026-01-05')
     ) AS job (j, state, r, m, due, since);";

/// What is written otherwise since a version.
const SINCE: [(&str, &str, &str); 6] = [
    ("V7__account_statements", "general_vault_id, created_at", "created_at"),
    ("V7__account_statements", "('ada', 1, ", "('ada', "),
    ("V7__account_statements", "membership", "vault_prompt"),
    ("V7__account_statements", "due_at, submitting_since", "claimable_at, reserved_at"),
    ("names_and_citus", "job_order", "request"),
    ("names_and_citus", "memo", "provider_state"),
];
const SINCE_V7_TOO: &str = "UPDATE vault SET prompt_count = 1;
     INSERT INTO vault_directory (vault_id, account_id) SELECT id, account_id FROM vault;
     INSERT INTO due_job (account_id, name_digest, submitting, due_at)
     SELECT account_id, name_digest, state = 'submitting', coalesce(claimable_at, reserved_at)
     FROM job;";

/// Rows as the programs of this version wrote them.
fn written(version: usize) -> String {
    let is_applied = |name: &str| LIST[..version].iter().any(|known| known.name.ends_with(name));
    let since = SINCE.into_iter().filter(|(name, ..)| is_applied(name));
    let replaced = since.fold(WRITTEN.to_owned(), |sql, (_, from, to)| sql.replace(from, to));
    let more = if is_applied("V7__account_statements") { SINCE_V7_TOO } else { "" };
    replaced + more
}

/// Reads them back, one row and column, from the latest schema.
const READ: &str =
    "SELECT concat_ws(' ', account.name, public_id, prompts_write, slug, prompt_count, title,
                      body, prompt.updated_at AT TIME ZONE 'UTC', pin IS NULL, state,
                      provider_state, setting.value)
     FROM setting, account JOIN api_key ON api_key.account_id = account.id
     JOIN vault ON vault.account_id = account.id
     JOIN prompt ON prompt.account_id = account.id
     JOIN vault_prompt m ON m.prompt_id = prompt.id AND m.vault_id = vault.id
     JOIN vault_directory d ON d.vault_id = vault.id AND d.account_id = account.id
     JOIN job ON job.account_id = account.id AND job.client_job_id = 'j'";

/// What makes a schema. A line that differs each time begins with a backslash.
fn schema(database: &ScratchDatabase) -> Vec<String> {
    let url = database.url();
    let output =
        Command::new(bin().join("pg_dump")).args(["--schema-only", &url]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|line| !line.starts_with('\\')).map(str::to_owned).collect()
}

#[tokio::test]
async fn from_each_version_data_stays_and_the_schema_becomes_that_of_a_new_database() {
    let expected = schema(&ScratchDatabase::create().await.unwrap());
    assert!(expected.len() > 60, "{expected:#?}");
    for earlier in 1..LIST.len() {
        let (mut client, database) = empty().await;
        run(&mut client, &LIST[..earlier], Migration::Auto).await.unwrap();
        client.batch_execute(&written(earlier)).await.unwrap();
        let applied = run(&mut client, LIST, Migration::Auto).await.unwrap();
        assert_eq!(applied.len(), LIST.len() - earlier);
        let found: String = client.query_one(READ, &[]).await.unwrap().get(0);
        let data = "ada p t general 1 Harbour A harbour 2026-01-04 00:00:00 t queued m \\x0102";
        assert_eq!(found, data, "from version {earlier}");
        assert_eq!(schema(&database), expected, "from version {earlier}");
        let store = store_in(&database, Clock::System).await;
        assert_eq!(store.broken_invariants().await, [""; 0], "from version {earlier}");
    }
}
