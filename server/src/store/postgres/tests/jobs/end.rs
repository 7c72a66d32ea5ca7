//! The end of a job, while others are at its vault and its row.

use promptarium::{PromptId, VaultId};

use super::{InPostgres, StoreUnderTest, connected, in_postgres, in_real_time};
use crate::domain::{Caller, GenerationRequest, JobState, Lease, NewJob, OutputKind};
use crate::store::jobs::contract_tests::{
    LEASE, LIMIT, claim, image, is_lost, new, queued, reserved, ticket,
};
use crate::store::{JobQueue as _, JobStore as _, StoreError};

/// A job for this vault, under a lease.
async fn held(world: &InPostgres, by: &Caller, vault: VaultId) -> Lease {
    let job = reserved(&world.store, by, new("j", 1, Some(vault))).await;
    world.store.job_submitted(&job.key, ticket()).await.unwrap();
    claim(&world.store).await.unwrap().lease
}

/// Waits until somebody waits for a lock.
async fn until_somebody_waits(world: &InPostgres) {
    let waiting = "SELECT count(*) FROM pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while world.number(waiting).await == 0 {
        tokio::task::yield_now().await;
    }
}

/// Ends the job while its vault is being deleted, which is then settled as `settled`
/// says; the prompt that the output became.
async fn end_beside_deletion(
    world: &InPostgres,
    lease: Lease,
    vault: VaultId,
    settled: &str,
) -> PromptId {
    let deleting = connected(&world.database).await;
    deleting.batch_execute("BEGIN").await.unwrap();
    deleting.execute("DELETE FROM vault WHERE id = $1", &[&vault.get()]).await.unwrap();
    let store = world.store.clone();
    let end = tokio::spawn(async move { store.complete_job(&lease, vec![image()]).await });
    until_somebody_waits(world).await;
    deleting.batch_execute(settled).await.unwrap();
    end.await.unwrap().unwrap()
}

#[tokio::test]
async fn output_goes_to_general_if_the_vault_is_deleted_at_that_moment() {
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    let vault = world.vault(&by).await;
    let lease = held(&world, &by, vault).await;
    let prompt = end_beside_deletion(&world, lease, vault, "COMMIT").await;
    let general = world.general(&by).await;
    assert_eq!(world.contents(&by, general).await, [(prompt, vec![image()])]);
    assert_eq!(world.store.job(&by, "j").await.unwrap().vault, general);
    world.check().await;
}

#[tokio::test]
async fn output_stays_in_the_vault_if_its_deletion_is_taken_back() {
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    let vault = world.vault(&by).await;
    let lease = held(&world, &by, vault).await;
    let prompt = end_beside_deletion(&world, lease, vault, "ROLLBACK").await;
    assert_eq!(world.contents(&by, vault).await, [(prompt, vec![image()])]);
    world.check().await;
}

#[tokio::test]
async fn vaults_that_are_deleted_all_the_while_lose_no_output() {
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    for round in 0..30 {
        let vault = world.vault(&by).await;
        let job = reserved(&world.store, &by, new(&format!("{round}"), 1, Some(vault))).await;
        world.store.job_submitted(&job.key, ticket()).await.unwrap();
        let lease = claim(&world.store).await.unwrap().lease;
        let end = world.store.complete_job(&lease, vec![image()]);
        let (end, ()) = tokio::join!(end, world.delete_vault(&by, vault));
        let prompt = end.unwrap();
        let state = world.store.job(&by, &format!("{round}")).await.unwrap().state;
        assert_eq!(state, JobState::Completed(ticket(), prompt));
    }
    // What was in a vault before it went is in none; the prompts are all there.
    assert_eq!(world.number("SELECT count(*) FROM prompt").await, 30);
}

#[tokio::test]
async fn a_claim_that_comes_between_takes_the_end_away() {
    let world = in_postgres().await;
    let by = world.caller("alice").await;
    queued(&world.store, &by, "j").await;
    let late = claim(&world.store).await.unwrap();
    world.pass(LEASE);
    world.behind.batch_execute("BEGIN").await.unwrap();
    world.sql("SELECT FROM job FOR UPDATE", &[]).await;
    let store = world.store.clone();
    let end = tokio::spawn(async move { store.complete_job(&late.lease, vec![image()]).await });
    let watching = InPostgres { behind: connected(&world.database).await, ..world };
    until_somebody_waits(&watching).await;
    let next = uuid::Uuid::from_u128(7);
    world.behind.execute("UPDATE job SET fence = $1", &[&next]).await.unwrap();
    world.behind.batch_execute("COMMIT").await.unwrap();
    assert!(is_lost(&end.await.unwrap()));
    assert_eq!(watching.number("SELECT count(*) FROM prompt").await, 0);
    assert!(claim(&watching.store).await.is_some());
}

