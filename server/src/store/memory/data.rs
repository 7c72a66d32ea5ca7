//! All data of the store: its tables, and what is true of all of them.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use jiff::Timestamp;
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::rows::{Account, Code, Job, Kind, ListKey, Member, QueueKey, Session, StoredPrompt};
use super::table::{AnyTable, Change, Table};
use crate::clock::Clock;
use crate::domain::{
    AccountId, Caller, JobRecord, KeyId, KeyRecord, NewVault, PromptImage, VaultRecord,
    VaultVisibility,
};
use crate::limits::VAULTS_MAX;
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
}

impl Data {
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

    #[cfg(feature = "folder")]
    pub(super) fn load(&mut self, number: i64, kind: &str, text: &str) -> Result<(), String> {
        let table = self.tables().find(|table| table.kind() == Some(kind));
        let table = table.ok_or_else(|| format!("a record of the unknown kind {kind}"))?;
        table.load(number, text).map_err(|error| format!("the record {number} ({kind}): {error}"))
    }

    #[cfg(feature = "folder")]
    pub(super) fn derive(&mut self) {
        for key in self.keys.values() {
            self.public_ids.insert(key.public_id.clone(), key.id);
        }
        for job in self.jobs.values() {
            self.job_queue.insert(job.queue_key(), ());
            self.job_list.insert(job.list_key(), job.record.key.client_job_id.clone());
        }
    }
}

/// A step that is undone unless it is done when this is dropped: it may fail or panic.
pub(super) struct Step<'a> {
    pub(super) data: &'a mut Data,
    pub(super) is_done: bool,
}

impl<'a> Step<'a> {
    /// Begins a step. Those up to `settled` will not be undone.
    pub(super) fn begin(data: &'a mut Data, settled: u64) -> Self {
        data.last_step += 1;
        let step = data.last_step;
        data.tables().for_each(|table| table.begin(step, settled));
        Self { data, is_done: false }
    }
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.data.undo_from(self.data.last_step);
        }
    }
}
