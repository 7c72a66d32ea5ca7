//! Many at once, on more than one store.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::task::JoinSet;

use super::{InPostgres, StoreUnderTest, in_real_time};
use crate::domain::Reserved;
use crate::store::jobs::contract_tests::{LEASE, LIMIT, claim, image, is_lost, new, queued};
use crate::store::postgres::PostgresStore;
use crate::store::{JobQueue as _, JobStore as _, StoreError};

/// Two stores, to be used in turn.
async fn two(world: &InPostgres) -> [PostgresStore; 2] {
    [world.store.clone(), world.another_store().await]
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_reservations_at_once_one_is_new() {
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    let stores = two(&world).await;
    for round in 0..10 {
        let mut reservations = JoinSet::new();
        for at in 0..8 {
            let (store, by) = (stores[at % 2].clone(), by.clone());
            let job = new(&format!("{round}"), 1, None);
            reservations.spawn(async move { store.reserve_job(&by, job).await.unwrap() });
        }
        let all = reservations.join_all().await;
        let made = all.iter().filter(|one| matches!(one, Reserved::New(_))).count();
        assert_eq!(made, 1, "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_requests_at_once_under_one_name_all_but_one_are_refused() {
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    let stores = two(&world).await;
    let mut reservations = JoinSet::new();
    for at in 0..8_u8 {
        let (store, by) = (stores[usize::from(at % 2)].clone(), by.clone());
        reservations.spawn(async move { store.reserve_job(&by, new("j", at, None)).await });
    }
    let mut made = 0;
    for outcome in reservations.join_all().await {
        match outcome {
            Ok(Reserved::New(_)) => made += 1,
            Err(StoreError::JobConflict) => {}
            outcome => panic!("{outcome:?}"),
        }
    }
    assert_eq!(made, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_workers_claim_two_hundred_jobs_and_each_of_them_once() {
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    for at in 0..200 {
        queued(&world.store, &by, &format!("{at}")).await;
    }
    let stores = two(&world).await;
    let mut workers = JoinSet::new();
    for at in 0..8 {
        let store = stores[at % 2].clone();
        workers.spawn(async move {
            let mut names = Vec::new();
            while let Some(claim) = claim(&store).await {
                names.push(claim.job.key.client_job_id);
            }
            names
        });
    }
    let mut names = workers.join_all().await.concat();
    // A worker that found only jobs which others looked at has stopped early.
    while let Some(claim) = claim(&world.store).await {
        names.push(claim.job.key.client_job_id);
    }
    assert_eq!(names.len(), 200);
    assert_eq!(names.into_iter().collect::<BTreeSet<_>>().len(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_ends_at_once_under_one_lease_one_counts() {
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    let stores = two(&world).await;
    for round in 0..10 {
        queued(&world.store, &by, &format!("{round}")).await;
        let lease = Arc::new(claim(&world.store).await.unwrap().lease);
        let mut ends = JoinSet::new();
        for at in 0..6 {
            let (store, lease) = (stores[at % 2].clone(), lease.clone());
            ends.spawn(async move {
                match at % 3 {
                    0 => store.fail_job(&lease, "as asked").await,
                    _ => store.complete_job(&lease, vec![image()]).await.map(drop),
                }
            });
        }
        let ends = ends.join_all().await;
        assert_eq!(ends.iter().filter(|end| end.is_ok()).count(), 1, "{ends:?}");
        assert_eq!(ends.iter().filter(|end| is_lost(end)).count(), 5, "{ends:?}");
    }
    world.check().await;
}

#[tokio::test]
async fn a_row_that_a_claim_looks_at_holds_up_no_other_claim() {
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    queued(&world.store, &by, "a").await;
    queued(&world.store, &by, "b").await;
    world
        .behind
        .batch_execute("BEGIN; SELECT FROM job WHERE client_job_id = 'a' FOR UPDATE")
        .await
        .unwrap();
    let claim = world.store.claim_job(LEASE, LIMIT);
    let claim = tokio::time::timeout(LEASE, claim).await.unwrap().unwrap().unwrap();
    assert_eq!(&*claim.job.key.client_job_id, "b");
    world.behind.batch_execute("COMMIT").await.unwrap();
}
