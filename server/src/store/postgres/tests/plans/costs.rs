//! What statements read and write: blocks of claims, scans that no plan shows, entries of indexes.

use std::time::Duration;

use jiff::Timestamp;
use tokio_postgres::Client;

use crate::clock::{Clock, ManualClock};
use crate::domain::{PromptKind, PromptPatch, Turn};
use crate::store::contract_tests::jobs::LEASE;
use crate::store::contract_tests::new_prompt;
use crate::store::differential::ops::sequence;
use crate::store::differential::runner::Runner;
use crate::store::postgres::scratch::ScratchDatabase;
use crate::store::postgres::statement::Statement;
use crate::store::postgres::tests::{caller, query, store, store_in};
use crate::store::postgres::{PostgresStore, job_queue};
use crate::store::prelude::*;

/// Blocks that a statement reads, whatever its parameters are.
async fn blocks(store: &PostgresStore, statement: &Statement, arguments: &str) -> i64 {
    let client = store.db.exclusive().await.unwrap();
    let setting =
        "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off";
    let prepare = format!("{setting}; PREPARE measured AS {}", statement.sql);
    client.batch_execute(&prepare).await.unwrap();
    let explain = format!("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE measured({arguments})");
    // The first execution also reads the system catalogs.
    let mut found = serde_json::Value::Null;
    for _ in 0..2 {
        found = client.query_one(&explain, &[]).await.unwrap().get(0);
    }
    client.batch_execute("DEALLOCATE measured; RESET ALL").await.unwrap();
    found[0]["Plan"]["Shared Hit Blocks"].as_i64().unwrap()
        + found[0]["Plan"]["Shared Read Blocks"].as_i64().unwrap()
}

/// Jobs that have ended, and one in a hundred that is due.
const JOBS: &str = "WITH made AS (
        INSERT INTO job (account_id, name_digest, client_job_id, request_digest, request,
            vault_id, state, request_id, provider_state, prompt_id, reservation, claimable_at,
            created_at, updated_at)
        SELECT $1, sha256(n::text::bytea), n::text, sha256('r'), '{}', 1,
            CASE WHEN n % 101 = 0 THEN 'queued' ELSE 'completed' END, 'r', '',
            CASE WHEN n % 101 = 0 THEN NULL ELSE n END, gen_random_uuid(),
            CASE WHEN n % 101 = 0 THEN now() END, now(), now()
        FROM generate_series(1, 101000) AS n RETURNING *)
    INSERT INTO due_job (account_id, name_digest, submitting, due_at)
    SELECT account_id, name_digest, false, claimable_at FROM made WHERE claimable_at IS NOT NULL";

#[tokio::test]
async fn a_claim_reads_no_ended_jobs_and_passes_an_account_with_many_due_ones() {
    let (store, _database) = store().await;
    let (alice, bob) = (caller(&store, "alice").await, caller(&store, "bob").await);
    query(&store, JOBS, &[&alice.account.0]).await;
    let due = JOBS.replace("n % 101", "n % 1").replace("1, 101000", "-1, 0");
    query(&store, &due, &[&bob.account.0]).await;
    query(&store, "ANALYZE job, due_job", &[]).await;
    let claim = job_queue::ALL.iter().find(|statement| statement.name == "jobs.next").unwrap();
    let alice = alice.account.0;
    for (after, except) in [(alice, ""), (0, &*format!("{alice}"))] {
        let arguments = format!("now(), now() + '20 s', {after}, '{{{except}}}'");
        let blocks = blocks(&store, claim, &arguments).await;
        assert!(blocks < 100, "it read {blocks} blocks");
    }
    let claimed = "SELECT count(*) FROM due_job WHERE due_at > now() AND account_id = $1";
    assert_eq!(query(&store, claimed, &[&bob.account.0]).await[0].get::<_, i64>(0), 2);
    assert!(store.claim_job(LEASE, &Turn::default()).await.unwrap().is_some());
}

const OPERATIONS: usize = 400;

/// Tables that were scanned sequentially, with the number of scans.
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

/// Foreign keys have queries of their own, which no plan shows.
#[tokio::test]
async fn no_operation_causes_a_sequential_scan() {
    let database = ScratchDatabase::create().await.unwrap();
    drop(store_in(&database, Clock::System).await);
    let client = database.client().await;
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

/// An update is hot (heap-only) if the row gets no new entry in any index.
#[tokio::test]
async fn a_changed_title_text_or_platform_writes_to_no_index() {
    let database = ScratchDatabase::create().await.unwrap();
    let store = store_in(&database, Clock::System).await;
    let alice = caller(&store, "alice").await;
    let new = new_prompt(PromptKind::Text, None);
    let id = store.create_prompt(&alice, new).await.unwrap().id;
    for patch in [
        PromptPatch { title: Some("Gull".into()), ..PromptPatch::default() },
        PromptPatch { text: Some("A gull at dawn".into()), ..PromptPatch::default() },
        PromptPatch { platform: Some(Some("Canvas".into())), ..PromptPatch::default() },
    ] {
        store.update_prompt(&alice, id, patch).await.unwrap();
    }
    drop(store);
    let client = database.client().await;
    until_alone(&client).await;
    let updates =
        "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'prompt'";
    let row = client.query_one(updates, &[]).await.unwrap();
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1)), (3, 3));
}
