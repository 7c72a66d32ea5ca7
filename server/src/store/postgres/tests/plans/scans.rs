//! What the statements make the database do besides: triggers, functions and
//! references have queries of their own, which no plan shows. So the database counts.

use jiff::Timestamp;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use tokio_postgres::{Client, NoTls};

use crate::clock::{Clock, ManualClock};
use crate::store::differential::op::{Op, ops};
use crate::store::differential::world::World;
use crate::store::postgres::scratch::ScratchDatabase;
use crate::store::postgres::tests::store_in;

const STEPS: usize = 400;

/// How often each table was read from end to end, as far as it was.
async fn whole_scans(client: &Client) -> Vec<(String, i64)> {
    let counts = "SELECT relname::text, seq_scan FROM pg_stat_user_tables WHERE seq_scan > 0";
    let rows = client.query(counts, &[]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

/// Waits until nobody else is connected: what a connection counted is known then.
async fn alone(client: &Client) {
    let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                  AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
    while client.query_one(others, &[]).await.unwrap().get::<_, i64>(0) > 0 {
        tokio::task::yield_now().await;
    }
}

async fn take_steps(database: &ScratchDatabase) {
    let hand = ManualClock::new(Timestamp::UNIX_EPOCH);
    let store = store_in(database, Clock::Manual(hand.clone())).await;
    let mut world = World::open(&store).await;
    let tree = ops(STEPS..=STEPS).new_tree(&mut TestRunner::deterministic()).unwrap();
    for op in tree.current() {
        match op {
            Op::Wait(duration) => hand.advance(duration),
            op => drop(world.apply(&op).await),
        }
    }
}

#[tokio::test]
async fn no_step_makes_the_database_read_a_whole_table() {
    let database = ScratchDatabase::create().await.unwrap();
    drop(store_in(&database, Clock::System).await);
    let (client, connection) = tokio_postgres::connect(&database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    alone(&client).await;
    let settings = "DO $$ BEGIN
        EXECUTE format('ALTER DATABASE %I SET enable_seqscan = off', current_database());
        EXECUTE format('ALTER DATABASE %I SET plan_cache_mode = force_generic_plan',
            current_database());
    END $$; SELECT pg_stat_reset()";
    client.batch_execute(settings).await.unwrap();

    take_steps(&database).await;
    alone(&client).await;
    assert_eq!(whole_scans(&client).await, []);

    client.batch_execute("SELECT count(*) FROM prompt WHERE title = 'x'").await.unwrap();
    client.batch_execute("SELECT pg_stat_force_next_flush()").await.unwrap();
    assert_eq!(whole_scans(&client).await, [("prompt".to_owned(), 1)], "nothing is counted");
}
