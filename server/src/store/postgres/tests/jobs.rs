//! Jobs: row locks and unreadable rows.

use std::sync::Arc;

use promptarium::limits::GENERATION_PARAMETERS_DEPTH_MAX;
use tokio::time::timeout;
use tokio_postgres::Client;

use super::until_waiting;
use crate::domain::{JobState, Lease};
use crate::store::StoreError;
use crate::store::contract_tests::StoreUnderTest;
use crate::store::contract_tests::jobs::{
    LEASE, LIMIT, claim, image, new, queued, reserved, ticket,
};

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
    let request = store.job_by_key(&lease.job).await.unwrap().request;
    let completed =
        tokio::spawn(async move { store.complete_job(&lease, &request, vec![image()]).await });
    until_waiting(&observer).await;
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
async fn the_deepest_parameters_that_are_accepted_are_read_back() {
    let db = StoreUnderTest::postgres().await;
    let (alice, mut new) = (db.caller("alice").await, new("j", 1, None));
    let arrays = GENERATION_PARAMETERS_DEPTH_MAX - 1;
    let nested = format!(r#"{{"a":{}{}}}"#, "[".repeat(arrays), "]".repeat(arrays));
    Arc::make_mut(&mut new.request).parameters = Some(serde_json::from_str(&nested).unwrap());
    let request = new.request.clone();
    let job = reserved(&*db.store, &alice, new).await;
    db.store.job_submitted(&job.key, ticket()).await.unwrap();
    assert_eq!(db.store.job(&alice, "j").await.unwrap().request, request);
    assert_eq!(claim(&*db.store).await.unwrap().job.request, request);
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
