//! Migrations, of versions that are not ours.

use tokio::task::JoinSet;
use tokio_postgres::Client;

use super::{LIST, MigrateError, Migration, Version, run};
use crate::store::postgres::scratch::ScratchDatabase;

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

#[tokio::test]
async fn a_migration_whose_connection_is_killed_leaves_nothing_and_is_applied_by_the_next_server() {
    const SLOW: &[Version] = &[
        Version { name: "V1__pets", sql: "CREATE TABLE pet (name text PRIMARY KEY)" },
        Version { name: "V2__age", sql: "CREATE TABLE half (a int); SELECT pg_sleep(60)" },
    ];
    const KILL: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event = 'PgSleep'";
    let (mut client, database) = empty().await;
    let mut killed = database.client().await;
    let run_slow = tokio::spawn(async move { run(&mut killed, SLOW, Migration::Auto).await });
    while client.query_one(KILL, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        tokio::task::yield_now().await;
    }
    let error = run_slow.await.unwrap().unwrap_err();
    assert!(matches!(error, MigrateError::Failed { name: "V2__age", .. }), "{error:?}");
    assert_eq!(run(&mut client, PETS, Migration::Auto).await.unwrap(), ["V2__age"]);
    assert_eq!(history(&client).await, ["1 V1__pets", "2 V2__age"]);
    let half = client.query_one("SELECT to_regclass('half') IS NULL", &[]).await.unwrap();
    assert!(half.get::<_, bool>(0), "half a migration is there");
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
