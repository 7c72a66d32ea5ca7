//! Tests of the memory store: one fact each, the same random steps as on the
//! naive store, and many threads at once.

mod concurrency;
mod facts;
mod jobs;
mod random;

use futures::{FutureExt, TryStreamExt};
use jiff::Timestamp;
use promptarium::{PromptId, VaultId};

use super::MemoryStore;
use crate::clock::{Clock, ManualClock};
use crate::domain::{
    Caller, ListedPrompt, NewKey, NewPrompt, NewVault, PromptInputs, PromptKind, PromptQuery,
    Scopes, SharedPrompt, VaultRecord, VaultVisibility,
};
use crate::store::{Store, StoreError};

const START: Timestamp = Timestamp::UNIX_EPOCH;

/// The memory store never waits.
fn done<T>(step: impl Future<Output = T>) -> T {
    step.now_or_never().expect("the memory store never waits")
}

fn manual_clock() -> (ManualClock, Clock) {
    let clock = ManualClock::new(START);
    (clock.clone(), Clock::Manual(clock))
}

fn store() -> MemoryStore {
    MemoryStore::new(manual_clock().1)
}

fn key(public_id: &str) -> NewKey {
    let scopes = Scopes { prompts_write: true };
    NewKey { public_id: public_id.into(), digest: [7; 32], scopes, revoked: false }
}

/// Seeds an account and gives its caller.
fn caller(store: &MemoryStore, account: &str) -> Caller {
    done(store.seed_key(account, key(account))).expect("the seed is new or the same");
    let found = done(store.find_key(account)).expect("a store answers").expect("it was seeded");
    found.caller()
}

fn new_prompt(kind: PromptKind, vault: Option<VaultId>) -> NewPrompt {
    let model_id = kind.needs_model().then(|| "local/plasma".into());
    let inputs = PromptInputs { model_id, ..PromptInputs::default() };
    NewPrompt {
        title: "A title".into(),
        text: "A text".into(),
        kind,
        platform: None,
        inputs,
        vault,
    }
}

fn prompt(store: &MemoryStore, by: &Caller, vault: Option<VaultId>) -> SharedPrompt {
    done(store.create_prompt(by, new_prompt(PromptKind::Text, vault))).expect("the vault exists")
}

fn vault(store: &MemoryStore, by: &Caller, visibility: VaultVisibility) -> VaultRecord {
    let new = NewVault { name: "Sky".into(), description: None, visibility };
    done(store.create_vault(by, new)).expect("a vault can be made")
}

fn contents(store: &MemoryStore, by: &Caller, vault: VaultId) -> Vec<ListedPrompt> {
    let listed = done(store.contents(by, vault)).expect("the vault exists");
    done(listed.try_collect()).expect("a snapshot does not fail")
}

/// All of an account's prompts, page by page, newest first.
fn walk(store: &MemoryStore, by: &Caller, limit: usize) -> Vec<PromptId> {
    let mut query = PromptQuery { vault: None, kind: None, after: None, limit };
    let mut ids = Vec::new();
    loop {
        let page = done(store.list_prompts(by, query)).expect("the account exists");
        ids.extend(page.prompts.iter().map(|prompt| prompt.id));
        assert!(ids.is_sorted_by(|a, b| a > b), "a prompt came twice or out of order");
        query.after = ids.last().copied();
        if !page.more {
            return ids;
        }
    }
}

fn is_not_found<T>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::NotFound))
}
