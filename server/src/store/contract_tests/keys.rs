//! Keys and accounts.

use std::sync::Arc;

use super::{StoreUnderTest, assert_error, contract_tests, key};
use crate::domain::{NewKey, Scopes, VaultVisibility};
use crate::store::StoreError;

contract_tests! {
    a_seeded_account_has_one_private_system_vault_called_general
    a_seeded_key_is_found_as_it_was_given
    the_same_seed_again_changes_nothing
    another_key_with_the_same_public_id_is_refused_and_creates_no_account
}

async fn a_seeded_account_has_one_private_system_vault_called_general(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let vaults = db.store.vaults(&alice).await.unwrap();
    let [general] = &vaults[..] else { panic!("{vaults:?}") };
    assert_eq!((&*general.name, &*general.slug), ("General", "general"));
    assert_eq!((general.system, general.prompt_count), (true, 0));
    assert_eq!(general.visibility, VaultVisibility::Private);
}

async fn a_seeded_key_is_found_as_it_was_given(db: Arc<StoreUnderTest>) {
    let read_only = NewKey { scopes: Scopes::default(), digest: [9; 32], ..key("b") };
    let revoked = NewKey { revoked: true, ..key("c") };
    let mut accounts = Vec::new();
    for key in [key("a"), read_only, revoked] {
        db.store.seed_key("alice", key.clone()).await.unwrap();
        let found = db.store.find_key(&key.public_id).await.unwrap().unwrap();
        assert_eq!(found.key, key);
        assert_eq!(db.store.find_key(&key.public_id).await.unwrap(), Some(found.clone()));
        accounts.push(found.account);
    }
    accounts.dedup();
    assert_eq!(accounts.len(), 1);
    assert_eq!(db.store.find_key("d").await.unwrap(), None);
}

async fn the_same_seed_again_changes_nothing(db: Arc<StoreUnderTest>) {
    let first = db.caller("alice").await;
    assert_eq!(db.caller("alice").await, first);
    assert_eq!(db.store.vaults(&first).await.unwrap().len(), 1);
    db.store.confirm_key(&first).await.unwrap();
}

async fn another_key_with_the_same_public_id_is_refused_and_creates_no_account(
    db: Arc<StoreUnderTest>,
) {
    db.store.seed_key("alice", key("a")).await.unwrap();
    db.store.seed_key("bob", key("b")).await.unwrap();
    for (account, other) in [
        ("bob", key("a")),
        ("carol", key("a")),
        ("alice", NewKey { digest: [8; 32], ..key("a") }),
        ("alice", NewKey { scopes: Scopes::default(), ..key("a") }),
        ("alice", NewKey { revoked: true, ..key("a") }),
    ] {
        assert_error!(db.store.seed_key(account, other).await, StoreError::KeyTaken);
    }
    assert_eq!(db.accounts().await, 2);
}
