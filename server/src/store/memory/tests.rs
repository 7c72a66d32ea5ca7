//! Invariants of the data, and tests of this store only. The contract tests cover what both
//! stores do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::{FutureExt, TryStreamExt};
use promptarium::PromptId;
use tokio::time::{Instant, timeout};

use super::MemoryStore;
use super::account::{Account, StoredPrompt};
use super::keys::Key;
use crate::clock::Clock;
use crate::domain::{
    AccountId, Caller, JobKey, KeyId, NewVault, PromptKind, PromptQuery, Release, Scopes,
    SharedPrompt, Turn, VaultVisibility,
};
use crate::limits::MEMORY_FORK_PROMPTS_MAX;
use crate::store::StoreError;
use crate::store::contract_tests::jobs::{LEASE, SECOND, queued};
use crate::store::contract_tests::{key, named, new_prompt};
use crate::store::prelude::*;

impl MemoryStore {
    /// Panics if the data is inconsistent.
    pub(in crate::store) fn check_invariants(&self) {
        let data = self.data.read();
        let names: BTreeSet<_> = data.accounts.values().map(|account| &account.name).collect();
        assert_eq!(names.len(), data.accounts.len(), "two accounts have one name");
        for (id, Key { record, shown }) in &data.keys {
            assert_eq!((*id, &shown.public_id), (record.id, &record.key.public_id));
            assert_eq!(record.key.revoked, shown.revoked_at.is_some());
            assert_eq!(data.by_public_id[&shown.public_id], *id);
            assert!(data.accounts.contains_key(&record.account));
            assert!(!data.sessions.contains_key(id), "a session has the id of a key");
        }
        assert_eq!(data.by_public_id.len(), data.keys.len());
        for (id, account) in &data.accounts {
            assert_eq!(*id, account.id);
            account.check_invariants();
        }
    }

    /// All data as text.
    pub(in crate::store) fn all_data(&self) -> String {
        format!("{:#?}", self.data)
    }

    pub(in crate::store) fn account_count(&self) -> usize {
        self.data.read().accounts.len()
    }
}

impl Account {
    fn check_invariants(&self) {
        assert_eq!(self.vaults.values().filter(|vault| vault.record.system).count(), 1);
        let slugs: BTreeSet<_> = self.vaults.values().map(|vault| &vault.record.slug).collect();
        assert_eq!(slugs.len(), self.vaults.len(), "two vaults have one slug");
        let mut vaults_of: BTreeMap<PromptId, Vec<_>> = BTreeMap::new();
        for (id, vault) in &self.vaults {
            assert_eq!(*id, vault.record.id);
            let prompts: BTreeSet<_> = vault.members.values().map(|member| member.prompt).collect();
            assert_eq!(prompts.len(), vault.members.len(), "a prompt is in one vault twice");
            for prompt in prompts {
                vaults_of.entry(prompt).or_default().push(*id);
            }
            let pins: Vec<_> = vault.members.values().filter_map(|member| member.pin).collect();
            assert_eq!(pins.iter().collect::<BTreeSet<_>>().len(), pins.len());
        }
        for (id, StoredPrompt { shown: prompt, inputs }) in &self.prompts {
            assert_eq!(*id, prompt.id);
            assert_eq!(prompt.vault_ids, vaults_of.remove(id).unwrap_or_default());
            assert!(prompt.updated_at >= prompt.created_at);
            assert!(!prompt.kind.needs_model() || inputs.model_id.is_some());
        }
        assert!(vaults_of.is_empty(), "a membership of a prompt that does not exist");
        for (name, job) in &self.jobs {
            let key = JobKey { account: self.id, client_job_id: name.clone() };
            assert_eq!(job.record.key, key);
            assert!(!(job.has_ended() && job.fence.is_some()), "a job that has ended has a lease");
            assert!(job.record.updated_at >= job.record.created_at);
        }
    }
}

/// The futures of this store are ready at once.
fn done<T>(call: impl Future<Output = T>) -> T {
    call.now_or_never().expect("the future is ready")
}

fn new_store() -> MemoryStore {
    MemoryStore::new(Clock::System)
}

/// The caller of a new key of an account, which is created if it does not exist.
fn caller(store: &MemoryStore, account: &str) -> Caller {
    done(store.seed_key(account, key(account))).unwrap();
    done(store.find_key(account, &[7; 32])).unwrap().unwrap().caller()
}

