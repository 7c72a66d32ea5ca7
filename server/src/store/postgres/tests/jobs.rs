//! Jobs: row locks, unreadable rows, and workers on this store.

use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt;
use promptarium::limits;
use tokio::time::{sleep, timeout};
use tokio_postgres::Client;
use url::Url;

use super::{caller, store, store_in};
use crate::blobs::Blobs;
use crate::blobs::asset_url::Assets;
use crate::clock::Clock;
use crate::domain::{GenerationRequest, JobState, Lease, NewJob, SigningKey};
use crate::generate::local::LocalProvider;
use crate::generate::submit::Submitter;
use crate::generate::worker::Worker;
use crate::generate::worker::pool::WorkerPool;
use crate::generate::{JobSettings, OutputLimits, OutputStore};
use crate::store::contract_tests::StoreUnderTest;
use crate::store::contract_tests::jobs::{
    LEASE, LIMIT, SECOND, claim, image, new, queued, reserved, ticket,
};
use crate::store::prelude::*;
use crate::store::{Store, StoreError};

/// Completes the job while another transaction, with `statement` done, holds a lock that
/// this waits for; then runs `end` in that transaction.
async fn complete_beside(
    db: &StoreUnderTest,
    lease: Lease,
    statement: &str,
    end: &str,
) -> Result<promptarium::PromptId, StoreError> {
    let (other, observer) = (db.sql().await, db.sql().await);
    other.batch_execute(&format!("BEGIN; {statement}")).await.unwrap();
    let store = db.store.clone();
    let completed = tokio::spawn(async move { store.complete_job(&lease, vec![image()]).await });
    let waiting = "SELECT count(*) FROM pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while number(&observer, waiting).await == 0 {
        tokio::task::yield_now().await;
    }
    other.batch_execute(end).await.unwrap();
    completed.await.unwrap()
}

