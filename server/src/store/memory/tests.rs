//! Invariants of the data, and tests of this store only. The contract tests cover what both
//! stores do.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use jiff::Timestamp;
use promptarium::PromptId;
use tokio::time::{Instant, timeout};

use super::MemoryStore;
use super::data::{Data, Phase, StoredPrompt};
use crate::clock::{Clock, ManualClock};
use crate::domain::{AccountId, JobKey, Release, Turn};
use crate::limits::MEMORY_FORK_PROMPTS_MAX;
use crate::store::StoreError;
use crate::store::contract_tests::jobs::{LEASE, SECOND, queued};
use crate::store::contract_tests::{Kind, StoreUnderTest, caller};
use crate::store::prelude::*;

impl MemoryStore {
    /// All records, by kind and key.
    pub(in crate::store) fn records(&self) -> Vec<super::table::Change> {
        self.data.write().tables().flat_map(|table| table.records()).collect()
    }

    /// Panics if the data is inconsistent.
    pub(in crate::store) fn check_invariants(&self) {
        let data = self.data.read();
        let names: BTreeSet<_> = data.accounts.values().map(|account| &account.name).collect();
        assert_eq!(names.len(), data.accounts.iter().count(), "two accounts have one name");
        let public_ids = data.public_ids.iter().map(|(public_id, id)| (*id, &**public_id));
        let mut public_ids: BTreeMap<_, _> = public_ids.collect();
        for (id, key) in data.keys.iter() {
            assert_eq!(*id, key.id);
            assert_eq!(public_ids.remove(id), Some(&*key.public_id));
            assert!(data.accounts.contains(&key.account));
            assert!(!data.sessions.contains(id), "a session has the id of a key");
        }
        assert!(public_ids.is_empty(), "the public id of a key that does not exist");
        data.accounts.iter().for_each(|(id, _)| data.check_account(*id));
        data.check_jobs();
        let is_known = |account: &AccountId| data.accounts.contains(account);
        assert!(data.prompts.iter().all(|((account, _), _)| is_known(account)));
        assert!(data.vaults.iter().all(|((account, _), _)| is_known(account)));
        assert!(
            data.members
                .iter()
                .all(|((account, vault, _), _)| { data.vaults.contains(&(*account, *vault)) })
        );
    }
}

impl Data {
    fn check_account(&self, own: AccountId) {
        let view = self.of(own);
        assert_eq!(view.vaults().filter(|vault| vault.system).count(), 1);
        let slugs: BTreeSet<_> = view.vaults().map(|vault| &vault.slug).collect();
        assert_eq!(slugs.len(), view.vaults().count(), "two vaults have one slug");
        let mut vaults_of: BTreeMap<PromptId, Vec<_>> = BTreeMap::new();
        for vault in view.vaults() {
            let members: Vec<_> = view.members(vault.id).map(|(_, member)| member).collect();
            let prompts: BTreeSet<_> = members.iter().map(|member| member.prompt).collect();
            assert_eq!(prompts.len(), members.len(), "a prompt is in one vault twice");
            assert_eq!(vault.prompt_count, members.len() as u64);
            for prompt in prompts {
                vaults_of.entry(prompt).or_default().push(vault.id);
            }
            let pins: Vec<_> = members.iter().filter_map(|member| member.pin).collect();
            assert_eq!(pins.iter().collect::<BTreeSet<_>>().len(), pins.len());
        }
        for ((account, id), StoredPrompt { shown: prompt, inputs }) in self.prompts.iter() {
            if *account == own {
                assert_eq!(*id, prompt.id);
                assert_eq!(prompt.vault_ids, vaults_of.remove(id).unwrap_or_default());
                assert!(prompt.updated_at >= prompt.created_at);
                assert!(!prompt.kind.needs_model() || inputs.model_id.is_some());
            }
        }
        assert!(vaults_of.is_empty(), "a membership of a prompt that does not exist");
    }

    fn check_jobs(&self) {
        let mut queue: BTreeSet<_> = self.job_queue.iter().map(|(key, ())| key).collect();
        let mut list: BTreeMap<_, _> = self.job_list.iter().collect();
        for ((account, name), job) in self.jobs.iter() {
            let key = JobKey { account: *account, client_job_id: name.clone() };
            assert_eq!(job.record.key, key);
            assert!(queue.remove(&job.queue_key()), "a job is not in the queue");
            assert_eq!(list.remove(&job.list_key()), Some(name));
            let has_ended = job.phase() == Phase::Ended;
            assert!(!(has_ended && job.fence.is_some()), "a job that has ended has a lease");
            assert!(job.record.updated_at >= job.record.created_at);
        }
        assert!(queue.is_empty() && list.is_empty(), "a key of a job that does not exist");
    }
}

/// The vaults of the account, and everything in them.
async fn everything(db: &StoreUnderTest, caller: &crate::domain::Caller) -> String {
    let mut text = String::new();
    for vault in db.store.vaults(caller).await.unwrap() {
        text += &format!("{vault:?} {:?}\n", db.contents(caller, vault.id).await);
    }
    text
}

#[tokio::test]
async fn a_step_that_fails_or_panics_in_its_middle_is_undone() {
    let db = StoreUnderTest::memory();
    let alice = db.caller("alice").await;
    let prompt = db.prompt(&alice, None).await.id;
    let vault = db.private(&alice, &[prompt]).await;
    let Kind::Memory(memory) = &db.kind else { panic!("it is in memory") };
    let before = everything(&db, &alice).await;
    let change = |data: &mut Data| {
        data.create_account("bob");
        data.prompts.remove(&(alice.account, prompt));
        data.of_mut(alice.account).vault_mut(vault).unwrap().prompt_count = 7;
    };
    let failing = memory.step(|data| {
        change(data);
        Err::<(), _>(StoreError::NotFound)
    });
    failing.await.unwrap_err();
    let panicking = memory.step(|data| {
        change(data);
        panic!("in its middle")
    });
    let panicking: Result<Result<(), StoreError>, _> =
        AssertUnwindSafe(panicking).catch_unwind().await;
    panicking.unwrap_err();
    assert_eq!(everything(&db, &alice).await, before);
    memory.check_invariants();
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
    let clock = ManualClock::new(Timestamp::UNIX_EPOCH);
    let store = MemoryStore::new(Clock::Manual(clock.clone()));
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
    clock.advance(7 * SECOND);
    assert!(store.claim_job(LEASE, &Turn::default()).await.unwrap().is_some());
}
