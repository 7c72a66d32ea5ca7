use super::super::PostgresStore;
use super::super::tests::{caller, store};
use super::*;
use crate::store::Store as _;

fn key(public_id: &str) -> NewKey {
    NewKey { public_id: public_id.into(), digest: [7; 32], scopes: Scopes::ALL, revoked: false }
}

/// Everything there is of accounts, vaults and keys.
async fn counts(store: &PostgresStore) -> [i64; 3] {
    let client = store.db.exclusive().await.unwrap();
    let mut counts = [0; 3];
    for (count, table) in counts.iter_mut().zip(["account", "vault", "api_key"]) {
        let row = client.query_one(&format!("SELECT count(*) FROM {table}"), &[]).await.unwrap();
        *count = row.get(0);
    }
    counts
}

#[tokio::test]
async fn a_seeded_key_is_found_as_it_was_given() {
    let (store, _database) = store().await;
    let readonly = NewKey { scopes: Scopes::default(), digest: [9; 32], ..key("b") };
    let revoked = NewKey { revoked: true, ..key("c") };
    for key in [key("a"), readonly, revoked] {
        store.seed_key("alice", key.clone()).await.unwrap();
        let found = store.find_key(&key.public_id).await.unwrap().unwrap();
        assert_eq!(found.key, key);
        assert_eq!(store.find_key(&key.public_id).await.unwrap().unwrap(), found);
    }
    assert_eq!(counts(&store).await, [1, 1, 3]);
    assert_eq!(store.find_key("d").await.unwrap(), None);
}

#[tokio::test]
async fn the_same_seed_again_changes_nothing() {
    let (store, _database) = store().await;
    for _ in 0..2 {
        store.seed_key("alice", key("a")).await.unwrap();
        assert_eq!(counts(&store).await, [1, 1, 1]);
    }
}

#[tokio::test]
async fn another_key_of_the_same_public_id_is_refused_and_makes_no_account() {
    let (store, _database) = store().await;
    store.seed_key("alice", key("a")).await.unwrap();
    store.seed_key("bob", key("b")).await.unwrap();
    let before = counts(&store).await;
    for (account, other) in [
        ("bob", key("a")),
        ("carol", key("a")),
        ("alice", NewKey { digest: [8; 32], ..key("a") }),
        ("alice", NewKey { scopes: Scopes::default(), ..key("a") }),
        ("alice", NewKey { revoked: true, ..key("a") }),
    ] {
        let refused = store.seed_key(account, other.clone()).await;
        assert!(matches!(refused, Err(StoreError::KeyTaken)), "{account} {other:?} {refused:?}");
    }
    assert_eq!(counts(&store).await, before);
}

#[tokio::test]
async fn many_seeds_at_once_make_one_account() {
    let (store, _database) = store().await;
    let seeds = (0..16).map(|number| store.seed_key("alice", key(["a", "b"][number % 2])));
    futures::future::try_join_all(seeds).await.unwrap();
    assert_eq!(counts(&store).await, [1, 1, 2]);
}

#[tokio::test]
async fn only_an_empty_database_gets_a_first_key() {
    let (store, _database) = store().await;
    let names: Vec<_> = (0..8).map(|number| key(&format!("k{number}"))).collect();
    let firsts = names.iter().map(|key| store.seed_first_key("default", key));
    let made = futures::future::try_join_all(firsts).await.unwrap();
    assert_eq!(made.iter().filter(|made| **made).count(), 1);
    assert_eq!(counts(&store).await, [1, 1, 1]);

    let (store, _database) = super::super::tests::store().await;
    store.create_account("alice").await.unwrap();
    assert!(!store.seed_first_key("default", &key("a")).await.unwrap());
    assert_eq!(counts(&store).await, [1, 1, 0]);
}

#[tokio::test]
async fn a_revoked_key_is_not_confirmed_and_then_found_revoked() {
    let (store, _database) = store().await;
    let caller = caller(&store, "alice").await;
    store.confirm_key(&caller).await.unwrap();
    store.revoke_key("key-of-alice").await.unwrap().unwrap();
    // Still remembered as it was, until somebody asks.
    assert!(!store.find_key("key-of-alice").await.unwrap().unwrap().key.revoked);
    let refused = store.confirm_key(&caller).await;
    assert!(matches!(refused, Err(StoreError::KeyRevoked)), "{refused:?}");
    assert!(store.find_key("key-of-alice").await.unwrap().unwrap().key.revoked);
}

#[tokio::test]
async fn a_key_is_made_only_for_an_account_that_is_there() {
    let (store, _database) = store().await;
    assert!(!store.create_key("alice", &key("a")).await.unwrap());
    store.create_account("alice").await.unwrap();
    assert!(store.create_key("alice", &key("a")).await.unwrap());
    assert_eq!(store.find_key("a").await.unwrap().unwrap().key, key("a"));
}

#[tokio::test]
async fn keys_are_listed_by_account_and_age() {
    let (store, _database) = store().await;
    assert_eq!(store.keys_of("bob").await.unwrap(), None);
    for account in ["alice", "bob", "carol"] {
        store.create_account(account).await.unwrap();
    }
    for (account, public_id) in [("bob", "b1"), ("alice", "a1"), ("bob", "b2")] {
        store.create_key(account, &key(public_id)).await.unwrap();
    }
    let ids = |entries: Vec<keep::KeyEntry>| {
        entries.into_iter().map(|entry| entry.public_id).collect::<Vec<_>>()
    };
    assert_eq!(ids(store.keys().await.unwrap()), ["a1", "b1", "b2"]);
    assert_eq!(ids(store.keys_of("bob").await.unwrap().unwrap()), ["b1", "b2"]);
    assert_eq!(store.keys_of("carol").await.unwrap(), Some(Vec::new()));
}

#[tokio::test]
async fn a_key_is_revoked_once_and_for_good() {
    let (store, _database) = store().await;
    store.seed_key("alice", key("a")).await.unwrap();
    let first = store.revoke_key("a").await.unwrap().unwrap();
    assert!(first.revoked_at.is_some());
    assert_eq!(store.revoke_key("a").await.unwrap(), Some(first));
    assert_eq!(store.revoke_key("b").await.unwrap(), None);
}