fn prompt(store: &MemoryStore, caller: &Caller) -> SharedPrompt {
    done(store.create_prompt(caller, new_prompt(PromptKind::Text, None))).unwrap()
}

#[test]
fn a_key_that_does_not_exist_is_refused() {
    let store = new_store();
    let alice = Caller { key: KeyId(9), account: AccountId(9), scopes: Scopes::default() };
    assert!(matches!(done(store.vaults(&alice)), Err(StoreError::KeyRevoked)));
    assert!(matches!(done(store.prompt(&alice, PromptId::new(1))), Err(StoreError::KeyRevoked)));
}

#[test]
fn responses_and_changed_records_share_their_texts_but_show_no_later_change() {
    let store = new_store();
    let alice = caller(&store, "alice");
    let created = prompt(&store, &alice);
    let query = PromptQuery { vault: None, kind: None, after: None, limit: 1 };
    let page = done(store.list_prompts(&alice, query)).unwrap();
    assert!(Arc::ptr_eq(&page.prompts[0], &created));
    let general = done(store.vaults(&alice)).unwrap()[0].id;
    let saved = done(store.save_prompt(&alice, created.id, general)).unwrap();
    assert!(Arc::ptr_eq(&created.text, &saved.text));
    assert_eq!((&created.vault_ids[..], &saved.vault_ids[..]), (&[][..], &[general][..]));
    let contents = done(store.contents(&alice, general)).unwrap();
    done(store.delete_prompt(&alice, created.id)).unwrap();
    let contents: Vec<_> = done(contents.try_collect()).unwrap();
    assert_eq!(contents[0].prompt, saved);
}

#[test]
fn a_fork_that_makes_an_account_too_large_changes_nothing() {
    let store = new_store();
    let alice = caller(&store, "alice");
    let public = NewVault { visibility: VaultVisibility::Public, ..named("Sky") };
    let vault = done(store.create_vault(&alice, public)).unwrap().id;
    for _ in 0..MEMORY_FORK_PROMPTS_MAX / 2 {
        let prompt = prompt(&store, &alice);
        done(store.save_prompt(&alice, prompt.id, vault)).unwrap();
    }
    done(store.fork_vault(&alice, vault)).unwrap();
    let before = done(store.vaults(&alice)).unwrap();
    assert!(matches!(done(store.fork_vault(&alice, vault)), Err(StoreError::TooManyPrompts)));
    assert_eq!(done(store.vaults(&alice)).unwrap(), before);
}

/// Each fork would keep a thread from the requests of other accounts.
#[test]
fn forks_of_one_account_wait_for_one_another_without_a_lock() {
    let store = new_store();
    let (alice, bob) = (caller(&store, "alice"), caller(&store, "bob"));
    let public = NewVault { visibility: VaultVisibility::Public, ..named("Sky") };
    let vault = done(store.create_vault(&alice, public)).unwrap().id;
    let first = done(store.long_step(alice.account));
    let mut second = store.fork_vault(&alice, vault);
    assert!(second.as_mut().now_or_never().is_none());
    prompt(&store, &alice);
    done(store.fork_vault(&bob, vault)).unwrap();
    drop(first);
    done(second).unwrap();
}

#[tokio::test(start_paused = true)]
async fn job_due_returns_when_a_job_is_due_or_changes() {
    let store = new_store();
    let alice = caller(&store, "alice");
    let before = Instant::now();
    store.job_due(5 * SECOND, &[]).await;
    assert_eq!(before.elapsed(), 5 * SECOND);

    let waiting = async {
        store.job_due(60 * SECOND, &[]).await;
        before.elapsed()
    };
    let submitting = async {
        tokio::time::sleep(SECOND).await;
        queued(&store, &alice, "j").await;
    };
    assert_eq!(tokio::join!(waiting, submitting).0, 6 * SECOND);

    let claim = store.claim_job(LEASE, &Turn::default()).await.unwrap().unwrap();
    store.release_job(&claim.lease, 7 * SECOND, Release::Waiting).await.unwrap();
    // What has changed already may end the first wait at once.
    store.job_due(SECOND / 1000, &[]).await;
    let due = Instant::now();
    timeout(60 * SECOND, store.job_due(60 * SECOND, &[])).await.unwrap();
    assert!(due.elapsed() <= 7 * SECOND, "{:?}", due.elapsed());
    assert!(store.claim_job(LEASE, &Turn::default()).await.unwrap().is_some());
}
