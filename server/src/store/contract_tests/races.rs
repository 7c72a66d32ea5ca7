//! Sign-ins, keys and jobs of many calls at once: what one of them gets no other one gets.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::concurrency::{ROUNDS, parallel};
use super::jobs::{claim, image, new, queued, reserved, ticket};
use super::{ALL_PROMPTS, StoreUnderTest, VAULTS_MAX, assert_error, contract_tests, key, named};
use crate::domain::{Claim, JobState, Reserved};
use crate::limits::API_KEYS_MAX;
use crate::store::{Result, StoreError};

contract_tests! {
    of_many_reservations_of_one_name_one_is_new
    of_many_sign_ins_with_one_code_one_starts_a_session
    keys_created_at_once_stay_within_the_limit
    vaults_created_and_forked_at_once_stay_within_the_limit
    of_many_keys_with_one_public_id_one_is_created
    no_two_claims_hold_one_job
    of_many_ends_under_one_lease_one_counts
    a_vault_that_is_deleted_at_the_end_of_a_job_loses_no_output
}

/// Asserts that so many calls succeeded, and that all others failed with this error.
fn succeeded<T>(results: Vec<Result<T>>, number: usize, error: &str) -> Vec<T> {
    let is_expected = |other: &StoreError| format!("{other:?}") == error;
    let others = results.iter().filter_map(|result| result.as_ref().err());
    assert!(others.clone().all(is_expected), "{:?}", others.collect::<Vec<_>>());
    let results: Vec<_> = results.into_iter().flatten().collect();
    assert_eq!(results.len(), number);
    results
}

async fn of_many_reservations_of_one_name_one_is_new(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    for round in 0..10 {
        let reservations = parallel(&db, &alice, 8, |db, alice, number| async move {
            let job = new(&format!("{round}"), u8::from(number % 2 == 0), None);
            db.store.reserve_job(&alice, job).await
        });
        let mut counts = [0; 3];
        for outcome in reservations.await {
            counts[match outcome {
                Ok(Reserved::New(_)) => 0,
                Ok(Reserved::Existing(_)) => 1,
                Err(StoreError::JobConflict) => 2,
                outcome => panic!("{outcome:?}"),
            }] += 1;
        }
        assert_eq!(counts, [1, 3, 4], "round {round}");
    }
}

async fn of_many_sign_ins_with_one_code_one_starts_a_session(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    for round in 0..10 {
        db.store.create_sign_in_code("alice", [round; 32]).await.unwrap();
        let sign_ins = parallel(&db, &alice, 8, |db, _, number| async move {
            let mut session = [round; 32];
            session[0] = 100 + u8::try_from(number).unwrap();
            db.store.sign_in([round; 32], session, None).await.unwrap()
        });
        let started: Vec<_> = sign_ins.await.into_iter().flatten().collect();
        assert_eq!(started.len(), 1, "{started:?}");
        assert_eq!(db.store.sessions(&alice).await.unwrap().len(), usize::from(round) + 1);
    }
}

async fn keys_created_at_once_stay_within_the_limit(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    // The caller's own key counts, a session does not.
    db.session("alice", 1).await;
    for number in 4..API_KEYS_MAX {
        db.store.create_api_key(&alice, key(&format!("k{number}"))).await.unwrap();
    }
    let creations = parallel(&db, &alice, 10, |db, alice, number| async move {
        db.store.create_api_key(&alice, key(&format!("new{number}"))).await
    });
    succeeded(creations.await, 3, "TooManyKeys");
    db.store.revoke_api_key(&alice, "k4").await.unwrap();
    db.store.create_api_key(&alice, key("one-more")).await.unwrap();
}

async fn vaults_created_and_forked_at_once_stay_within_the_limit(db: Arc<StoreUnderTest>) {
    let (alice, bob) = (db.caller("alice").await, db.caller("bob").await);
    let source = db.public(&bob, &[]).await;
    // General counts.
    for _ in 4..VAULTS_MAX {
        db.private(&alice, &[]).await;
    }
    let creations = parallel(&db, &alice, 10, |db, alice, number| async move {
        match number % 2 {
            0 => db.store.fork_vault(&alice, source).await,
            _ => db.store.create_vault(&alice, named("Sky")).await,
        }
    });
    let created = succeeded(creations.await, 3, "TooManyVaults");
    assert_eq!(db.store.vaults(&alice).await.unwrap().len(), VAULTS_MAX);
    db.store.delete_vault(&alice, created[0].id).await.unwrap();
    db.store.create_vault(&alice, named("Sky")).await.unwrap();
    assert_error!(db.store.fork_vault(&alice, source).await, StoreError::TooManyVaults);
}

async fn of_many_keys_with_one_public_id_one_is_created(db: Arc<StoreUnderTest>) {
    let callers = [db.caller("alice").await, db.caller("bob").await];
    for round in 0..10 {
        let creations = parallel(&db, &callers[0], 8, |db, _, number| {
            let caller = callers[number % 2].clone();
            async move { db.store.create_api_key(&caller, key(&format!("k{round}"))).await }
        });
        succeeded(creations.await, 1, "KeyTaken");
    }
}

async fn no_two_claims_hold_one_job(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    for number in 0..200 {
        queued(&*db.store, &alice, &format!("{number}")).await;
    }
    let work = |db: Arc<StoreUnderTest>, _, _| async move {
        let mut names = Vec::new();
        while let Some(claim) = claim(&*db.store).await {
            names.push(claim.job.key.client_job_id);
        }
        names
    };
    let mut names = parallel(&db, &alice, 8, work).await.concat();
    // A worker that found only jobs which others had locked has stopped early.
    names.extend(parallel(&db, &alice, 1, work).await.concat());
    assert_eq!(names.len(), 200);
    assert_eq!(names.into_iter().collect::<BTreeSet<_>>().len(), 200);
}

async fn of_many_ends_under_one_lease_one_counts(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    for round in 0..10 {
        queued(&*db.store, &alice, &format!("{round}")).await;
        let claim = Arc::new(claim(&*db.store).await.unwrap());
        let ends = parallel(&db, &alice, 6, |db, _, number| {
            let claim = claim.clone();
            async move {
                let Claim { lease, job, .. } = &*claim;
                match number % 3 {
                    0 => db.store.fail_job(lease, "as asked").await,
                    _ => db.store.complete_job(lease, &job.request, vec![image()]).await.map(drop),
                }
            }
        });
        succeeded(ends.await, 1, "LeaseLost");
    }
}

async fn a_vault_that_is_deleted_at_the_end_of_a_job_loses_no_output(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    for round in 0..ROUNDS {
        let (vault, name) = (db.public(&alice, &[]).await, format!("{round}"));
        let job = reserved(&*db.store, &alice, new(&name, 1, Some(vault))).await;
        db.store.job_submitted(&job.key, ticket()).await.unwrap();
        let Claim { lease, job, .. } = claim(&*db.store).await.unwrap();
        let completing = parallel(&db, &alice, 1, |db, _, _| {
            let (lease, request) = (lease.clone(), job.request.clone());
            async move { db.store.complete_job(&lease, &request, vec![image()]).await.unwrap() }
        });
        let (prompt, deleted) = tokio::join!(completing, db.store.delete_vault(&alice, vault));
        deleted.unwrap();
        let state = db.store.job(&alice, &name).await.unwrap().state;
        assert_eq!(state, JobState::Completed(ticket(), prompt[0]));
    }
    // The output is in General or in no vault.
    assert_eq!(db.pages(&alice, ALL_PROMPTS).await.len(), ROUNDS);
}
