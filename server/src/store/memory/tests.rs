//! Invariants of the data, and tests of this store only. The contract tests cover what both
//! stores do.

use std::collections::{BTreeMap, BTreeSet};

use futures::FutureExt;
use promptarium::PromptId;
use tokio::time::{Instant, timeout};

use super::MemoryStore;
use super::account::{Account, StoredPrompt};
use crate::clock::Clock;
use crate::domain::{JobKey, Release, Turn};
use crate::limits::MEMORY_FORK_PROMPTS_MAX;
use crate::store::StoreError;
use crate::store::contract_tests::jobs::{LEASE, SECOND, queued};
use crate::store::contract_tests::{Kind, StoreUnderTest, caller};
use crate::store::prelude::*;

impl MemoryStore {
    /// Panics if the data is inconsistent.
    pub(in crate::store) fn check_invariants(&self) {
        let data = self.data.read();
        let names: BTreeSet<_> = data.accounts.values().map(|account| &account.name).collect();
        assert_eq!(names.len(), data.accounts.len(), "two accounts have one name");
        let mut public_ids = BTreeSet::new();
        for (id, key) in &data.keys {
            assert_eq!(*id, key.id);
            assert!(public_ids.insert(&key.public_id), "two keys have one public id");
            assert!(data.accounts.contains_key(&key.account));
            assert!(!data.sessions.contains_key(id), "a session has the id of a key");
        }
        for (id, account) in &data.accounts {
            assert_eq!(*id, account.id);
            account.check_invariants();
        }
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

#[tokio::test]
async fn a_fork_that_makes_an_account_too_large_changes_nothing() {
    let db = StoreUnderTest::memory();
    let alice = db.caller("alice").await;
    let vault = db.public(&alice, &[]).await;
    for _ in 0..MEMORY_FORK_PROMPTS_MAX / 2 {
        db.prompt(&alice, Some(vault)).await;
    }
    db.store.fork_vault(&alice, vault).await.unwrap();
    let before = db.store.vaults(&alice).await.unwrap();
    let refused = db.store.fork_vault(&alice, vault).await;
    assert!(matches!(refused, Err(StoreError::TooManyPrompts)), "{refused:?}");
    assert_eq!(db.store.vaults(&alice).await.unwrap(), before);
}

/// Each fork would keep a thread from the requests of other accounts.
#[tokio::test]
async fn forks_of_one_account_wait_for_one_another_without_a_lock() {
    let db = StoreUnderTest::memory();
    let (alice, bob) = (db.caller("alice").await, db.caller("bob").await);
    let vault = db.public(&alice, &[]).await;
    let Kind::Memory(memory) = &db.kind else { panic!("it is in memory") };
    let first = memory.long_step(&alice).await;
    let mut second = db.store.fork_vault(&alice, vault);
    assert!(second.as_mut().now_or_never().is_none());
    db.prompt(&alice, None).await;
    db.store.fork_vault(&bob, vault).await.unwrap();
    drop(first);
    second.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn job_due_returns_when_a_job_is_due_or_changes() {
    let store = MemoryStore::new(Clock::System);
    let alice = caller(&store, "alice").await;
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
