//! Invariants of the data, and tests of this store only. The contract tests cover what both
//! stores do.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use futures::FutureExt;
use promptarium::PromptId;
use tokio::time::{Instant, timeout};

use super::account::{Account, StoredPrompt, Vault};
use super::jobs::Jobs;
use super::keys::Keys;
use super::{MemoryStore, read, write};
use crate::clock::Clock;
use crate::domain::{
    AccountId, Caller, JobState, KeyId, NewVault, PromptKind, PromptQuery, Release, Scopes,
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
        let accounts = read(&self.accounts);
        let keys = read(&self.keys);
        keys.check_invariants();
        let named: BTreeSet<_> = keys.accounts.values().copied().collect();
        drop(keys);
        assert_eq!(named, accounts.keys().copied().collect(), "an account without a name");
        let mut owners = HashMap::new();
        for (id, account) in &*accounts {
            let account = read(account);
            assert_eq!(*id, account.id);
            account.check_invariants();
            owners.extend(account.vaults.keys().map(|vault| (*vault, *id)));
        }
        assert_eq!(*read(&self.shared.owners), owners);
        self.shared.jobs().check_invariants();
    }

    /// All data as text.
    pub(in crate::store) fn all_data(&self) -> String {
        format!("{:#?}\n{:#?}\n{:#?}", self.accounts, self.keys, self.shared.jobs())
    }

    pub(in crate::store) fn account_count(&self) -> usize {
        read(&self.accounts).len()
    }
}

impl Keys {
    fn check_invariants(&self) {
        let mut ids: HashSet<_> = self.sessions.values().map(|session| session.id).collect();
        let sessions = ids.len();
        for (public_id, key) in &self.by_public_id {
            assert_eq!(*public_id, key.record.key.public_id);
            assert_eq!(key.record.key.revoked, key.revoked_at.is_some());
            assert_eq!(self.live.contains_key(&key.record.id), key.revoked_at.is_none());
            ids.insert(key.record.id);
        }
        assert_eq!(ids.len(), sessions + self.by_public_id.len(), "two keys have one id");
        assert!(self.live.keys().all(|id| ids.contains(id)), "a key is live that does not exist");
    }
}

impl Account {
    fn check_invariants(&self) {
        assert_eq!(self.vaults.values().filter(|vault| vault.record.system).count(), 1);
        let slugs: BTreeSet<_> =
            self.vaults.values().map(|vault| vault.record.slug.clone()).collect();
        assert_eq!(slugs.len(), self.vaults.len(), "two vaults have one slug");

        let mut by_kind = BTreeSet::new();
        let mut vaults_of: BTreeMap<PromptId, Vec<_>> = BTreeMap::new();
        for (id, vault) in &self.vaults {
            assert_eq!(*id, vault.record.id);
            vault.check_invariants();
            for prompt in vault.by_prompt.keys() {
                by_kind.insert((Some(*id), self.prompts[prompt].shown.kind, *prompt));
                vaults_of.entry(*prompt).or_default().push(*id);
            }
        }
        for (id, StoredPrompt { shown: prompt, inputs }) in &self.prompts {
            assert_eq!(*id, prompt.id);
            by_kind.insert((None, prompt.kind, *id));
            assert_eq!(prompt.vault_ids, vaults_of.remove(id).unwrap_or_default());
            assert!(prompt.updated_at >= prompt.created_at);
            assert!(!prompt.kind.needs_model() || inputs.model_id.is_some());
        }
        assert_eq!(by_kind, self.by_kind);
        assert!(vaults_of.is_empty(), "a membership of a prompt that does not exist");
    }
}

impl Jobs {
    fn check_invariants(&self) {
        let mut queue = BTreeSet::new();
        for (key, job) in &self.by_key {
            assert_eq!(*key, job.record.key);
            queue.extend(job.place());
            let ended = matches!(job.record.state, JobState::Completed(..) | JobState::Failed(..));
            assert_eq!(job.place().is_none(), ended, "only a job that has not ended is queued");
            assert!(!(ended && job.fence.is_some()), "a job that has ended has a lease");
            assert!(job.record.updated_at >= job.record.created_at);
        }
        assert_eq!(self.queue, queue);
    }
}

impl Vault {
    fn check_invariants(&self) {
        let members = self.members.iter();
        let by_prompt: BTreeMap<_, _> = members.map(|(id, member)| (member.prompt, *id)).collect();
        assert_eq!(by_prompt.len(), self.members.len(), "a prompt is in a vault twice");
        assert_eq!(by_prompt, self.by_prompt);
        let pins: Vec<_> = self.members.values().filter_map(|member| member.pin).collect();
        assert_eq!(pins.iter().collect::<BTreeSet<_>>().len(), pins.len());
        assert_eq!(self.record.prompt_count, self.members.len() as u64);
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
fn responses_and_changed_records_share_their_texts() {
    let store = new_store();
    let alice = caller(&store, "alice");
    let created = prompt(&store, &alice);
    let query = PromptQuery { vault: None, kind: None, after: None, limit: 1 };
    let page = done(store.list_prompts(&alice, query)).unwrap();
    assert!(Arc::ptr_eq(&page.prompts[0], &created));
    let general = done(store.vaults(&alice)).unwrap()[0].id;
    let saved = done(store.save_prompt(&alice, created.id, general)).unwrap();
    assert!(Arc::ptr_eq(&created.text, &saved.text));
}

/// Otherwise a walk over pages could miss a prompt that appears on a page it has passed.
#[test]
fn a_new_prompt_never_appears_below_a_visible_one() {
    let store = new_store();
    let alice = caller(&store, "alice");
    let query = PromptQuery { vault: None, kind: None, after: None, limit: usize::MAX };
    let mut seen = Vec::new();
    std::thread::scope(|scope| {
        let create = || (0..500).for_each(|_| drop(prompt(&store, &alice)));
        let threads = [(); 4].map(|()| scope.spawn(create));
        while seen.len() < 4 * 500 {
            let page = done(store.list_prompts(&alice, query)).unwrap().prompts;
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
    let store = new_store();
    let alice = caller(&store, "alice");
    let account = store.account(alice.account).unwrap();
    let poisoned = std::thread::spawn(move || {
        let _locked = write(&account);
        panic!("a request fails");
    });
    assert!(poisoned.join().is_err());
    prompt(&store, &alice);
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
