//! Steps on connections that break, and statements that fail.

use std::time::{Duration, Instant};

use super::{Db, Statement};
use crate::clock::Clock;
use crate::store::StoreError;
use crate::store::postgres::scratch::ScratchDatabase;
use crate::store::postgres::{DatabaseUrl, Migration, PostgresStore};

const COUNTED: Statement = Statement::reading("test.counted", "SELECT last_value FROM met");

/// Counts that it was met, which is never undone, and fails until it was met `$1`
/// times with the condition `$2`; `lost` breaks the connection.
const FAILING: &str = "
    CREATE SEQUENCE met;
    CREATE FUNCTION fail(until bigint, condition text) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE number bigint := nextval('met');
    BEGIN
        IF number < until AND condition = 'lost' THEN
            PERFORM pg_terminate_backend(pg_backend_pid());
        ELSIF number < until THEN
            RAISE EXCEPTION USING ERRCODE = condition;
        END IF;
        RETURN number;
    END $$";

const FAIL: &str = "SELECT fail($1::bigint, $2::text)";
const READING: Statement = Statement::reading("test.reading", FAIL);
const WRITING: Statement = Statement::writing("test.writing", FAIL);

async fn db(query: &str) -> (Db, ScratchDatabase) {
    let database = ScratchDatabase::create().await.unwrap();
    let url = DatabaseUrl::parse(&format!("{}?{query}", database.url())).unwrap();
    let store = PostgresStore::open(&url, Migration::Auto, Clock::System).await.unwrap();
    store.db.exclusive().await.unwrap().batch_execute(FAILING).await.unwrap();
    (store.db, database)
}

/// How it ends, and how often it was met.
async fn failing(
    statement: &Statement,
    until: i64,
    condition: &str,
) -> (Result<i64, StoreError>, i64) {
    let (db, _database) = db("").await;
    let outcome = db.rows(statement, &[&until, &condition]).await;
    let met = db.rows(&COUNTED, &[]).await.unwrap()[0].get(0);
    (outcome.map(|rows| rows[0].get(0)), met)
}

#[tokio::test]
async fn a_step_that_raced_begins_again_also_if_it_writes() {
    for condition in ["40001", "40P01", "23505", "23503"] {
        let (outcome, met) = failing(&WRITING, 3, condition).await;
        assert_eq!((outcome.unwrap(), met), (3, 3), "{condition}");
    }
}

#[tokio::test]
async fn a_step_that_always_races_ends() {
    let (outcome, met) = failing(&WRITING, 1000, "40001").await;
    assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
    assert_eq!(met, 10);
}

#[tokio::test]
async fn what_only_looks_is_sent_again_after_its_connection_broke() {
    let (outcome, met) = failing(&READING, 3, "lost").await;
    assert_eq!((outcome.unwrap(), met), (3, 3));
}

#[tokio::test]
async fn what_writes_is_not_sent_again_after_its_connection_broke() {
    let (outcome, met) = failing(&WRITING, 3, "lost").await;
    assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
    assert_eq!(met, 1);
}

#[tokio::test]
async fn what_the_server_refuses_for_the_moment_is_told_at_once() {
    for condition in ["53100", "53200", "57014", "55P03"] {
        let (outcome, met) = failing(&READING, 3, condition).await;
        assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{condition}: {outcome:?}");
        assert_eq!(met, 1, "{condition}");
    }
}

#[tokio::test]
async fn a_fault_of_ours_is_told_as_one() {
    for condition in ["22012", "23514", "42P01", "XX000"] {
        let (outcome, met) = failing(&READING, 3, condition).await;
        assert!(matches!(outcome, Err(StoreError::Broken(_))), "{condition}: {outcome:?}");
        assert_eq!(met, 1, "{condition}");
    }
}

