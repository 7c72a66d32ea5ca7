//! Statements that fail, connections that break, and statements that share a connection.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool::managed::Object;
use futures::future::try_join_all;
use jiff::Timestamp;
use tokio::time::timeout;

use super::{Connector, Db};
use crate::clock::{Clock, ManualClock};
use crate::limits::SHARED_CLIENTS_MAX;
use crate::store::StoreError;
use crate::store::postgres::retry::Retry;
use crate::store::postgres::scratch::ScratchDatabase;
use crate::store::postgres::send::{By, PING, Step};
use crate::store::postgres::statement::Statement;
use crate::store::postgres::{DatabaseUrl, Migration, PostgresStore};

/// Counts its calls, which no rollback undoes, and fails with `condition` before call `until`;
/// `lost` breaks the connection.
const FAILING: &str = "
    CREATE SEQUENCE calls;
    CREATE FUNCTION fail(until bigint, condition text) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE number bigint := nextval('calls');
    BEGIN
        IF number < until AND condition = 'lost' THEN
            PERFORM pg_terminate_backend(pg_backend_pid());
        ELSIF number < until THEN
            RAISE EXCEPTION USING ERRCODE = condition;
        END IF;
        RETURN number;
    END $$";

const FAIL: &str = "SELECT fail($1::bigint, $2::text)";
const READING: Statement = Statement::read_only("test.reading", FAIL);
const WRITING: Statement = Statement::non_idempotent("test.writing", FAIL);
const PIPELINED: Statement = Statement::pipelined("test.pipelined", FAIL);
const IDEMPOTENT: Statement = Statement::idempotent("test.idempotent", FAIL);
const CALLS: Statement = Statement::read_only("test.calls", "SELECT last_value FROM calls");
const QUICK: Statement = Statement::read_only("test.quick", "SELECT 1");
const QUICK_WRITE: Statement = Statement::non_idempotent("test.quick_write", "SELECT 1");
const SLEEP: Statement = Statement::read_only("test.sleep", "SELECT pg_sleep($1)");
const SLEEP_WRITE: Statement = Statement::non_idempotent("test.sleep_write", "SELECT pg_sleep($1)");
const SETTINGS: Statement = Statement::non_idempotent("test.settings", "SELECT * FROM setting");

impl Db {
    /// A connection that nothing else uses, and that has just responded.
    pub(in crate::store::postgres) async fn exclusive(
        &self,
    ) -> Result<Object<Connector>, StoreError> {
        let mut retry = Retry::new(&PING, None);
        loop {
            let client = retry.connection(|| self.pool.get()).await?;
            if client.simple_query("").await.is_ok() {
                return Ok(client);
            }
        }
    }
}

async fn db(query: &str) -> (Arc<Db>, ScratchDatabase) {
    let database = ScratchDatabase::create().await.unwrap();
    let url = DatabaseUrl::parse(&format!("{}?{query}", database.url())).unwrap();
    let store = PostgresStore::open(&url, Migration::Auto, Clock::System).await.unwrap();
    (store.db, database)
}

fn name(database: &ScratchDatabase) -> String {
    database.url().rsplit_once('/').unwrap().1.split('?').next().unwrap().to_owned()
}

