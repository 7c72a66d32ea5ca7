//! What a caller may do after its key was revoked or its session has ended: nothing.

use std::sync::Arc;

use super::jobs::{claim, queued};
use super::{StoreUnderTest, contract_tests, key};
use crate::domain::AccountData;
use crate::store::differential::ops::{Action, Op, sequence};
use crate::store::differential::runner::Runner;
use crate::store::{Result, StoreError};

contract_tests! {
    every_method_refuses_a_revoked_key_and_an_ended_session_and_changes_nothing
}

async fn every_method_refuses_a_revoked_key_and_an_ended_session_and_changes_nothing(
    db: Arc<StoreUnderTest>,
) {
    let store = &*db.store;
    let mut runner = Runner::new(store).await;
    // Sessions that the runner starts would be among its callers.
    let is_wanted = |op: &Op| !matches!(op.action, Action::RenameAccount | Action::SignIn);
    for op in sequence(1, 200).into_iter().filter(is_wanted) {
        runner.apply(&op).await;
    }
    let live = runner.callers.clone();
    queued(store, &live[0], "one more").await;
    let (mut revoked, mut ended) = (Vec::new(), Vec::new());
    for (number, owner) in (0_u8..).zip(&live) {
        let (account, name) = (format!("account-{number}"), format!("revoked-{number}"));
        store.seed_key(&account, key(&name)).await.unwrap();
        revoked.push(store.find_key(&name, &[7; 32]).await.unwrap().unwrap().caller());
        let session = db.session(&account, 200 + number).await;
        ended.push(session.caller());
        for caller in [revoked.last(), ended.last()] {
            store.confirm_key(caller.unwrap()).await.unwrap();
        }
        store.revoke_api_key(owner, &name).await.unwrap();
        store.end_session(owner, session.id).await.unwrap();
        assert!(store.find_session([200 + number; 32]).await.unwrap().is_none());
    }
    let before = runner.snapshot(50, usize::MAX).await;
    for callers in [revoked, ended] {
        runner.callers = callers;
        for action in Action::of_accounts() {
            for seed in 0..3 {
                let result = runner.apply(&Op { action, seed }).await;
                assert_eq!(result, "Err(KeyRevoked)", "{action:?} with seed {seed}");
            }
        }
        let caller = &runner.callers[0];
        let results: [Result<()>; 6] = [
            store.vaults(caller).await.map(drop),
            store.prompt_inputs(caller, 1.into()).await.map(drop),
            store.sessions(caller).await.map(drop),
            store.api_keys(caller).await.map(drop),
            store.import(caller, AccountData::default()).await,
            store.delete_account(caller).await,
        ];
        for result in results {
            assert!(matches!(result, Err(StoreError::KeyRevoked)), "{result:?}");
        }
    }
    runner.callers = live;
    assert_eq!(runner.snapshot(50, usize::MAX).await, before);
    assert!(claim(store).await.is_some(), "a job that was accepted before continues");
}
