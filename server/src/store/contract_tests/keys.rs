//! Times of keys and sessions. Everything else of them is in the differential test.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::jobs::SECOND;
use super::{StoreUnderTest, assert_error, at, contract_tests};
use crate::domain::{Caller, SessionRecord};
use crate::limits::{LAST_USE_PRECISION, SESSION_IDLE, SESSION_MAX, SIGN_IN_CODE_LIFETIME};
use crate::store::StoreError;

contract_tests! {
    a_code_expires
    a_session_ends_when_it_is_idle_and_after_its_longest_duration
    a_new_code_makes_the_store_forget_sessions_that_have_expired
    the_last_request_of_a_session_is_recorded_once_a_minute
    the_last_use_of_a_key_is_recorded_at_intervals
}

impl StoreUnderTest {
    /// A new session of an account that exists, with an id of this digest.
    pub(super) async fn session(&self, account: &str, digest: u8) -> SessionRecord {
        self.store.create_sign_in_code(account, [digest; 32]).await.unwrap();
        self.store.sign_in([digest; 32], [digest; 32], None).await.unwrap().unwrap()
    }

    async fn find(&self, digest: u8) -> Option<SessionRecord> {
        self.store.find_session([digest; 32]).await.unwrap()
    }

    /// Waits until the last use of the caller's only key is at this time.
    async fn until_last_used(&self, caller: &Caller, at: Timestamp) {
        while self.store.api_keys(caller).await.unwrap()[0].last_used_at != Some(at) {
            tokio::task::yield_now().await;
        }
    }
}

async fn a_code_expires(db: Arc<StoreUnderTest>) {
    db.caller("alice").await;
    for (lifetime, valid) in
        [(SIGN_IN_CODE_LIFETIME - SECOND, true), (SIGN_IN_CODE_LIFETIME, false)]
    {
        db.store.create_sign_in_code("alice", [1; 32]).await.unwrap();
        db.clock.advance(lifetime);
        let session = db.store.sign_in([1; 32], [u8::from(valid); 32], None).await.unwrap();
        assert_eq!(session.is_some(), valid, "{lifetime:?}");
    }
}

async fn a_session_ends_when_it_is_idle_and_after_its_longest_duration(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let part = SESSION_MAX / 6;
    let idle = vec![(SESSION_IDLE - SECOND, true), (SESSION_IDLE, false)];
    let used = [vec![(part, true); 5], vec![(part - SECOND, true), (SECOND, false)]].concat();
    for (digest, waits) in [(1, idle), (2, used)] {
        let session = db.session("alice", digest).await;
        assert_eq!(session.expires_at, session.created_at + SESSION_MAX);
        for (number, (wait, is_valid)) in waits.into_iter().enumerate() {
            db.clock.advance(wait);
            assert_eq!(db.find(digest).await.is_some(), is_valid, "wait {number} of {digest}");
        }
        assert_eq!(db.store.sessions(&alice).await.unwrap(), []);
        assert!(db.store.vaults(&session.caller()).await.is_ok(), "a request is not finished");
    }
}

async fn a_new_code_makes_the_store_forget_sessions_that_have_expired(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let session = db.session("alice", 1).await;
    db.clock.advance(SESSION_MAX);
    db.session("alice", 2).await;
    assert_error!(db.store.vaults(&session.caller()).await, StoreError::KeyRevoked);
    assert_error!(db.store.end_session(&alice, session.id).await, StoreError::NotFound);
}

async fn the_last_request_of_a_session_is_recorded_once_a_minute(db: Arc<StoreUnderTest>) {
    db.caller("alice").await;
    db.session("alice", 1).await;
    db.clock.advance(LAST_USE_PRECISION - SECOND);
    assert_eq!(db.find(1).await.unwrap().last_seen_at, at(Duration::ZERO));
    db.clock.advance(SECOND);
    for _ in 0..2 {
        assert_eq!(db.find(1).await.unwrap().last_seen_at, at(LAST_USE_PRECISION));
        db.clock.advance(SECOND);
    }
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
