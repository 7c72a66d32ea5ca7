//! Sign-in and sessions.

use std::sync::Arc;
use std::time::Duration;

use super::jobs::SECOND;
use super::{StoreUnderTest, assert_error, at, contract_tests};
use crate::domain::{KeyId, SessionRecord};
use crate::limits::{LAST_USE_PRECISION, SESSION_IDLE, SESSION_MAX, SIGN_IN_CODE_LIFETIME};
use crate::store::StoreError;

contract_tests! {
    a_code_starts_one_session
    a_code_is_for_an_existing_account
    a_code_expires
    an_expired_code_stays_expired_when_another_one_is_created
    a_session_ends_when_it_is_idle
    a_session_in_use_ends_after_its_longest_duration
    the_last_request_of_a_session_is_recorded_once_a_minute
    a_session_that_expires_during_a_request_may_finish_it
    a_session_is_ended_by_its_own_account_only
    ending_a_session_again_is_no_error
    the_id_of_a_key_is_no_session
    sessions_that_have_not_ended_are_listed_newest_first
    a_forgotten_session_is_refused_and_cannot_be_ended
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
}

async fn a_code_starts_one_session(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    db.clock.advance(SECOND);
    db.store.create_sign_in_code("alice", [1; 32]).await.unwrap();
    assert_eq!(db.store.sign_in([2; 32], [9; 32], None).await.unwrap(), None);
    let session = db.store.sign_in([1; 32], [9; 32], Some("Firefox")).await;
    let session = session.unwrap().unwrap();
    let expected = SessionRecord {
        id: session.id,
        account: alice.account,
        account_name: "alice".into(),
        browser: Some("Firefox".into()),
        created_at: at(SECOND),
        last_seen_at: at(SECOND),
        expires_at: at(SECOND + SESSION_MAX),
    };
    assert_eq!(session, expected);
    assert_eq!(db.find(9).await, Some(session));
    assert_eq!(db.find(1).await, None);
    assert_eq!(db.store.sign_in([1; 32], [8; 32], None).await.unwrap(), None);
    assert_eq!(db.find(8).await, None);
}

async fn a_code_is_for_an_existing_account(db: Arc<StoreUnderTest>) {
    assert_error!(db.store.create_sign_in_code("bob", [1; 32]).await, StoreError::NotFound);
    db.caller("bob").await;
    assert_eq!(db.store.sign_in([1; 32], [9; 32], None).await.unwrap(), None);
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

async fn an_expired_code_stays_expired_when_another_one_is_created(db: Arc<StoreUnderTest>) {
    db.caller("alice").await;
    db.store.create_sign_in_code("alice", [1; 32]).await.unwrap();
    db.clock.advance(SIGN_IN_CODE_LIFETIME);
    db.store.create_sign_in_code("alice", [2; 32]).await.unwrap();
    assert_eq!(db.store.sign_in([1; 32], [1; 32], None).await.unwrap(), None);
    assert!(db.store.sign_in([2; 32], [2; 32], None).await.unwrap().is_some());
}

async fn a_session_ends_when_it_is_idle(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    db.session("alice", 1).await;
    db.clock.advance(SESSION_IDLE - SECOND);
    assert!(db.find(1).await.is_some());
    db.clock.advance(SESSION_IDLE);
    assert_eq!(db.find(1).await, None);
    assert_eq!(db.store.sessions(&alice).await.unwrap(), []);
}

async fn a_session_in_use_ends_after_its_longest_duration(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    db.session("alice", 1).await;
    let part = SESSION_MAX / 6;
    for _ in 0..5 {
        db.clock.advance(part);
        assert!(db.find(1).await.is_some());
    }
    db.clock.advance(part - SECOND);
    assert!(db.find(1).await.is_some());
    db.clock.advance(SECOND);
    assert_eq!(db.find(1).await, None);
    assert_eq!(db.store.sessions(&alice).await.unwrap(), []);
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

async fn a_session_that_expires_during_a_request_may_finish_it(db: Arc<StoreUnderTest>) {
    db.caller("alice").await;
    let caller = db.session("alice", 1).await.caller();
    db.clock.advance(SESSION_MAX);
    assert!(db.store.vaults(&caller).await.is_ok());
}

async fn a_session_is_ended_by_its_own_account_only(db: Arc<StoreUnderTest>) {
    let bob = db.caller("bob").await;
    db.caller("alice").await;
    let session = db.session("alice", 1).await;
    assert_error!(db.store.end_session(&bob, session.id).await, StoreError::NotFound);
    assert_eq!(db.find(1).await, Some(session));
}

async fn ending_a_session_again_is_no_error(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let session = db.session("alice", 1).await;
    for _ in 0..2 {
        db.store.end_session(&alice, session.id).await.unwrap();
    }
}

async fn the_id_of_a_key_is_no_session(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    for id in [alice.key, KeyId(i64::MAX)] {
        assert_error!(db.store.end_session(&alice, id).await, StoreError::NotFound);
    }
    db.store.confirm_key(&alice).await.unwrap();
}

async fn sessions_that_have_not_ended_are_listed_newest_first(db: Arc<StoreUnderTest>) {
    let (alice, bob) = (db.caller("alice").await, db.caller("bob").await);
    let mut sessions = Vec::new();
    for digest in 0..4 {
        sessions.insert(0, db.session("alice", digest).await);
        // Two are of one time.
        db.clock.advance(SECOND * u32::from(digest % 2));
    }
    let of_bob = db.session("bob", 9).await;
    db.store.end_session(&alice, sessions.remove(1).id).await.unwrap();
    assert_eq!(db.store.sessions(&alice).await.unwrap(), sessions);
    assert_eq!(db.store.sessions(&of_bob.caller()).await.unwrap(), [of_bob]);
    assert_eq!(db.store.sessions(&bob).await.unwrap().len(), 1);
}

async fn a_forgotten_session_is_refused_and_cannot_be_ended(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let session = db.session("alice", 1).await;
    db.clock.advance(SESSION_MAX);
    db.session("alice", 2).await;
    assert_error!(db.store.vaults(&session.caller()).await, StoreError::KeyRevoked);
    assert_error!(db.store.end_session(&alice, session.id).await, StoreError::NotFound);
    assert!(db.find(2).await.is_some());
}
