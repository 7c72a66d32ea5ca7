use tokio::task::JoinSet;
use tokio_postgres::Client;

use super::{LIST, MigrateError, Migration, Version, run};
use crate::clock::Clock;
use crate::store::postgres::PostgresStore;
use crate::store::postgres::client::DbClient;
use crate::store::postgres::connect::Connector;
use crate::store::postgres::scratch::ScratchDatabase;
use crate::store::postgres::{ConnectError, DatabaseUrl};

mod upward;

/// Two versions that are not ours, to have more than one.
const PETS: &[Version] = &[
    Version { name: "V1__pets", sql: "CREATE TABLE pet (name text PRIMARY KEY)" },
    Version { name: "V2__age", sql: "ALTER TABLE pet ADD COLUMN age int NOT NULL DEFAULT 1" },
];

async fn empty() -> (DbClient, ScratchDatabase) {
    let database = ScratchDatabase::empty().await.unwrap();
    (connected(&database).await, database)
}

async fn connected(database: &ScratchDatabase) -> DbClient {
    let url = DatabaseUrl::parse(&database.url()).unwrap();
    Connector::new(url).unwrap().connect().await.unwrap()
}

/// What the history holds, read as an operator would.
async fn history(client: &Client) -> Vec<String> {
    let text = "SELECT version || ' ' || name FROM promptarium_migration ORDER BY version";
    client.query(text, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn an_empty_database_gets_all_versions_in_their_order() {
    let (mut client, _database) = empty().await;
    let applied = run(&mut client, PETS, Migration::Auto).await.unwrap();
    assert_eq!(applied, ["V1__pets", "V2__age"]);
    assert_eq!(history(&client).await, ["1 V1__pets", "2 V2__age"]);
}

#[tokio::test]
async fn a_second_time_nothing_is_applied() {
    let (mut client, _database) = empty().await;
    run(&mut client, PETS, Migration::Auto).await.unwrap();
    assert!(run(&mut client, PETS, Migration::Auto).await.unwrap().is_empty());
    assert!(run(&mut client, PETS, Migration::Off).await.unwrap().is_empty());
}

#[tokio::test]
async fn eight_at_once_apply_each_version_once() {
    let (client, database) = empty().await;
    let mut runs = JoinSet::new();
    for _ in 0..8 {
        let mut client = connected(&database).await;
        runs.spawn(async move { run(&mut client, PETS, Migration::Auto).await.unwrap() });
    }
    let mut applied = runs.join_all().await.concat();
    applied.sort_unstable();
    assert_eq!(applied, ["V1__pets", "V2__age"]);
    assert_eq!(history(&client).await, ["1 V1__pets", "2 V2__age"]);
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
async fn what_is_missing_is_named_and_left_alone_if_nothing_may_be_changed() {
    let (mut client, _database) = empty().await;
    run(&mut client, &PETS[..1], Migration::Auto).await.unwrap();
    let error = run(&mut client, PETS, Migration::Off).await.unwrap_err();
    assert!(matches!(&error, MigrateError::Missing(names) if names == "V2__age"), "{error:?}");
    assert_eq!(history(&client).await, ["1 V1__pets"]);
}

#[tokio::test]
async fn a_migration_with_another_text_than_it_had_is_refused() {
    const ALTERED: &[Version] =
        &[Version { name: "V1__pets", sql: "CREATE TABLE pet (name text)" }];
    let (mut client, _database) = empty().await;
    run(&mut client, &PETS[..1], Migration::Auto).await.unwrap();
    let error = run(&mut client, ALTERED, Migration::Auto).await.unwrap_err();
    assert!(matches!(error, MigrateError::Different { known: "V1__pets", .. }), "{error:?}");
}

#[tokio::test]
async fn how_the_lines_of_a_migration_end_does_not_count() {
    const UNIX: &[Version] = &[Version { name: "V1__x", sql: "SELECT 1;\nSELECT 2;\n" }];
    const WINDOWS: &[Version] = &[Version { name: "V1__x", sql: "SELECT 1;\r\nSELECT 2;\r\n" }];
    let (mut client, _database) = empty().await;
    run(&mut client, UNIX, Migration::Auto).await.unwrap();
    assert!(run(&mut client, WINDOWS, Migration::Auto).await.unwrap().is_empty());
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
async fn a_store_does_not_open_a_database_without_schema_unless_it_may_make_one() {
    let database = ScratchDatabase::empty().await.unwrap();
    let url = DatabaseUrl::parse(&database.url()).unwrap();
    let refused = PostgresStore::open(&url, Migration::Off, Clock::System).await.unwrap_err();
    let text = refused.to_string();
    assert!(matches!(refused, ConnectError::Migrate(MigrateError::Missing(_))), "{refused:?}");
    assert!(text.contains("V1__first") && text.contains("promptarium-server migrate"), "{text}");
    let all: Vec<_> = LIST.iter().map(|version| version.name).collect();
    assert_eq!(PostgresStore::migrate(&url).await.unwrap(), all);
    PostgresStore::open(&url, Migration::Off, Clock::System).await.unwrap();
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
