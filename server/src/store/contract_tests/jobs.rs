//! What the differential test does not reach of jobs, and helpers for tests with jobs.

use std::sync::Arc;
use std::time::Duration;

use promptarium::VaultId;

use super::{StoreUnderTest, contract_tests};
use crate::domain::{
    Caller, Claim, GenerationRequest, JobRecord, NewJob, PromptImage, ProviderTicket, Reserved,
    Turn,
};
use crate::store::Store;

contract_tests! {
    accounts_take_turns_however_many_jobs_one_has
}

pub(in crate::store) const LEASE: Duration = Duration::from_secs(20);
pub(in crate::store) const LIMIT: Duration = Duration::from_secs(120);
pub(in crate::store) const SECOND: Duration = Duration::from_secs(1);

pub(in crate::store) fn new(name: &str, digest: u8, vault: Option<VaultId>) -> NewJob {
    let request = GenerationRequest { prompt: "A harbour".into(), ..GenerationRequest::default() };
    NewJob { client_job_id: name.into(), digest: [digest; 32], request: request.into(), vault }
}

pub(in crate::store) fn ticket() -> ProviderTicket {
    ProviderTicket { request_id: "r".into(), provider_state: "m".into() }
}

pub(in crate::store) async fn reserved(
    store: &dyn Store,
    caller: &Caller,
    new: NewJob,
) -> JobRecord {
    match store.reserve_job(caller, new).await.expect("the name is free") {
        Reserved::New(job) => job,
        Reserved::Existing(job) => panic!("{job:?}"),
    }
}

pub(in crate::store) async fn queued(store: &dyn Store, caller: &Caller, name: &str) -> JobRecord {
    let job = reserved(store, caller, new(name, 1, None)).await;
    store.job_submitted(&job.key, ticket()).await.expect("it is being submitted")
}

pub(in crate::store) async fn claim(store: &dyn Store) -> Option<Claim> {
    claim_by(store, &Turn::default()).await
}

async fn claim_by(store: &dyn Store, turn: &Turn) -> Option<Claim> {
    store.claim_job(LEASE, turn).await.expect("the store does not fail")
}

pub(in crate::store) fn image() -> PromptImage {
    let created_at = jiff::Timestamp::from_microsecond(8_000_001).unwrap();
    PromptImage { source: "0123456789abcdefghijklmno0.png".into(), width: 1, height: 2, created_at }
}

async fn accounts_take_turns_however_many_jobs_one_has(db: Arc<StoreUnderTest>) {
    let store = &*db.store;
    let (alice, bob, carol) =
        (db.caller("alice").await, db.caller("bob").await, db.caller("carol").await);
    for at in 0..4 {
        queued(store, &bob, &format!("b{at}")).await;
        db.clock.advance(SECOND);
    }
    queued(store, &carol, "c").await;
    queued(store, &alice, "a0").await;
    db.clock.advance(SECOND);
    queued(store, &alice, "a1").await;
    let mut turn = Turn::default();
    let mut order = Vec::new();
    for _ in 0..4 {
        let claim = claim_by(store, &turn).await.unwrap();
        turn.after = claim.job.key.account;
        order.push(claim.job.key.client_job_id.to_string());
    }
    assert_eq!(order, ["a0", "b0", "c", "a1"]);
    turn.except = vec![bob.account];
    assert!(claim_by(store, &turn).await.is_none());
    turn.except = vec![alice.account, carol.account];
    for after in [alice.account, bob.account, carol.account] {
        turn.after = after;
        assert_eq!(claim_by(store, &turn).await.unwrap().job.key.account, bob.account);
    }
    assert!(claim_by(store, &turn).await.is_none());
}
