//! The keys of an account.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::jobs::SECOND;
use super::{StoreUnderTest, assert_error, at, contract_tests, key, named_key};
use crate::domain::{ApiKeyRecord, Caller, NamedKey, NewKey, Scopes};
use crate::limits::{API_KEYS_MAX, LAST_USE_PRECISION};
use crate::store::StoreError;

contract_tests! {
    a_created_key_is_found_and_listed_as_it_was_given
    keys_are_listed_newest_first_with_revoked_ones_and_without_sessions
    a_public_id_in_use_is_refused
    revoked_keys_and_sessions_do_not_count_toward_the_limit
    a_revoked_key_is_refused_by_the_next_call
    revoking_again_keeps_the_first_time
    a_key_that_the_account_does_not_have_cannot_be_revoked
    the_last_use_of_a_key_is_recorded_at_intervals
}

impl StoreUnderTest {
    /// The keys of the caller's account, without the times of their last use.
    async fn keys(&self, caller: &Caller) -> Vec<ApiKeyRecord> {
        let keys = self.store.api_keys(caller).await.unwrap().into_iter();
        keys.map(|key| ApiKeyRecord { last_used_at: None, ..key }).collect()
    }

    /// Waits until the last use of the caller's only key is at this time.
    async fn until_last_used(&self, caller: &Caller, at: Timestamp) {
        while self.store.api_keys(caller).await.unwrap()[0].last_used_at != Some(at) {
            tokio::task::yield_now().await;
        }
    }
}

async fn a_created_key_is_found_and_listed_as_it_was_given(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    db.clock.advance(SECOND);
    let read_only = NewKey { scopes: Scopes::default(), digest: [9; 32], ..key("k") };
    let new = NamedKey { name: "laptop".into(), key: read_only.clone() };
    let created = db.store.create_api_key(&alice, new).await.unwrap();
    let expected = ApiKeyRecord {
        public_id: "k".into(),
        name: Some("laptop".into()),
        scopes: Scopes::default(),
        created_at: at(SECOND),
        last_used_at: None,
        revoked_at: None,
    };
    assert_eq!(created, expected);
    assert_eq!(db.keys(&alice).await[0], created);
    let found = db.store.find_key("k", &[7; 32]).await.unwrap().unwrap();
    assert_eq!((found.account, found.key), (alice.account, read_only));
}

async fn keys_are_listed_newest_first_with_revoked_ones_and_without_sessions(
    db: Arc<StoreUnderTest>,
) {
    let alice = db.caller("alice").await;
    let bob = db.caller("bob").await;
    db.session("alice", 1).await;
    for public_id in ["a", "b", "c"] {
        db.store.create_api_key(&alice, named_key(public_id)).await.unwrap();
    }
    db.store.create_api_key(&bob, named_key("d")).await.unwrap();
    db.store.revoke_api_key(&alice, "b").await.unwrap();
    let keys = db.keys(&alice).await;
    let listed: Vec<_> = keys.iter().map(|key| (&*key.public_id, key.name.as_deref())).collect();
    let names = ["c", "b", "a"].map(|id| format!("name of {id}"));
    let expected = [
        ("c", Some(&*names[0])),
        ("b", Some(&*names[1])),
        ("a", Some(&*names[2])),
        ("key-of-alice", None),
    ];
    assert_eq!(listed, expected);
    assert!(keys.iter().all(|key| key.revoked_at.is_some() == (&*key.public_id == "b")));
}

async fn a_public_id_in_use_is_refused(db: Arc<StoreUnderTest>) {
    let (alice, bob) = (db.caller("alice").await, db.caller("bob").await);
    db.store.create_api_key(&alice, named_key("k")).await.unwrap();
    let before = db.keys(&bob).await;
    for caller in [&alice, &bob] {
        let again = db.store.create_api_key(caller, named_key("k")).await;
        assert_error!(again, StoreError::KeyTaken);
    }
    assert_eq!(db.keys(&bob).await, before);
}

async fn revoked_keys_and_sessions_do_not_count_toward_the_limit(db: Arc<StoreUnderTest>) {
    let (alice, bob) = (db.caller("alice").await, db.caller("bob").await);
    db.session("alice", 1).await;
    for number in 1..API_KEYS_MAX {
        db.store.create_api_key(&alice, named_key(&format!("k{number}"))).await.unwrap();
    }
    for name in ["one-more", "k1"] {
        let refused = db.store.create_api_key(&alice, named_key(name)).await;
        assert_error!(refused, StoreError::TooManyKeys);
    }
    assert_eq!(db.keys(&alice).await.len(), API_KEYS_MAX);
    db.store.create_api_key(&bob, named_key("of-bob")).await.unwrap();
    db.store.revoke_api_key(&alice, "k1").await.unwrap();
    db.store.create_api_key(&alice, named_key("one-more")).await.unwrap();
}

async fn a_revoked_key_is_refused_by_the_next_call(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    db.store.create_api_key(&alice, named_key("k")).await.unwrap();
    let caller = db.store.find_key("k", &[7; 32]).await.unwrap().unwrap().caller();
    db.store.vaults(&caller).await.unwrap();
    db.store.revoke_api_key(&alice, "k").await.unwrap();
    assert_error!(db.store.vaults(&caller).await, StoreError::KeyRevoked);
    assert_error!(db.store.confirm_key(&caller).await, StoreError::KeyRevoked);
    assert!(db.store.find_key("k", &[7; 32]).await.unwrap().unwrap().key.revoked);
    db.store.vaults(&alice).await.unwrap();
}

async fn revoking_again_keeps_the_first_time(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    db.store.create_api_key(&alice, named_key("k")).await.unwrap();
    db.clock.advance(SECOND);
    let revoked = db.store.revoke_api_key(&alice, "k").await.unwrap();
    assert_eq!(revoked.revoked_at, Some(at(SECOND)));
    db.clock.advance(SECOND);
    assert_eq!(db.store.revoke_api_key(&alice, "k").await.unwrap(), revoked);
}

async fn a_key_that_the_account_does_not_have_cannot_be_revoked(db: Arc<StoreUnderTest>) {
    let (alice, bob) = (db.caller("alice").await, db.caller("bob").await);
    for public_id in ["key-of-bob", "unknown", ""] {
        let refused = db.store.revoke_api_key(&alice, public_id).await;
        assert_error!(refused, StoreError::NotFound);
    }
    db.store.confirm_key(&bob).await.unwrap();
}

async fn the_last_use_of_a_key_is_recorded_at_intervals(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let key = db.store.find_key("key-of-alice", &[7; 32]).await.unwrap().unwrap();
    assert_eq!(db.store.api_keys(&alice).await.unwrap()[0].last_used_at, None);
    db.store.record_use(&key).await.unwrap();
    db.until_last_used(&alice, at(Duration::ZERO)).await;
    db.clock.advance(LAST_USE_PRECISION - SECOND);
    db.store.record_use(&key).await.unwrap();
    db.clock.advance(SECOND);
    db.store.record_use(&key).await.unwrap();
    // Had the use before been recorded, this one would not be.
    db.until_last_used(&alice, at(LAST_USE_PRECISION)).await;
}
