//! All data of the store: its tables, what is true of all of them, and their rows, as records have
//! them in JSON. A field that comes later needs a default.

use std::any::Any;
use std::cmp::Reverse;
use std::fmt::Debug;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use promptarium::{PromptId, VaultId, VaultPromptId};
use serde::{Deserialize, Serialize};

use super::table::{AnyTable, Change, Table};
use crate::clock::{Clock, after};
use crate::domain::{
    AccountId, Caller, JobKey, JobRecord, JobState, KeyId, KeyRecord, NewVault, PromptImage,
    PromptInputs, SessionRecord, SharedPrompt, VaultRecord, VaultVisibility,
};
use crate::limits::{SESSION_IDLE, VAULTS_MAX};
use crate::store::{Result, StoreError};

/// Declares the tables: the name of each, the kind of its records, its keys and its rows.
macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident: $kind:expr, $key:ty => $row:ty;)*) => {
        #[derive(Debug)]
        pub(super) struct Data {
            $($(#[$doc])* pub(super) $name: Table<$key, $row>,)*
            pub(super) extension: Option<Box<dyn Extension>>,
            pub(super) clock: Clock,
            pub(super) vaults_max: usize,
            /// The last step that took effect.
            pub(super) last_step: u64,
        }

        impl Data {
            pub(super) fn new(clock: Clock) -> Self {
                let (extension, vaults_max, last_step, numbers) = (None, VAULTS_MAX, 0, Arc::default());
                $(let $name = Table::new($kind, &numbers);)*
                Self { $($name,)* extension, clock, vaults_max, last_step }
            }

            pub(super) fn tables(&mut self) -> impl Iterator<Item = &mut dyn AnyTable> {
                let own = [$(&mut self.$name as &mut dyn AnyTable),*].into_iter();
                own.chain(self.extension.iter_mut().flat_map(|more| more.tables()))
            }
        }
    };
}

tables! {
    accounts: Some("account"), AccountId => Account;
    prompts: Some("prompt"), (AccountId, PromptId) => StoredPrompt;
    vaults: Some("vault"), (AccountId, VaultId) => VaultRecord;
    /// In the order of addition.
    members: Some("member"), (AccountId, VaultId, VaultPromptId) => Member;
    jobs: Some("job"), (AccountId, Arc<str>) => Job;
    /// API keys, revoked ones too.
    keys: Some("key"), KeyId => KeyRecord;
    sessions: Some("session"), KeyId => Session;
    codes: Some("code"), [u8; 32] => Code;
    settings: Some("setting"), String => Vec<u8>;
    last_ids: Some("last-id"), Kind => i64;
    /// Derived from the keys.
    public_ids: None, Box<str> => KeyId;
    /// Derived from the jobs: when they are due, or when they ended.
    job_queue: None, QueueKey => ();
    /// Derived from the jobs: their names.
    job_list: None, ListKey => Arc<str>;
}

/// Three tables that a program adds to those of the store.
pub(super) trait Extension: Any + Debug + Send + Sync {
    fn tables(&mut self) -> [&mut dyn AnyTable; 3];

    /// Takes note that a job has ended, with these images.
    fn job_ended(&mut self, job: &JobRecord, images: Arc<[PromptImage]>);

    fn delete_account(&mut self, account: AccountId);
}

impl Data {
    /// Checks that the caller's key is not revoked, or its session has not ended.
    pub(super) fn check(&self, caller: &Caller) -> Result<()> {
        let is_live = match self.keys.get(&caller.key) {
            Some(key) => !key.is_revoked(),
            None => self.sessions.get(&caller.key).is_some_and(|session| !session.has_ended),
        };
        is_live.then_some(()).ok_or(StoreError::KeyRevoked)
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn next_id(&mut self, kind: Kind) -> i64 {
        let id = self.last_ids.get(&kind).copied().unwrap_or_default() + 1;
        self.last_ids.insert(kind, id);
        id
    }

    pub(super) fn account_named(&self, name: &str) -> Option<AccountId> {
        let mut accounts = self.accounts.iter();
        accounts.find(|(_, account)| *account.name == *name).map(|(id, _)| *id)
    }

    /// Creates an account with its General vault.
    pub(super) fn create_account(&mut self, name: &str) -> AccountId {
        let (id, created_at) = (AccountId(self.next_id(Kind::Other)), self.now());
        self.accounts.insert(id, Account { name: name.into(), created_at });
        let visibility = VaultVisibility::Private;
        let general = NewVault { name: "General".into(), description: None, visibility };
        self.of_mut(id).insert_vault(VaultRecord { system: true, ..general.record(created_at) });
        id
    }

    /// Begins a step. Those up to `settled` will not be undone.
    pub(super) fn begin(&mut self, settled: u64) {
        self.last_step += 1;
        let step = self.last_step;
        self.tables().for_each(|table| table.begin(step, settled));
    }

    /// The records that the last step changed. A step without any does not count.
    pub(super) fn changes(&mut self) -> Vec<Change> {
        let (step, mut changes) = (self.last_step, Vec::new());
        self.tables().for_each(|table| table.changes(step, &mut changes));
        self.last_step -= u64::from(changes.is_empty());
        changes
    }

    pub(super) fn undo_from(&mut self, step: u64) {
        self.tables().for_each(|table| table.undo_from(step));
        self.last_step = step - 1;
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Account {
    pub(super) name: Box<str>,
    pub(super) created_at: Timestamp,
}

/// Kinds of ids that are counted on their own, as a database does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Kind {
    Prompt,
    Vault,
    Membership,
    Other,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredPrompt {
    pub(super) shown: SharedPrompt,
    pub(super) inputs: PromptInputs,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Member {
    pub(super) prompt: PromptId,
    /// If it is pinned; later pins are greater.
    pub(super) pin: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Session {
    /// Of what the browser keeps.
    pub(super) digest: [u8; 32],
    pub(super) record: SessionRecord,
    pub(super) has_ended: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Code {
    pub(super) account: AccountId,
    pub(super) expires_at: Timestamp,
}

impl Session {
    pub(super) fn is_valid(&self, now: Timestamp) -> bool {
        let idle_end = after(self.record.last_seen_at, SESSION_IDLE);
        !self.has_ended && self.record.expires_at > now && idle_end > now
    }
}

/// A job with what its workers need.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) record: JobRecord,
    pub(super) digest: [u8; 32],
    /// When it was reserved, and later, when it is due for workers.
    pub(super) due_at: Timestamp,
    /// Of the lease on it, which runs until it is due.
    pub(super) fence: Option<u128>,
    pub(super) failed_attempts: u32,
    /// When the first of them was.
    pub(super) failing_since: Option<Timestamp>,
}

/// Where a job is among those that its account has listed, newest first.
pub(super) type ListKey = (AccountId, Reverse<(Timestamp, [u8; 32])>);

/// What is to be done with a job next: its submission, its work, and its deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Phase {
    Submitting,
    Queued,
    Ended,
}

/// Where a job is among all jobs: those of one phase and account in the order of their times.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct QueueKey {
    pub(super) phase: Phase,
    pub(super) account: AccountId,
    /// When it is due, and after its end, when that was.
    pub(super) at: Timestamp,
    pub(super) name: Arc<str>,
}

impl QueueKey {
    pub(super) fn job(&self) -> (AccountId, Arc<str>) {
        (self.account, self.name.clone())
    }
}

impl Job {
    pub(super) const fn phase(&self) -> Phase {
        match self.record.state {
            JobState::Submitting => Phase::Submitting,
            JobState::Queued(_) | JobState::InProgress(_) => Phase::Queued,
            JobState::Completed(..) | JobState::Failed(..) => Phase::Ended,
        }
    }

    pub(super) fn is_submitting(&self) -> bool {
        self.phase() == Phase::Submitting
    }

    pub(super) fn queue_key(&self) -> QueueKey {
        let (phase, key) = (self.phase(), self.record.key.clone());
        let at = if phase == Phase::Ended { self.record.updated_at } else { self.due_at };
        QueueKey { phase, account: key.account, at, name: key.client_job_id }
    }

    pub(super) fn list_key(&self) -> ListKey {
        let JobRecord { key, created_at, .. } = &self.record;
        (key.account, Reverse((*created_at, JobKey::name_digest(&key.client_job_id))))
    }

    pub(super) fn enter(&mut self, state: JobState, now: Timestamp) {
        self.record.state = state;
        self.record.updated_at = later(now, self.record.updated_at);
    }

    pub(super) fn end(&mut self, state: JobState, now: Timestamp) {
        self.enter(state, now);
        self.fence = None;
    }

    pub(super) fn fail_attempt(&mut self, now: Timestamp) {
        self.failed_attempts += 1;
        self.failing_since.get_or_insert(now);
    }
}

/// The time of a change: now, but at least a microsecond after the previous change.
pub(super) fn later(now: Timestamp, before: Timestamp) -> Timestamp {
    let tick = SignedDuration::from_micros(1);
    now.max(before.checked_add(tick).unwrap_or(Timestamp::MAX))
}