#[tokio::test]
async fn a_statement_is_prepared_again_when_the_schema_changed_under_it() {
    const ALL: Statement = Statement::writing("test.all", "SELECT * FROM setting");
    let (db, _database) = db("").await;
    let columns = async || db.rows(&ALL, &[]).await.unwrap()[0].columns().len();
    let client = db.exclusive().await.unwrap();
    client.batch_execute("INSERT INTO setting VALUES ('a', 'b')").await.unwrap();
    assert_eq!(columns().await, 2);
    client.batch_execute("ALTER TABLE setting ADD COLUMN more int").await.unwrap();
    assert_eq!(columns().await, 3);
    drop(client);
    // What a pooler does between two of its clients.
    db.exclusive().await.unwrap().batch_execute("DISCARD ALL").await.unwrap();
    assert_eq!(columns().await, 3);
}

#[tokio::test]
async fn idle_connections_that_all_broke_cost_no_step() {
    let (db, database) = db("pool_max_conns=12").await;
    let (other, _other) = self::db("").await;
    for round in 0..10 {
        let mut held = Vec::new();
        for _ in 0..12 {
            held.push(db.exclusive().await.unwrap());
        }
        drop(held);
        let name = database.url().rsplit_once('/').unwrap().1.to_owned();
        let kill = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                    WHERE datname = $1 AND backend_type = 'client backend'";
        let client = other.exclusive().await.unwrap();
        let killed: i64 = client.query_one(kill, &[&name]).await.unwrap().get(0);
        assert_eq!(killed, 12, "round {round}");
        db.check().await.unwrap();
        drop(db.exclusive().await.unwrap());
    }
}

#[tokio::test]
async fn a_statement_that_takes_too_long_is_ended_by_the_server() {
    const LONG: Statement = Statement::reading("test.long", "SELECT pg_sleep(60)");
    let (db, _database) = db("statement_timeout=200").await;
    let began = Instant::now();
    let outcome = db.rows(&LONG, &[]).await;
    assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_given_up() {
    const LONG: Statement = Statement::reading("test.long", "SELECT pg_sleep(60)");
    // It would end the statement after 1 ms, were it not told otherwise.
    let (db, _database) = db("statement_timeout=1&options=-cstatement_timeout%3D0").await;
    let began = Instant::now();
    let outcome = db.rows(&LONG, &[]).await;
    assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
    db.check().await.unwrap();
}

#[tokio::test]
async fn a_step_that_gets_no_connection_is_told_so_within_seconds() {
    let (db, _database) = db("pool_max_conns=1").await;
    let _held = db.exclusive().await.unwrap();
    let began = Instant::now();
    let outcome = db.rows(&COUNTED, &[]).await;
    assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[tokio::test]
async fn rows_that_are_read_slowly_have_all_the_time_they_need() {
    const WIDE: Statement = Statement::reading(
        "test.wide",
        "SELECT number, repeat('x', 10000) FROM generate_series(1, 3000) AS number",
    );
    const SETTING: Statement = Statement::reading("test.setting", "SHOW statement_timeout");
    let (db, _database) = db("statement_timeout=300&pool_max_conns=1").await;
    let (_, mut flow) = db.flow_of_caller(&WIDE, &[]).await.unwrap();
    // The server cannot send all of it ahead, so it is still at it.
    tokio::time::sleep(Duration::from_millis(900)).await;
    let mut rows = 1;
    while flow.next().await.unwrap().is_some() {
        rows += 1;
    }
    assert_eq!(rows, 3000);
    drop(flow);
    // The one connection is as it was, and not in a transaction.
    let setting = db.rows(&SETTING, &[]).await.unwrap();
    assert_eq!(setting[0].get::<_, &str>(0), "300ms");
    db.rows(&Statement::writing("test.make", "CREATE TABLE made ()"), &[]).await.unwrap();
}

#[tokio::test]
async fn a_schema_that_changed_under_more_connections_than_attempts_costs_no_step() {
    const ALL: Statement = Statement::writing("test.all", "SELECT * FROM setting");
    let (db, _database) = db("pool_max_conns=12").await;
    let mut held = Vec::new();
    for _ in 0..12 {
        let client = db.exclusive().await.unwrap();
        client.query(&client.prepare_cached(ALL.sql).await.unwrap(), &[]).await.unwrap();
        held.push(client);
    }
    held[0].batch_execute("ALTER TABLE setting ADD COLUMN more int").await.unwrap();
    drop(held);
    db.rows(&ALL, &[]).await.unwrap();
}
