//! What the operator does, and what the servers of a store remember together.

use std::sync::Arc;

use futures::future::try_join_all;

use super::{StoreUnderTest, assert_error, contract_tests, key};
use crate::domain::KeyEntry;
use crate::store::{Replace, StoreError};

contract_tests! {
    accounts_and_keys_are_listed_in_the_order_in_which_they_were_created
    a_key_is_revoked_once_and_permanently
    of_concurrent_first_keys_one_is_created
    a_setting_is_replaced_only_if_that_is_asked_for
    all_servers_of_a_store_get_one_signing_key_and_all_public_urls
}

fn public_ids(keys: &[KeyEntry]) -> Vec<(&str, &str)> {
    keys.iter().map(|entry| (&*entry.account, &*entry.key.public_id)).collect()
}

async fn accounts_and_keys_are_listed_in_the_order_in_which_they_were_created(
    db: Arc<StoreUnderTest>,
) {
    let store = &db.store;
    for (account, is_new) in [("bob", true), ("alice", true), ("bob", false)] {
        assert_eq!(store.create_account(account).await.unwrap(), is_new, "{account}");
    }
    for (account, id, exists) in
        [("alice", "a1", true), ("bob", "b1", true), ("alice", "a2", true), ("carol", "c1", false)]
    {
        assert_eq!(store.create_key(account, &key(id)).await.unwrap(), exists, "{id}");
    }
    let accounts = store.accounts().await.unwrap();
    assert_eq!(accounts.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["bob", "alice"]);
    let all = store.keys(None).await.unwrap();
    assert_eq!(public_ids(&all), [("bob", "b1"), ("alice", "a1"), ("alice", "a2")]);
    assert_eq!(store.keys(Some("alice")).await.unwrap(), all[1..]);
    assert_error!(store.keys(Some("carol")).await, StoreError::NotFound);
    store.create_account("dave").await.unwrap();
    assert_eq!(store.keys(Some("dave")).await.unwrap(), []);
    let caller = all[0].key.caller();
    assert!(db.general(&caller).await.system);
}

async fn a_key_is_revoked_once_and_permanently(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let first = db.store.revoke_key("key-of-alice").await.unwrap().unwrap();
    assert!(first.key.revoked_at.is_some());
    assert_error!(db.store.confirm_key(&alice).await, StoreError::KeyRevoked);
    db.clock.advance(std::time::Duration::from_secs(1));
    assert_eq!(db.store.revoke_key("key-of-alice").await.unwrap(), Some(first));
    assert_eq!(db.store.revoke_key("b").await.unwrap(), None);
}

async fn of_concurrent_first_keys_one_is_created(db: Arc<StoreUnderTest>) {
    let ids: Vec<_> = (0..4).map(|number| key(&format!("first{number}"))).collect();
    let created = ids.iter().map(|key| db.store.seed_first_key("default", key));
    let created = try_join_all(created).await.unwrap();
    assert_eq!(created.iter().filter(|is_created| **is_created).count(), 1, "{created:?}");
    assert_eq!(db.store.keys(None).await.unwrap().len(), 1);
}

async fn a_setting_is_replaced_only_if_that_is_asked_for(db: Arc<StoreUnderTest>) {
    for (value, replace, result) in [
        ("a", Replace::Only(b"x"), "a"),
        ("b", Replace::None, "a"),
        ("b", Replace::Only(b"b"), "a"),
        ("b", Replace::Only(b"a"), "b"),
        ("c", Replace::Any, "c"),
    ] {
        let set = db.store.set("name", value.as_bytes(), replace).await.unwrap();
        assert_eq!(set, result.as_bytes(), "{value} {replace:?}");
    }
    assert_eq!(db.store.settings().await.unwrap()["name"], b"c");
}

async fn all_servers_of_a_store_get_one_signing_key_and_all_public_urls(db: Arc<StoreUnderTest>) {
    let keys = try_join_all((0..8).map(|_| db.store.signing_key())).await.unwrap();
    assert!(keys.iter().all(|key| *key == keys[0] && key.len() == 32));
    assert_eq!(db.store.last_public_url().await.unwrap(), None);
    for url in ["https://b.example", "https://a.example", "https://b.example"] {
        db.store.add_public_url(url).await.unwrap();
        db.store.set_last_public_url(url).await.unwrap();
    }
    let mut urls = db.store.add_public_url("https://a.example").await.unwrap();
    urls.sort();
    assert_eq!(urls, ["https://a.example", "https://b.example"]);
    assert_eq!(db.store.last_public_url().await.unwrap().unwrap(), "https://b.example");
}
