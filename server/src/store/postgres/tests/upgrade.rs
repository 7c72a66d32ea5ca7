//! The way up from the last schema with triggers, with data in it, and a backup of the result.

use std::process::Command;
use std::time::Duration;

use super::super::Migration;
use super::super::migrate::{self, LIST};
use super::super::scratch::ScratchDatabase;
use super::cluster::bin;
use super::{caller, store_in};
use crate::clock::Clock;
use crate::domain::JobState;
use crate::store::contract_tests::jobs::{claim, image, ticket};
use crate::store::prelude::*;

/// The number of versions with triggers.
const WITH_TRIGGERS: usize = 6;

/// What programs of those versions wrote: two accounts, vaults with prompts, of which one is
/// pinned, a job that is due and one that is being submitted.
const WRITTEN: &str = "BEGIN;
    INSERT INTO account (name, general_vault_id, created_at)
        VALUES ('alice', 1, '2026-01-01'), ('bob', 2, '2026-01-01');
    INSERT INTO api_key (account_id, public_id, digest, prompts_write, created_at)
        SELECT id, 'key-of-' || name, decode(repeat('07', 32), 'hex'), true, '2026-01-01'
        FROM account ORDER BY id;
    INSERT INTO vault (account_id, name, slug, visibility, system, created_at, updated_at)
        SELECT id, 'General', 'general', 'private', true, '2026-01-01', '2026-01-01'
        FROM account ORDER BY id;
    INSERT INTO vault (account_id, name, slug, visibility, created_at, updated_at)
        VALUES (1, 'Sky', 'sky', 'public', '2026-01-02', '2026-01-02'),
            (1, 'Sky', 'sky-2', 'private', '2026-01-03', '2026-01-03');
    INSERT INTO prompt (account_id, kind, title, body, created_at, updated_at)
        SELECT 1, 'text', 'T', 'B', '2026-01-04', '2026-01-04' FROM generate_series(1, 10);
    INSERT INTO membership (account_id, vault_id, prompt_id, kind)
        SELECT 1, vault.id, prompt.id, 'text' FROM vault, prompt
        WHERE vault.account_id = 1 AND prompt.id % 3 >= vault.id % 3 ORDER BY prompt.id;
    UPDATE membership SET pin = nextval('membership_pin') WHERE vault_id = 3 AND prompt_id IN (2, 3);
    DELETE FROM prompt WHERE id = 5;
    INSERT INTO job (account_id, name_digest, client_job_id, request_digest, job_order, vault_id,
            state, request_id, memo, due_at, submitting_since, created_at, updated_at)
        SELECT 1, sha256(name::bytea), name, decode(repeat('01', 32), 'hex'),
            '{\"prompt\":\"A harbour\"}', 4, CASE WHEN due THEN 'queued' ELSE 'submitting' END,
            CASE WHEN due THEN 'r' END, CASE WHEN due THEN 'm' END,
            CASE WHEN due THEN '2026-01-05'::timestamptz END,
            CASE WHEN due THEN NULL ELSE '2026-01-05'::timestamptz END, '2026-01-05', '2026-01-05'
        FROM (VALUES ('due', true), ('lost', false)) AS job (name, due);
    COMMIT";

/// Everything that the migration moved is as it should be, and ids continue.
async fn works(database: &ScratchDatabase) {
    let store = store_in(database, Clock::System).await;
    let (alice, bob) = (caller(&store, "alice").await, caller(&store, "bob").await);
    let vaults = store.vaults(&alice).await.unwrap();
    let counts: Vec<_> =
        vaults.iter().map(|vault| format!("{} {}", vault.slug, vault.prompt_count)).collect();
    assert_eq!(counts, ["sky-2 6", "sky 9", "general 6"]);
    let copy = store.fork_vault(&bob, vaults[1].id).await.unwrap();
    assert_eq!((&*copy.slug, copy.prompt_count), ("sky", 9));
    assert!(copy.id > vaults[0].id);
    let late = store.fail_late_submissions(Duration::ZERO, "lost").await.unwrap();
    assert_eq!(late.len(), 1);
    let lease = claim(&store).await.unwrap().lease;
    let output = store.complete_job(&lease, vec![image()]).await.unwrap();
    let job = store.job(&alice, "due").await.unwrap();
    assert_eq!(job.state, JobState::Completed(ticket(), output));
    assert!(claim(&store).await.is_none());
    assert_eq!(store.broken_invariants().await, Vec::<String>::new());
}

fn program(name: &str, arguments: &[&str]) {
    let output = Command::new(bin().join(name)).args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {errors}");
}

/// A database with the data of the last schema with triggers, migrated.
async fn migrated() -> ScratchDatabase {
    let migrated = ScratchDatabase::empty().await.unwrap();
    let mut client = migrated.client().await;
    migrate::run(&mut client, &LIST[..WITH_TRIGGERS], Migration::Auto).await.unwrap();
    client.batch_execute(WRITTEN).await.unwrap();
    let before = "SELECT prompt_count FROM vault WHERE prompt_count > 0 ORDER BY account_id, id";
    let before: Vec<i64> =
        client.query(before, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert_eq!(before, [6, 9, 6], "the triggers have counted");
    let applied = migrate::run(&mut client, LIST, Migration::Auto).await.unwrap();
    assert_eq!(applied.len(), LIST.len() - WITH_TRIGGERS);
    migrated
}

#[tokio::test]
async fn data_of_the_last_schema_with_triggers_stays_and_survives_a_backup() {
    let (migrated, restored) = (migrated().await, ScratchDatabase::empty().await.unwrap());
    let file = std::env::temp_dir().join(format!("promptarium-backup-{}", std::process::id()));
    let file = file.to_str().unwrap();
    program("pg_dump", &["--format=custom", "--file", file, "--dbname", &migrated.url()]);
    program("pg_restore", &["--exit-on-error", "--dbname", &restored.url(), file]);
    std::fs::remove_file(file).unwrap();
    works(&restored).await;
}