async fn number(client: &Client, sql: &str) -> i64 {
    client.query_one(sql, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn output_goes_to_general_exactly_if_the_vault_is_deleted_meanwhile() {
    for (end, deleted) in [("COMMIT", true), ("ROLLBACK", false)] {
        let db = StoreUnderTest::postgres().await;
        let alice = db.caller("alice").await;
        let vault = db.public(&alice, &[]).await;
        let job = reserved(&*db.store, &alice, new("j", 1, Some(vault))).await;
        db.store.job_submitted(&job.key, ticket()).await.unwrap();
        let lease = claim(&*db.store).await.unwrap().lease;
        let delete = format!(
            "DELETE FROM vault WHERE id = {vault}; DELETE FROM vault_directory WHERE vault_id = {vault}"
        );
        let prompt = complete_beside(&db, lease, &delete, end).await.unwrap();
        let expected = if deleted { db.general(&alice).await.id } else { vault };
        let contents = db.contents(&alice, expected).await;
        assert_eq!((contents.len(), contents[0].prompt.id), (1, prompt), "{end}");
        assert_eq!(db.store.job(&alice, "j").await.unwrap().vault, expected, "{end}");
        db.check().await;
    }
}

#[tokio::test]
async fn a_claim_during_the_completion_takes_the_lease() {
    let db = StoreUnderTest::postgres().await;
    let alice = db.caller("alice").await;
    queued(&*db.store, &alice, "j").await;
    let lease = claim(&*db.store).await.unwrap().lease;
    db.clock.advance(LEASE);
    let end = "UPDATE job SET fence = gen_random_uuid(); COMMIT";
    let completed = complete_beside(&db, lease, "SELECT FROM job FOR UPDATE", end).await;
    assert!(matches!(completed, Err(StoreError::LeaseLost)), "{completed:?}");
    assert_eq!(number(&db.sql().await, "SELECT count(*) FROM prompt").await, 0);
    assert!(claim(&*db.store).await.is_some());
}

#[tokio::test]
async fn a_row_that_another_claim_has_locked_is_skipped() {
    for locked in ["job", "due_job"] {
        let db = StoreUnderTest::postgres().await;
        let alice = db.caller("alice").await;
        queued(&*db.store, &alice, "a").await;
        queued(&*db.store, &alice, "b").await;
        let other = db.sql().await;
        let lock = format!(
            "BEGIN; SELECT FROM {locked} WHERE name_digest = \
             (SELECT name_digest FROM job WHERE client_job_id = 'a') FOR UPDATE"
        );
        other.batch_execute(&lock).await.unwrap();
        let claim = timeout(LEASE, claim(&*db.store)).await.unwrap().unwrap();
        assert_eq!(&*claim.job.key.client_job_id, "b", "{locked}");
    }
}

/// As after a server that has died between the two statements of a claim.
#[tokio::test]
async fn a_job_of_a_claim_that_was_not_finished_is_claimed_when_the_lease_would_have_ended() {
    let db = StoreUnderTest::postgres().await;
    let alice = db.caller("alice").await;
    queued(&*db.store, &alice, "j").await;
    let lasting = format!("{} seconds", LEASE.as_secs());
    let begun = format!("UPDATE due_job SET due_at = due_at + '{lasting}'");
    db.sql().await.batch_execute(&begun).await.unwrap();
    assert!(claim(&*db.store).await.is_none());
    db.clock.advance(LEASE);
    assert_eq!(claim(&*db.store).await.unwrap().failed_attempts, 0);
    db.check().await;
}

#[tokio::test]
async fn an_unreadable_job_is_failed_and_holds_up_no_other() {
    let db = StoreUnderTest::postgres().await;
    let (alice, bob) = (db.caller("alice").await, db.caller("bob").await);
    queued(&*db.store, &alice, "unreadable").await;
    reserved(&*db.store, &alice, new("unreadable too", 1, None)).await;
    let nested = format!(r#"{{"parameters":{{"a":{}{}}}}}"#, "[".repeat(126), "]".repeat(126));
    let update = "UPDATE job SET request = $1::text::json";
    db.sql().await.execute(update, &[&nested]).await.unwrap();
    db.clock.advance(LIMIT);
    queued(&*db.store, &bob, "good").await;
    assert_eq!(&*claim(&*db.store).await.unwrap().job.key.client_job_id, "good");
    assert!(claim(&*db.store).await.is_none());
    assert_eq!(
        db.store
            .fail_late_submissions(LIMIT, "the stored request cannot be read")
            .await
            .unwrap()
            .len(),
        1
    );
    for (name, ticket) in [("unreadable", Some(ticket())), ("unreadable too", None)] {
        let job = db.store.job(&alice, name).await.unwrap();
        let reason = "the stored request cannot be read";
        assert_eq!(job.state, JobState::Failed(ticket, reason.into()), "{name}");
    }
}

#[tokio::test]
async fn a_request_that_would_not_read_back_is_not_stored() {
    let db = StoreUnderTest::postgres().await;
    let alice = db.caller("alice").await;
    let nested = |levels| {
        let value = (0..levels).fold(serde_json::Value::Null, |inner, _| vec![inner].into());
        let parameters = Some(serde_json::Map::from_iter([("a".to_owned(), value)]));
        let request = GenerationRequest { parameters, ..GenerationRequest::default() };
        NewJob { request: request.into(), ..new("j", 1, None) }
    };
    let outcome = db.store.reserve_job(&alice, nested(126)).await;
    assert!(matches!(outcome, Err(StoreError::Internal(_))), "{outcome:?}");
    assert_eq!(number(&db.sql().await, "SELECT count(*) FROM job").await, 0);
    let deepest = limits::GENERATION_PARAMETERS_DEPTH_MAX - 1;
    reserved(&*db.store, &alice, nested(deepest)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn worker_pools_on_two_stores_complete_every_job_once() {
    const COUNT: usize = 12;
    let (store, database) = store().await;
    let alice = caller(&store, "alice").await;
    let assets = Assets::new(&Url::parse("http://localhost").unwrap(), &[]);
    let blobs = Blobs::in_memory();
    let (clock, key) = (Clock::System, SigningKey::random());
    let provider = Arc::new(LocalProvider { clock, assets: assets.clone(), blobs: blobs.clone() });
    let stores: [Arc<dyn Store>; 2] =
        [Arc::new(store.clone()), Arc::new(store_in(&database, Clock::System).await)];
    let pools = stores.clone().map(|store| {
        let worker = Worker {
            store,
            provider: provider.clone(),
            outputs: OutputStore {
                blobs: blobs.clone(),
                assets: assets.clone(),
                key: key.clone(),
                clock: Clock::System,
                limits: OutputLimits::new(1),
            },
            clock: Clock::System,
            settings: JobSettings { workers: 4, ..JobSettings::default() },
            activity: Arc::default(),
        };
        WorkerPool::start(&worker)
    });
    let submitter = Submitter::new(stores[0].clone(), provider.clone(), assets.clone());
    for at in 0..COUNT {
        let model_id = if at == 0 { "local/fail" } else { "local/plasma" };
        let request = GenerationRequest {
            model_id: model_id.into(),
            prompt: "A harbour".into(),
            aspect_ratio: "1:1".into(),
            batch_count: 2,
            ..GenerationRequest::default()
        };
        let job = NewJob { request: request.into(), ..new(&format!("{at}"), 1, None) };
        submitter.submit(&alice, job, ()).await.unwrap();
    }
    let mut image_count = 0;
    for at in 0..COUNT {
        let ended = async {
            loop {
                match store.job(&alice, &format!("{at}")).await.unwrap().state {
                    JobState::Completed(..) => return true,
                    JobState::Failed(..) => return false,
                    _ => sleep(Duration::from_millis(20)).await,
                }
            }
        };
        let completed = timeout(60 * SECOND, ended).await.expect("a job does not end");
        assert_eq!(completed, at != 0, "job {at}");
    }
    for pool in pools {
        pool.stop().await;
    }
    let general = store.vaults(&alice).await.unwrap()[0].id;
    let contents = store.contents(&alice, general).await.unwrap();
    let contents: Vec<_> = contents.try_collect().await.unwrap();
    assert_eq!(contents.len(), COUNT - 1);
    for listed in contents {
        for image in &*listed.prompt.images {
            let name = assets.name_of(&image.source).unwrap();
            assert!(blobs.read_all(&name).await.unwrap().is_some());
            image_count += 1;
        }
    }
    assert_eq!(image_count, 2 * (COUNT - 1));
    assert_eq!(store.broken_invariants().await, Vec::<String>::new());
}
