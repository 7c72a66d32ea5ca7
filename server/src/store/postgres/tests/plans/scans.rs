//! Triggers, functions and foreign keys have queries of their own, which no plan shows. So
//! this test reads the database's scan counters.

use std::time::Duration;

use jiff::Timestamp;
use tokio_postgres::{Client, NoTls};

use crate::clock::{Clock, ManualClock};
use crate::store::differential::ops::sequence;
use crate::store::differential::runner::Runner;
use crate::store::postgres::scratch::ScratchDatabase;
use crate::store::postgres::tests::store_in;

const OPERATIONS: usize = 400;

/// The number of sequential scans of each table that had any.
async fn whole_scans(client: &Client) -> Vec<(String, i64)> {
    let counts = "SELECT relname::text, seq_scan FROM pg_stat_user_tables WHERE seq_scan > 0";
    let rows = client.query(counts, &[]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

/// Waits for the end of all other connections, which then have reported their counters.
async fn until_alone(client: &Client) {
    let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                  AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
    while client.query_one(others, &[]).await.unwrap().get::<_, i64>(0) > 0 {
        tokio::task::yield_now().await;
    }
}

async fn run_operations(database: &ScratchDatabase) {
    let clock = ManualClock::new(Timestamp::UNIX_EPOCH);
    let store = store_in(database, Clock::Manual(clock.clone())).await;
    let mut runner = Runner::new(&store).await;
    for op in sequence(1, OPERATIONS) {
        clock.advance(Duration::from_millis(300));
        runner.apply(&op).await;
    }
}

#[tokio::test]
async fn no_operation_causes_a_sequential_scan() {
    let database = ScratchDatabase::create().await.unwrap();
    drop(store_in(&database, Clock::System).await);
    let (client, connection) = tokio_postgres::connect(&database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    until_alone(&client).await;
    let settings = "DO $$ BEGIN
        EXECUTE format('ALTER DATABASE %I SET enable_seqscan = off', current_database());
        EXECUTE format('ALTER DATABASE %I SET plan_cache_mode = force_generic_plan',
            current_database());
    END $$; SELECT pg_stat_reset()";
    client.batch_execute(settings).await.unwrap();

    run_operations(&database).await;
    until_alone(&client).await;
    assert_eq!(whole_scans(&client).await, []);

    client.batch_execute("SELECT count(*) FROM prompt WHERE title = 'x'").await.unwrap();
    client.batch_execute("SELECT pg_stat_force_next_flush()").await.unwrap();
    assert_eq!(whole_scans(&client).await, [("prompt".to_owned(), 1)], "scans are not counted");
}