#[tokio::test]
async fn the_prompt_has_what_the_order_had() {
    let world = in_postgres().await;
    let by = world.caller("alice").await;
    let order = GenerationRequest {
        model_id: "local/plasma".into(),
        prompt: " A harbour".into(),
        kind: OutputKind::Video,
        aspect_ratio: "16:9".into(),
        image_input: Some("http://localhost/i.png".into()),
        reference_image_urls: vec!["http://localhost/r.png".into()],
        ..GenerationRequest::default()
    };
    let job = NewJob { request: order.into(), ..new("j", 1, None) };
    let job = reserved(&world.store, &by, job).await;
    world.store.job_submitted(&job.key, ticket()).await.unwrap();
    let lease = claim(&world.store).await.unwrap().lease;
    world.store.complete_job(&lease, vec![image(), image()]).await.unwrap();
    let rows = world
        .sql(
            "SELECT concat_ws('|', kind, title, body, model_id, aspect_ratio, image_url, \
             array_to_string(reference_media_urls, ','), platform IS NULL, \
             jsonb_array_length(images), created_at = updated_at, \
             created_at = '1970-01-01 00:00Z') FROM prompt",
            &[],
        )
        .await;
    assert_eq!(
        rows[0].get::<_, &str>(0),
        "video|A harbour| A harbour|local/plasma|16:9|http://localhost/i.png|\
         http://localhost/r.png|t|2|t|t"
    );
}

#[tokio::test]
async fn a_revoked_key_takes_no_job_on_and_sees_none() {
    let world = in_postgres().await;
    let by = world.caller("alice").await;
    queued(&world.store, &by, "j").await;
    world.sql("UPDATE api_key SET revoked_at = now() WHERE id = $1", &[&by.key.0]).await;
    for outcome in [
        world.store.job(&by, "j").await.map(drop),
        world.store.reserve_job(&by, new("j", 1, None)).await.map(drop),
        world.store.reserve_job(&by, new("k", 1, None)).await.map(drop),
    ] {
        assert!(matches!(outcome, Err(StoreError::KeyRevoked)), "{outcome:?}");
    }
    assert_eq!(world.number("SELECT count(*) FROM job").await, 1);
    let claim = world.store.claim_job(LEASE, LIMIT).await.unwrap();
    assert!(claim.is_some(), "what was taken on goes on");
}

#[tokio::test]
async fn an_unreadable_job_is_failed_and_holds_up_no_other() {
    let world = in_postgres().await;
    let (alice, bob) = (world.caller("alice").await, world.caller("bob").await);
    queued(&world.store, &alice, "unreadable").await;
    reserved(&world.store, &alice, new("unreadable too", 1, None)).await;
    let nested = format!(r#"{{"parameters":{{"a":{}{}}}}}"#, "[".repeat(126), "]".repeat(126));
    world.sql("UPDATE job SET job_order = $1::text::json", &[&nested]).await;
    world.pass(LIMIT);
    queued(&world.store, &bob, "good").await;
    assert_eq!(&*claim(&world.store).await.unwrap().job.key.client_job_id, "good");
    assert!(claim(&world.store).await.is_none());
    for (name, ticket) in [("unreadable", Some(ticket())), ("unreadable too", None)] {
        let job = world.store.job(&alice, name).await.unwrap();
        let reason = "the stored request cannot be read";
        assert_eq!(job.state, JobState::Failed(ticket, reason.into()), "{name}");
    }
}

#[tokio::test]
async fn a_request_that_would_not_read_back_is_not_stored() {
    let world = in_postgres().await;
    let by = world.caller("alice").await;
    let nested = |levels| {
        let value = (0..levels).fold(serde_json::Value::Null, |inner, _| vec![inner].into());
        let parameters = Some(serde_json::Map::from_iter([("a".to_owned(), value)]));
        let request = GenerationRequest { parameters, ..GenerationRequest::default() };
        NewJob { request: request.into(), ..new("j", 1, None) }
    };
    let outcome = world.store.reserve_job(&by, nested(126)).await;
    assert!(matches!(outcome, Err(StoreError::Broken(_))), "{outcome:?}");
    assert_eq!(world.number("SELECT count(*) FROM job").await, 0);
    let deepest = promptarium::limits::GENERATION_PARAMETERS_DEPTH_MAX - 1;
    reserved(&world.store, &by, nested(deepest)).await;
}
