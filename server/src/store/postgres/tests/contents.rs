//! Contents of large vaults, and slow readers.

use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt};
use promptarium::VaultId;

use super::{caller, fill, number, store};
use crate::domain::{Caller, ListedPrompt, Membership};
use crate::limits::SMALL_VAULT_PROMPTS as BATCH;
use crate::store::Store as _;
use crate::store::StoreError;
use crate::store::contract_tests::named;
use crate::store::postgres::PostgresStore;
use crate::store::prelude::*;

/// A transaction that waits for its client, or a statement that does.
const OPEN: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
     AND pid <> pg_backend_pid() AND (state LIKE '%in transaction%' OR wait_event = 'ClientWrite')";

async fn new_vault(store: &PostgresStore, caller: &Caller) -> VaultId {
    store.create_vault(caller, named("Sky")).await.unwrap().id
}

async fn all(store: &PostgresStore, caller: &Caller, vault: VaultId) -> Vec<ListedPrompt> {
    store.contents(caller, vault).await.unwrap().entries.try_collect().await.unwrap()
}

#[tokio::test]
async fn a_vault_of_any_size_is_read_completely_and_in_order() {
    let (store, _database) = store().await;
    let alice = caller(&store, "alice").await;
    let batch = i64::try_from(BATCH).unwrap();
    for size in [0, 1, batch - 1, batch, batch + 1, 2 * batch, 5 * batch + 3] {
        let vault = new_vault(&store, &alice).await;
        fill(&store, &alice, vault, size, 9).await;
        let ids: Vec<_> =
            all(&store, &alice, vault).await.iter().map(|one| one.membership).collect();
        assert_eq!(ids.len(), usize::try_from(size).unwrap());
        assert!(ids.is_sorted_by(|a, b| a > b), "{size} prompts are out of order");
    }
}

#[tokio::test]
async fn a_slow_reader_gets_the_members_of_one_instant_without_prompts_deleted_meanwhile() {
    let (store, _database) = store().await;
    let alice = caller(&store, "alice").await;
    let vault = new_vault(&store, &alice).await;
    fill(&store, &alice, vault, 300, 9).await;
    let mut contents = store.contents(&alice, vault).await.unwrap();
    let first = contents.entries.next().await.unwrap().unwrap();
    let last = all(&store, &alice, vault).await.pop().unwrap();
    store.set_pinned(&alice, Membership { vault, id: last.membership }, true).await.unwrap();
    store.delete_prompt(&alice, first.prompt.id).await.unwrap();
    let gone = first.prompt.id.get() - 100;
    store.delete_prompt(&alice, gone.into()).await.unwrap();
    store.delete_vault(&alice, vault).await.unwrap();
    let rest: Vec<_> = contents.entries.try_collect().await.unwrap();
    assert_eq!(rest.len(), 298);
    assert!(rest.iter().all(|listed| listed.prompt.id.get() != gone && !listed.pinned));
    assert_eq!(rest.last().unwrap().membership, last.membership);
}

#[tokio::test]
async fn slow_readers_hold_no_connection_and_delay_nobody() {
    let (store, _database) = store().await;
    let bob = caller(&store, "bob").await;
    let large = new_vault(&store, &bob).await;
    fill(&store, &bob, large, 200, 9).await;
    let mut held = Vec::new();
    for name in ["alice", "carol", "dave", "erin"] {
        let reader = caller(&store, name).await;
        let vault = new_vault(&store, &reader).await;
        fill(&store, &reader, vault, 300, 15_000).await;
        for _ in 0..10 {
            let mut contents = store.contents(&reader, vault).await.unwrap();
            contents.entries.next().await.unwrap().unwrap();
            held.push(contents);
        }
    }
    assert_eq!(number(&store, OPEN).await, 0);
    for gauge in store.gauges().iter().filter(|gauge| gauge.name != "database_waiting") {
        let busy = gauge.values.iter().filter(|(state, _)| ["", "busy"].contains(state));
        assert!(busy.clone().count() == 1 && busy.clone().all(|(_, used)| *used == 0), "{gauge:?}");
    }
    assert!(store.quotas().iter().all(|quota| quota.usage().used == 0));
    let began = Instant::now();
    assert_eq!(all(&store, &bob, large).await.len(), 200);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert!(held[0].bytes <= 3 << 20, "{} bytes", held[0].bytes);
    assert_eq!(held.pop().unwrap().entries.count().await, 299);
}

#[tokio::test]
async fn a_key_that_is_revoked_ends_the_list() {
    let (store, _database) = store().await;
    let alice = caller(&store, "alice").await;
    let vault = new_vault(&store, &alice).await;
    fill(&store, &alice, vault, 300, 9).await;
    let mut contents = store.contents(&alice, vault).await.unwrap();
    contents.entries.next().await.unwrap().unwrap();
    store.revoke_api_key(&alice, "key-of-alice").await.unwrap();
    let rest: Vec<_> = contents.entries.collect().await;
    assert!(matches!(rest.last(), Some(Err(StoreError::KeyRevoked))), "{:?}", rest.last());
}
