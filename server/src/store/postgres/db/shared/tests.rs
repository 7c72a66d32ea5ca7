//! Steps that share connections, and what is in each other's way there.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use futures::future::{join_all, try_join_all};
use tokio::task::JoinSet;

use super::{PLACES_MAX, STEPS_MAX, STILL, Shares};
use crate::clock::Clock;
use crate::store::postgres::db::{Db, Statement};
use crate::store::postgres::scratch::ScratchDatabase;
use crate::store::postgres::{DatabaseUrl, Migration, PostgresStore};

const PID: &str = "SELECT pg_backend_pid(), pg_sleep(0.05)";
const WHO_READS: Statement = Statement::reading("test.who_reads", PID);
const WHO_SETTLES: Statement = Statement::settling("test.who_settles", PID);
const WHO_WRITES: Statement = Statement::writing("test.who_writes", PID);
const QUICK: Statement = Statement::reading("test.quick", "SELECT 1");
const SLEEP: Statement = Statement::reading("test.sleep", "SELECT pg_sleep($1)");

async fn db(query: &str) -> (Db, ScratchDatabase) {
    let database = ScratchDatabase::create().await.unwrap();
    let url = DatabaseUrl::parse(&format!("{}?{query}", database.url())).unwrap();
    let store = PostgresStore::open(&url, Migration::Auto, Clock::System).await.unwrap();
    (store.db, database)
}

/// Which connections so many steps at once went over.
async fn who(db: &Db, statement: &Statement, steps: usize) -> HashSet<i32> {
    let rows = try_join_all((0..steps).map(|_| db.rows(statement, &[]))).await.unwrap();
    rows.iter().map(|rows| rows[0].get(0)).collect()
}

#[tokio::test]
async fn steps_that_only_look_share_a_few_connections() {
    let (db, _database) = db("pool_max_conns=16").await;
    assert_eq!(who(&db, &WHO_READS, 12).await.len(), PLACES_MAX);
}

#[tokio::test]
async fn steps_that_change_something_share_none() {
    let (db, _database) = db("pool_max_conns=16").await;
    for statement in [&WHO_SETTLES, &WHO_WRITES] {
        assert_eq!(who(&db, statement, 8).await.len(), 8, "{}", statement.name);
    }
}

#[tokio::test]
async fn who_finds_every_shared_connection_full_takes_one_alone() {
    let (db, _database) = db("pool_max_conns=4").await;
    let shared = STEPS_MAX * 2;
    assert_eq!(who(&db, &WHO_READS, shared).await.len(), 2);
    assert_eq!(who(&db, &WHO_READS, shared + 2).await.len(), 4);
}

#[test]
fn not_more_than_half_of_a_pool_is_lent_and_never_nothing() {
    let places = |connections| Shares::of(connections).0.places.len();
    assert_eq!([1, 2, 3, 4, 6, 8, 100].map(places), [1, 1, 1, 2, 3, 4, PLACES_MAX]);
}

#[tokio::test]
async fn who_stands_behind_a_slow_step_gets_past_it() {
    let (mut db, _database) = db("pool_max_conns=4").await;
    // Joined for long, so that a machine that is busy keeps nobody from it.
    db.shares = Shares::lending_for(Duration::from_secs(60), 4);
    // One on each shared connection, and then those behind them.
    let slow = tokio::spawn({
        let db = db.clone();
        async move { join_all((0..2).map(|_| db.rows(&SLEEP, &[&4.0_f64]))).await }
    });
    let other = db.exclusive().await.unwrap();
    let sleeping = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event = 'PgSleep'";
    while other.query_one(sleeping, &[]).await.unwrap().get::<_, i64>(0) < 2 {
        tokio::task::yield_now().await;
    }
    let began = Instant::now();
    let quick = join_all((0..8).map(|_| db.rows(&QUICK, &[]))).await;
    let elapsed = began.elapsed();
    let slow = slow.await.unwrap();
    assert!(quick.iter().all(Result::is_ok), "{quick:?}");
    assert!(elapsed > STILL, "nobody stood behind a slow step");
    assert!(elapsed < Duration::from_secs(3), "{elapsed:?}");
    // These began again too, each alone, and had all the time they needed.
    assert!(slow.iter().all(Result::is_ok), "{slow:?}");
}

#[tokio::test]
async fn who_stands_behind_steps_that_end_one_by_one_stays_there() {
    const COUNT: Statement = Statement::writing("test.count", "CREATE SEQUENCE met");
    const MET: Statement =
        Statement::reading("test.met", "SELECT nextval('met') FROM pg_sleep(0.6)");
    let (db, _database) = db("pool_max_conns=1").await;
    db.rows(&COUNT, &[]).await.unwrap();
    let rows = try_join_all((0..4).map(|_| db.rows(&MET, &[]))).await.unwrap();
    let last = rows.iter().map(|rows| rows[0].get::<_, i64>(0)).max();
    assert_eq!(last, Some(4), "somebody left and began again");
}

#[tokio::test]
async fn a_stream_of_steps_leaves_the_only_connection_to_a_write() {
    let (db, _database) = db("pool_max_conns=1").await;
    let mut readers = JoinSet::new();
    for _ in 0..8 {
        let db = db.clone();
        readers.spawn(async move {
            loop {
                db.rows(&QUICK, &[]).await.unwrap();
            }
        });
    }
    for _ in 0..5 {
        db.rows(&WHO_WRITES, &[]).await.unwrap();
    }
}

#[tokio::test]
async fn a_broken_connection_costs_none_of_those_that_shared_it() {
    const BREAK: Statement = Statement::writing(
        "test.break",
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
         WHERE datname = current_database() AND query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()",
    );
    let (db, _database) = db("pool_max_conns=4").await;
    let steps = try_join_all((0..10).map(|_| db.rows(&WHO_READS, &[])));
    let breaking = async {
        loop {
            let broken: i64 = db.rows(&BREAK, &[]).await.unwrap()[0].get(0);
            if broken > 0 {
                break;
            }
        }
    };
    let (steps, ()) = tokio::join!(steps, breaking);
    assert_eq!(steps.unwrap().len(), 10);
}

#[tokio::test]
async fn whoever_hangs_up_is_in_nobody_elses_way() {
    let (db, _database) = db("pool_max_conns=1").await;
    for _ in 0..STEPS_MAX * 2 {
        let step = db.rows(&WHO_READS, &[]);
        let hung_up = tokio::time::timeout(Duration::from_millis(5), step).await;
        drop(hung_up);
    }
    db.rows(&QUICK, &[]).await.unwrap();
    let steps = db.shares.0.places[0].steps.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(steps, 0, "who hung up still counts");
}
