//! Keys and accounts of the operator, and revocation.

use super::{caller, number, store};
use crate::domain::{Caller, PromptKind, PromptPatch};
use crate::store::contract_tests::{named, new_prompt};
use crate::store::prelude::*;
use crate::store::{Result, StoreError};

#[tokio::test]
async fn a_key_in_the_cache_is_stale_until_it_is_confirmed() {
    let (store, _database) = store().await;
    let alice = caller(&store, "alice").await;
    store.confirm_key(&alice).await.unwrap();
    store.revoke_key("key-of-alice").await.unwrap().unwrap();
    assert!(!store.find_key("key-of-alice", &[7; 32]).await.unwrap().unwrap().is_revoked());
    assert!(matches!(store.confirm_key(&alice).await, Err(StoreError::KeyRevoked)));
    assert!(store.find_key("key-of-alice", &[7; 32]).await.unwrap().unwrap().is_revoked());
}

/// The account comes from a cache, and the statement checks it.
#[tokio::test]
async fn a_key_is_refused_with_another_account() {
    let (store, _database) = store().await;
    let (alice, bob) = (caller(&store, "alice").await, caller(&store, "bob").await);
    let prompt = store.create_prompt(&bob, new_prompt(PromptKind::Text, None)).await.unwrap().id;
    let mixed = Caller { account: bob.account, ..alice };
    let title = PromptPatch { title: Some("x".into()), ..PromptPatch::default() };
    let results: [Result<()>; 6] = [
        store.confirm_key(&mixed).await,
        store.prompt(&mixed, prompt).await.map(drop),
        store.update_prompt(&mixed, prompt, title).await.map(drop),
        store.delete_prompt(&mixed, prompt).await,
        store.create_prompt(&mixed, new_prompt(PromptKind::Text, None)).await.map(drop),
        store.create_vault(&mixed, named("Sky")).await.map(drop),
    ];
    for (number, result) in results.iter().enumerate() {
        assert!(matches!(result, Err(StoreError::KeyRevoked)), "{number}: {result:?}");
    }
    assert_eq!(&*store.prompt(&bob, prompt).await.unwrap().title, "A title");
}

#[tokio::test]
async fn a_session_is_no_key_of_the_operator() {
    let (store, _database) = store().await;
    caller(&store, "alice").await;
    store.create_sign_in_code("alice", [1; 32]).await.unwrap();
    store.sign_in([1; 32], [2; 32], None).await.unwrap().unwrap();
    assert_eq!(number(&store, "SELECT count(*) FROM api_key").await, 2);
    for account in [None, Some("alice")] {
        assert_eq!(store.keys(account).await.unwrap().len(), 1);
    }
    let rows = super::query(&store, "SELECT public_id FROM api_key ORDER BY id DESC", &[]).await;
    let public_id: &str = rows[0].get(0);
    assert!(public_id.starts_with("session_"), "{public_id}");
    assert_eq!(store.find_key(public_id, &[7; 32]).await.unwrap(), None);
    assert_eq!(store.revoke_key(public_id).await.unwrap(), None);
    assert!(store.find_session([2; 32]).await.unwrap().is_some());
}
