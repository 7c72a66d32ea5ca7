//! The plans of the statements on jobs.

use tokio_postgres::SimpleQueryMessage;

use super::{InPostgres, StoreUnderTest, in_real_time};
use crate::store::JobQueue as _;
use crate::store::jobs::contract_tests::{LEASE, LIMIT};
use crate::store::postgres::db::Statement;
use crate::store::postgres::{job_queue, jobs};

/// Jobs that have ended, and one in a hundred that is due.
const JOBS: &str = "INSERT INTO job (account_id, name_digest, client_job_id, request_digest, \
        job_order, vault_id, state, request_id, memo, prompt_id, reservation, due_at, \
        created_at, updated_at) \
    SELECT $1, sha256(at::text::bytea), at::text, sha256('r'), '{}', 1, \
        CASE WHEN at % 101 = 0 THEN 'queued' ELSE 'completed' END, 'r', '', \
        CASE WHEN at % 101 = 0 THEN NULL ELSE at END, gen_random_uuid(), \
        CASE WHEN at % 101 = 0 THEN now() END, now(), now() \
    FROM generate_series(1, 101000) AS at";

async fn with_many_jobs() -> InPostgres {
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    world.sql(JOBS, &[&by.account.0]).await;
    let settle = "ANALYZE job; SET plan_cache_mode = force_generic_plan";
    world.behind.batch_execute(settle).await.unwrap();
    world
}

/// The plan of a statement for any parameters, with `options` for EXPLAIN.
async fn plan(world: &InPostgres, statement: &Statement, values: &str, options: &str) -> String {
    let prepare = format!("DEALLOCATE ALL; PREPARE it AS {}", statement.sql);
    world.behind.batch_execute(&prepare).await.unwrap();
    let explain = format!("EXPLAIN ({options}) EXECUTE it ({values})");
    let rows = world.behind.simple_query(&explain).await.unwrap();
    let lines = rows.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn no_statement_scans_all_jobs() {
    let world = with_many_jobs().await;
    for statement in jobs::ALL.iter().chain(job_queue::ALL) {
        let count = world.behind.prepare(statement.sql).await.unwrap().params().len();
        let values = vec!["NULL"; count].join(", ");
        let plan = plan(&world, statement, &values, "COSTS OFF").await;
        assert!(plan.contains("Index"), "{}:\n{plan}", statement.name);
        assert!(!plan.contains("Seq Scan on job"), "{}:\n{plan}", statement.name);
    }
}

#[tokio::test]
async fn a_claim_reads_no_ended_jobs() {
    let world = with_many_jobs().await;
    let claim = job_queue::ALL.iter().find(|statement| statement.name == "jobs.claim").unwrap();
    let values = "NULL, gen_random_uuid(), 20000000, 120000000";
    let plan = plan(&world, claim, values, "ANALYZE, BUFFERS, COSTS OFF, TIMING OFF").await;
    for index in ["job_due on job", "job_submitting on job", "job_pkey on job"] {
        assert!(plan.contains(&format!("Index Scan using {index}")), "{plan}");
    }
    let touched = plan.split("Buffers: shared hit=").nth(1).unwrap();
    let touched: u32 = touched.split_whitespace().next().unwrap().parse().unwrap();
    assert!(touched < 200, "it read {touched} pages:\n{plan}");
    assert!(world.store.claim_job(LEASE, LIMIT).await.unwrap().is_some());
}