async fn number(db: &Db, sql: &str) -> i64 {
    db.exclusive().await.unwrap().query_one(sql, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn each_class_of_error_is_retried_as_it_should_be() {
    let (db, _database) = db("").await;
    db.exclusive().await.unwrap().batch_execute(FAILING).await.unwrap();
    let (ok, unavailable, broken) = ("ok", "unavailable", "broken");
    let unknown = "unknown";
    for (statement, until, condition, outcome, calls) in [
        // A conflict was rolled back, so it is retried also if it writes, but not for ever.
        (&WRITING, 3, "40001", ok, 3),
        (&WRITING, 3, "40P01", ok, 3),
        (&WRITING, 3, "23505", ok, 3),
        (&PIPELINED, 3, "23503", ok, 3),
        (&WRITING, 1000, "40001", unavailable, 10),
        // Only what changes nothing is sent again after its connection broke.
        (&READING, 3, "lost", ok, 3),
        (&WRITING, 3, "lost", unknown, 1),
        (&PIPELINED, 3, "lost", unknown, 1),
        // PgBouncer has this code also for a connection that it lost.
        (&WRITING, 3, "08P01", unknown, 1),
        // The statement of another client was executed, if any.
        (&WRITING, 3, "26000", ok, 3),
        // No resources, cancelled, lock not available: reported at once.
        (&READING, 3, "53100", "full", 1),
        (&READING, 3, "53300", unavailable, 1),
        (&READING, 3, "57014", unavailable, 1),
        (&READING, 3, "55P03", unavailable, 1),
        // Faults of this program.
        (&READING, 3, "22012", broken, 1),
        (&READING, 3, "23514", broken, 1),
        // Citus has lost a node.
        (&READING, 3, "XX000", ok, 3),
        (&WRITING, 3, "58030", unknown, 1),
        // The server takes no writes any more, and executed nothing.
        (&WRITING, 3, "25006", ok, 3),
    ] {
        db.exclusive().await.unwrap().batch_execute("ALTER SEQUENCE calls RESTART").await.unwrap();
        let found =
            match db.rows(By::Server, &[(statement, &[&i64::from(until), &condition])]).await {
                Ok(_) => ok,
                Err(StoreError::Unavailable(_)) => unavailable,
                Err(StoreError::Full(_)) => "full",
                Err(StoreError::OutcomeUnknown(_)) => unknown,
                Err(_) => broken,
            };
        let counted: i64 = db.rows(By::Server, &[(&CALLS, &[])]).await.unwrap()[0].get(0);
        assert_eq!((found, counted), (outcome, calls), "{} {condition}", statement.name);
    }
}

#[tokio::test]
async fn a_statement_is_prepared_again_when_the_schema_changed_or_the_session_was_reset() {
    let (db, _database) = db("pool_max_conns=16").await;
    let columns =
        async || db.rows(By::Server, &[(&SETTINGS, &[])]).await.unwrap()[0].columns().len();
    let mut held = Vec::new();
    // On more connections than there are attempts.
    for _ in 0..11 {
        let client = db.exclusive().await.unwrap();
        client.prepared(&SETTINGS).await.unwrap();
        held.push(client);
    }
    held[0].batch_execute("INSERT INTO setting VALUES ('a', 'b')").await.unwrap();
    held[0].batch_execute("ALTER TABLE setting ADD COLUMN more int").await.unwrap();
    drop(held);
    assert_eq!(columns().await, 3);
    // As a pooler does between two of its clients.
    db.exclusive().await.unwrap().batch_execute("DISCARD ALL").await.unwrap();
    assert_eq!(columns().await, 3);
}

#[tokio::test]
async fn connections_that_all_broke_while_idle_fail_no_statement() {
    let (db, database) = db("pool_max_conns=16").await;
    let (other, _other) = self::db("").await;
    let name = name(&database);
    for _ in 0..5 {
        let mut held = Vec::new();
        for _ in 0..11 {
            held.push(db.exclusive().await.unwrap());
        }
        drop(held);
        let kill = format!(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
             WHERE datname = '{name}' AND backend_type = 'client backend'"
        );
        assert!(number(&other, &kill).await >= 11);
        db.rows(By::Server, &[(&PING, &[])]).await.unwrap();
        drop(db.exclusive().await.unwrap());
    }
}

#[tokio::test]
async fn a_statement_that_takes_too_long_fails_and_is_cancelled_by_the_server_or_by_us() {
    for (query, limit) in [("statement_timeout=200", 60_000), ("", 300)] {
        let (mut db, _database) = db(query).await;
        Arc::make_mut(&mut db).limit = Duration::from_millis(limit);
        for statement in [&SLEEP, &SLEEP_WRITE] {
            let began = Instant::now();
            let outcome = db.rows(By::Server, &[(statement, &[&60.0_f64])]).await;
            // The server says that it cancelled a statement; if we give up, a write may be done.
            let is_unknown = query.is_empty() && statement.writes;
            match outcome {
                Err(StoreError::OutcomeUnknown(_)) if is_unknown => {}
                Err(StoreError::Unavailable(_)) if !is_unknown => {}
                outcome => panic!("{outcome:?}"),
            }
            assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
            nothing_sleeps(&db).await;
        }
        db.rows(By::Server, &[(&PING, &[])]).await.unwrap();
    }
}

/// Waits until no statement sleeps, at most some seconds.
async fn nothing_sleeps(db: &Db) {
    let sleeping = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event = 'PgSleep'";
    let ended = async { while number(db, sleeping).await > 0 {} };
    timeout(Duration::from_secs(5), ended).await.expect("a statement runs on");
}

#[tokio::test]
async fn a_statement_whose_caller_is_dropped_is_cancelled_and_delays_no_other() {
    // One connection for writes is left.
    let (db, _database) = db("pool_max_conns=3").await;
    let _held = db.exclusive().await.unwrap();
    let dropped =
        timeout(Duration::from_millis(200), db.rows(By::Server, &[(&SLEEP_WRITE, &[&20.0_f64])]))
            .await;
    assert!(dropped.is_err());
    let began = Instant::now();
    db.rows(By::Server, &[(&QUICK_WRITE, &[])]).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    nothing_sleeps(&db).await;
}

#[tokio::test]
async fn a_clock_that_is_not_the_databases_is_noticed() {
    let (mut db, _database) = db("").await;
    assert!(db.has_same_clock().await.unwrap());
    let hour = Duration::from_secs(3600);
    for time in [Timestamp::now() + hour, Timestamp::now() - hour] {
        Arc::make_mut(&mut db).clock = Clock::Manual(ManualClock::new(time));
        assert!(!db.has_same_clock().await.unwrap(), "{time}");
    }
}

#[tokio::test]
async fn a_statement_without_a_connection_fails_within_seconds() {
    let (db, _database) = db("pool_max_conns=3").await;
    let _held = (db.exclusive().await.unwrap(), db.exclusive().await.unwrap());
    let began = Instant::now();
    let outcome = db.rows(By::Server, &[(&QUICK_WRITE, &[])]).await;
    assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    // Reads have connections of their own.
    db.rows(By::Server, &[(&QUICK, &[])]).await.unwrap();
}

#[tokio::test]
async fn reads_and_pipelined_writes_share_a_few_connections_and_other_writes_none() {
    const PID: &str = "SELECT pg_backend_pid(), pg_sleep(0.05)";
    const READ: Statement = Statement::read_only("test.pid_read", PID);
    const SHARED: Statement = Statement::pipelined("test.pid_shared", PID);
    const OWN: Statement = Statement::non_idempotent("test.pid_own", PID);
    let (db, _database) = db("pool_max_conns=16").await;
    for (statement, expected) in
        [(&READ, SHARED_CLIENTS_MAX), (&SHARED, SHARED_CLIENTS_MAX), (&OWN, 10)]
    {
        let step: [Step<'_>; 1] = [(statement, &[])];
        let rows = try_join_all((0..10).map(|_| db.rows(By::Server, &step))).await.unwrap();
        let pids: HashSet<i32> = rows.iter().map(|rows| rows[0].get(0)).collect();
        assert_eq!(pids.len(), expected, "{}", statement.name);
    }
}

#[tokio::test]
async fn the_outcome_of_a_lost_write_stays_unknown_while_there_is_no_connection_to_repeat_it() {
    let (db, database) = db("").await;
    let (other, _other) = self::db("").await;
    db.exclusive().await.unwrap().batch_execute(FAILING).await.unwrap();
    let refuse = format!("ALTER DATABASE {} ALLOW_CONNECTIONS false", name(&database));
    other.exclusive().await.unwrap().batch_execute(&refuse).await.unwrap();
    for is_lost in [true, false] {
        let outcome = db.rows(By::Server, &[(&IDEMPOTENT, &[&1000_i64, &"lost"])]).await;
        let is_unknown = matches!(outcome, Err(StoreError::OutcomeUnknown(_)));
        assert_eq!(is_unknown, is_lost, "{outcome:?}");
    }
}

#[tokio::test]
async fn a_shared_connection_is_used_although_busy_while_no_new_one_is_accepted() {
    let (db, database) = db("pool_max_conns=16").await;
    let (other, _other) = self::db("").await;
    let refuse = format!("ALTER DATABASE {} ALLOW_CONNECTIONS false", name(&database));
    other.exclusive().await.unwrap().batch_execute(&refuse).await.unwrap();
    let busy = db.shared_client().await.unwrap();
    let found = db.shared_client().await.unwrap();
    assert!(Arc::ptr_eq(&busy.0, &found.0));
}
