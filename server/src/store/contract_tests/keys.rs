//! Keys and accounts.

use std::sync::Arc;

use futures::future::try_join_all;

use super::{StoreUnderTest, assert_error, contract_tests, key};
use crate::domain::{NewKey, Scopes, VaultVisibility};
use crate::store::StoreError;

contract_tests! {
    a_seeded_account_has_one_private_system_vault_called_general
    a_seeded_key_is_found_as_it_was_given
    the_same_seed_again_changes_nothing
    another_key_with_the_same_public_id_is_refused_and_creates_no_account
    concurrent_seeds_create_one_account
}

async fn a_seeded_account_has_one_private_system_vault_called_general(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let vaults = on.store.vaults(&by).await.unwrap();
    let [general] = &vaults[..] else { panic!("{vaults:?}") };
    assert_eq!((&*general.name, &*general.slug), ("General", "general"));
    assert_eq!((general.system, general.prompt_count), (true, 0));
    assert_eq!(general.visibility, VaultVisibility::Private);
}

async fn a_seeded_key_is_found_as_it_was_given(on: Arc<StoreUnderTest>) {
    let read_only = NewKey { scopes: Scopes::default(), digest: [9; 32], ..key("b") };
    let revoked = NewKey { revoked: true, ..key("c") };
    let mut accounts = Vec::new();
    for key in [key("a"), read_only, revoked] {
        on.store.seed_key("alice", key.clone()).await.unwrap();
        let found = on.store.find_key(&key.public_id).await.unwrap().unwrap();
        assert_eq!(found.key, key);
        assert_eq!(on.store.find_key(&key.public_id).await.unwrap(), Some(found.clone()));
        accounts.push(found.account);
    }
    accounts.dedup();
    assert_eq!(accounts.len(), 1);
    assert_eq!(on.store.find_key("d").await.unwrap(), None);
}

async fn the_same_seed_again_changes_nothing(on: Arc<StoreUnderTest>) {
    let first = on.caller("alice").await;
    assert_eq!(on.caller("alice").await, first);
    assert_eq!(on.store.vaults(&first).await.unwrap().len(), 1);
    on.store.confirm_key(&first).await.unwrap();
}

async fn another_key_with_the_same_public_id_is_refused_and_creates_no_account(
    on: Arc<StoreUnderTest>,
) {
    on.store.seed_key("alice", key("a")).await.unwrap();
    on.store.seed_key("bob", key("b")).await.unwrap();
    for (account, other) in [
        ("bob", key("a")),
        ("carol", key("a")),
        ("alice", NewKey { digest: [8; 32], ..key("a") }),
        ("alice", NewKey { scopes: Scopes::default(), ..key("a") }),
        ("alice", NewKey { revoked: true, ..key("a") }),
    ] {
        assert_error!(on.store.seed_key(account, other).await, StoreError::KeyTaken);
    }
    assert_eq!(on.accounts().await, 2);
}

async fn concurrent_seeds_create_one_account(on: Arc<StoreUnderTest>) {
    let seeds = (0..16).map(|number| {
        let on = Arc::clone(&on);
        tokio::spawn(async move { on.store.seed_key("alice", key(["a", "b"][number % 2])).await })
    });
    for seeded in try_join_all(seeds).await.unwrap() {
        seeded.unwrap();
    }
    assert_eq!(on.accounts().await, 1);
}
