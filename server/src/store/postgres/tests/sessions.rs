//! Sessions and keys of one database on several servers, and in the lists of the operator.

use futures::future::try_join;

use super::{caller, number, store, store_in};
use crate::clock::Clock;
use crate::domain::SessionRecord;
use crate::store::StoreError;
use crate::store::contract_tests::named_key;
use crate::store::postgres::PostgresStore;
use crate::store::prelude::*;

async fn session(store: &PostgresStore, account: &str) -> SessionRecord {
    store.create_sign_in_code(account, [1; 32]).await.unwrap();
    store.sign_in([1; 32], [2; 32], None).await.unwrap().unwrap()
}

#[tokio::test]
async fn of_two_servers_that_get_one_code_one_starts_a_session() {
    let (one, database) = store().await;
    let other = store_in(&database, Clock::System).await;
    let alice = caller(&one, "alice").await;
    for round in 0..20 {
        one.create_sign_in_code("alice", [round; 32]).await.unwrap();
        let (first, second) = (one.sign_in([round; 32], [round; 32], None), async {
            other.sign_in([round; 32], [100 + round; 32], None).await
        });
        let (first, second) = try_join(first, second).await.unwrap();
        assert!(first.is_some() != second.is_some(), "{first:?}, {second:?}");
    }
    assert_eq!(one.sessions(&alice).await.unwrap().len(), 20);
}

#[tokio::test]
async fn an_ended_session_and_a_revoked_key_are_refused_by_another_server_at_once() {
    let (one, database) = store().await;
    let other = store_in(&database, Clock::System).await;
    let alice = caller(&one, "alice").await;
    let session = session(&one, "alice").await;
    one.create_api_key(&alice, named_key("k")).await.unwrap();
    let key = other.find_key("k", &[7; 32]).await.unwrap().unwrap().caller();
    for caller in [&key, &session.caller()] {
        other.vaults(caller).await.unwrap();
    }
    one.end_session(&alice, session.id).await.unwrap();
    one.revoke_api_key(&alice, "k").await.unwrap();
    assert_eq!(other.find_session([2; 32]).await.unwrap(), None);
    for caller in [&key, &session.caller()] {
        assert!(matches!(other.vaults(caller).await, Err(StoreError::KeyRevoked)));
    }
}

#[tokio::test]
async fn a_session_is_no_key_of_the_operator() {
    let (store, _database) = store().await;
    caller(&store, "alice").await;
    session(&store, "alice").await;
    assert_eq!(number(&store, "SELECT count(*) FROM api_key").await, 2);
    assert_eq!(store.keys().await.unwrap().len(), 1);
    assert_eq!(store.keys_of("alice").await.unwrap().unwrap().len(), 1);
    let rows = super::query(&store, "SELECT public_id FROM api_key ORDER BY id DESC", &[]).await;
    let public_id: &str = rows[0].get(0);
    assert!(public_id.starts_with("session_"), "{public_id}");
    assert_eq!(store.find_key(public_id, &[7; 32]).await.unwrap(), None);
    assert_eq!(store.revoke_key(public_id).await.unwrap(), None);
    assert!(store.find_session([2; 32]).await.unwrap().is_some());
}
