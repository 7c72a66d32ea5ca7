//! Tests of this store only. The contract tests cover what both stores do.

mod jobs;

use std::sync::Arc;

use futures::FutureExt;
use jiff::Timestamp;
use promptarium::PromptId;

use super::{MemoryStore, write};
use crate::clock::{Clock, ManualClock};
use crate::domain::{
    AccountId, Caller, KeyId, NewKey, NewPrompt, PromptInputs, PromptKind, PromptQuery, Scopes,
    SharedPrompt,
};
use crate::store::StoreError;
use crate::store::prelude::*;

/// The futures of this store are ready at once.
fn done<T>(call: impl Future<Output = T>) -> T {
    call.now_or_never().expect("the future is ready")
}

fn manual_clock() -> (ManualClock, Clock) {
    let clock = ManualClock::new(Timestamp::UNIX_EPOCH);
    (clock.clone(), Clock::Manual(clock))
}

/// The caller of a new key of an account, which is created if it does not exist.
fn caller(store: &MemoryStore, account: &str) -> Caller {
    let (public_id, digest, scopes) = (account.into(), [7; 32], Scopes::ALL);
    done(store.seed_key(account, NewKey { public_id, digest, scopes, revoked: false })).unwrap();
    done(store.find_key(account)).unwrap().unwrap().caller()
}

fn prompt(store: &MemoryStore, by: &Caller) -> SharedPrompt {
    let new = NewPrompt {
        title: "A title".into(),
        text: "A text".into(),
        kind: PromptKind::Text,
        platform: None,
        inputs: PromptInputs::default(),
        vault: None,
    };
    done(store.create_prompt(by, new)).unwrap()
}

#[test]
fn an_account_that_does_not_exist_has_nothing() {
    let store = MemoryStore::new(manual_clock().1);
    let by = Caller { key: KeyId(9), account: AccountId(9), scopes: Scopes::default() };
    assert!(matches!(done(store.vaults(&by)), Err(StoreError::NotFound)));
    assert!(matches!(done(store.prompt(&by, PromptId::new(1))), Err(StoreError::NotFound)));
}

#[test]
fn responses_and_changed_records_share_their_texts() {
    let store = MemoryStore::new(manual_clock().1);
    let by = caller(&store, "alice");
    let made = prompt(&store, &by);
    let query = PromptQuery { vault: None, kind: None, after: None, limit: 1 };
    let page = done(store.list_prompts(&by, query)).unwrap();
    assert!(Arc::ptr_eq(&page.prompts[0], &made));
    let general = done(store.vaults(&by)).unwrap()[0].id;
    let saved = done(store.save_prompt(&by, made.id, general)).unwrap();
    assert!(Arc::ptr_eq(&made.text, &saved.text));
}

/// Otherwise a walk over pages could miss a prompt that appears on a page it has passed.
#[test]
fn a_new_prompt_never_appears_below_a_visible_one() {
    let store = MemoryStore::new(manual_clock().1);
    let by = caller(&store, "alice");
    let query = PromptQuery { vault: None, kind: None, after: None, limit: usize::MAX };
    let mut seen = Vec::new();
    std::thread::scope(|scope| {
        let create = || (0..500).for_each(|_| drop(prompt(&store, &by)));
        let threads = [(); 4].map(|()| scope.spawn(create));
        while seen.len() < 4 * 500 {
            let page = done(store.list_prompts(&by, query)).unwrap().prompts;
            let now: Vec<_> = page.iter().map(|prompt| prompt.id).collect();
            assert!(now.ends_with(&seen));
            seen = now;
        }
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn a_panic_under_the_lock_does_not_disable_the_account() {
    let store = MemoryStore::new(manual_clock().1);
    let by = caller(&store, "alice");
    let account = store.account(by.account).unwrap();
    let poisoned = std::thread::spawn(move || {
        let _locked = write(&account);
        panic!("a request fails");
    });
    assert!(poisoned.join().is_err());
    prompt(&store, &by);
}
