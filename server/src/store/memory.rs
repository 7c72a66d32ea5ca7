//! The in-memory store: needs no setup and loses everything at exit, unless it has a journal.
//!
//! One lock protects all data, and a step that fails is undone, so every method is atomic. Records
//! are shared snapshots (`Arc`): the lock is not held while a response is written.

mod account;
mod accounts;
mod data;
mod jobs;
mod keys;
mod prompts;
mod queue;
mod table;
#[cfg(test)]
mod tests;
mod vaults;
#[cfg(feature = "webhooks")]
mod webhooks;

use std::collections::HashMap;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use parking_lot::{Mutex, RwLock};
use tokio::sync::{Notify, oneshot};

use self::account::AccountView;
use self::data::Data;
pub(in crate::store) use self::table::Change;
use super::{Result, Store, StoreError};
use crate::clock::Clock;
use crate::domain::{Caller, KeyId};
use crate::quota::{Permit, Quota};

/// A [`Store`] in memory. Without a journal its futures are ready at once, except for
/// [`job_due`](super::JobQueue::job_due) and a second long step of an account.
#[derive(Debug)]
pub struct MemoryStore {
    data: Arc<RwLock<Data>>,
    journal: Option<Box<dyn Journal>>,
    jobs_changed: Notify,
    /// With a large vault a step takes 100 ms, during which it has the lock: one per account.
    long_steps: Quota,
    /// Attempts to record a use of a key or session that are running or have failed.
    uses: Mutex<HashMap<KeyId, Timestamp>>,
}

impl MemoryStore {
    /// An empty store that takes its times from `clock`.
    pub fn new(clock: Clock) -> Self {
        let data = Arc::new(RwLock::new(Data::new(clock)));
        let long_steps = Quota::new("long_steps", "the steps that take long", usize::MAX, 1);
        let (journal, jobs_changed, uses) = Default::default();
        Self { data, journal, jobs_changed, long_steps, uses }
    }

    #[must_use]
    pub fn with_vaults_max(self, vaults_max: usize) -> Self {
        self.data.write().vaults_max = vaults_max;
        self
    }

    async fn long_step(&self, caller: &Caller) -> Result<Permit> {
        let permit = self.long_steps.acquire(caller.account, 1, Duration::MAX).await;
        permit.map_err(StoreError::Busy)
    }

    /// Runs a step. It is undone if it fails or panics, and if the journal cannot make it durable.
    async fn step<T: Send>(&self, step: impl FnOnce(&mut Data) -> Result<T> + Send) -> Result<T> {
        let (result, durable) = {
            let mut data = self.data.write();
            let last = data.last_step;
            data.begin(self.journal.as_ref().map_or(last, |journal| journal.last_durable()));
            let result = catch_unwind(AssertUnwindSafe(|| step(&mut data)));
            if !matches!(result, Ok(Ok(_))) {
                data.undo_from(last + 1);
            }
            let result = result.unwrap_or_else(|panic| resume_unwind(panic));
            let is_changed = result.is_ok() && self.journal.is_some();
            let changes = if is_changed { data.changes() } else { Vec::new() };
            (result, self.durable(data.last_step, changes))
        };
        durable.await?;
        result
    }

    /// Runs a step that changes nothing, again if what it has seen is undone.
    async fn look<T: Send>(&self, step: impl Fn(&Data) -> Result<T> + Send + Sync) -> Result<T> {
        loop {
            let (result, durable) = {
                let data = self.data.read();
                (step(&data), self.durable(data.last_step, Vec::new()))
            };
            match durable.await {
                Err(StoreError::NotDurable { .. }) => {}
                Err(error) => return Err(error),
                Ok(()) => return result,
            }
        }
    }

    async fn read<T: Send>(
        &self,
        caller: &Caller,
        step: impl Fn(&AccountView<&Data>) -> Result<T> + Send + Sync,
    ) -> Result<T> {
        self.look(|data| data.check(caller).and_then(|()| step(&data.of(caller.account)))).await
    }

    /// Checks the caller's key, and runs a step.
    async fn write<T: Send>(
        &self,
        caller: &Caller,
        step: impl FnOnce(&mut AccountView<&mut Data>) -> Result<T> + Send,
    ) -> Result<T> {
        self.step(|data| {
            data.check(caller)?;
            step(&mut data.of_mut(caller.account))
        })
        .await
    }

    /// Waits for the changes of a step, and those before it: what a caller has seen must not be lost.
    fn durable(&self, step: u64, changes: Vec<Change>) -> impl Future<Output = Result<()>> + use<> {
        let mut ack = None;
        if let Some(journal) = &self.journal
            && (!changes.is_empty() || step > journal.last_durable())
        {
            let (done, acknowledged) = oneshot::channel();
            journal.append(Batch { step, changes, done });
            ack = Some(acknowledged);
        }
        async {
            let Some(ack) = ack else { return Ok(()) };
            ack.await.map_err(|_| StoreError::OutcomeUnknown("the journal has ended".into()))?
        }
    }
}

#[async_trait]
impl Store for MemoryStore {
    fn name(&self) -> &'static str {
        if self.journal.is_some() { "folder" } else { "memory" }
    }

    async fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// Makes the steps of a store durable, in their order.
pub(in crate::store) trait Journal: Debug + Send + Sync {
    fn append(&self, batch: Batch);

    /// The last step that is durable, as are all before it.
    fn last_durable(&self) -> u64;
}

/// What one step has changed; nothing, if somebody waits for the steps before.
#[derive(Debug)]
pub(in crate::store) struct Batch {
    pub(in crate::store) step: u64,
    pub(in crate::store) changes: Vec<Change>,
    /// Gets `Ok` when this and all earlier batches are durable, and the error otherwise.
    pub(in crate::store) done: oneshot::Sender<Result<()>>,
}

/// Undoes the steps that a journal could not make durable.
#[cfg(feature = "folder")]
pub(in crate::store) struct Undo(Arc<RwLock<Data>>);

#[cfg(feature = "folder")]
impl Undo {
    /// Undoes the steps after `durable`. No step is taken while `refuse` runs.
    pub(in crate::store) fn after(&self, durable: u64, refuse: impl FnOnce()) {
        let mut data = self.0.write();
        data.undo_from(durable + 1);
        refuse();
    }
}

#[cfg(feature = "folder")]
impl MemoryStore {
    /// Adds a record of a journal.
    pub(in crate::store) fn load(&self, number: i64, kind: &str, text: &str) -> Result<(), String> {
        let mut data = self.data.write();
        let loaded = data.tables().find_map(|table| table.load(number, kind, text));
        let loaded = loaded.ok_or_else(|| format!("a record of the unknown kind {kind}"))?;
        loaded.map_err(|error| format!("the record {number} ({kind}): {error}"))
    }

    /// Writes its steps to this journal from now on, after all records are loaded.
    pub(in crate::store) fn with_journal<J: Journal + 'static, E>(
        mut self,
        start: impl FnOnce(Undo) -> Result<J, E>,
    ) -> Result<Self, E> {
        {
            let data = &mut *self.data.write();
            for key in data.keys.values() {
                data.public_ids.insert(key.public_id.clone(), key.id);
            }
            for job in data.jobs.values() {
                data.job_queue.insert(job.queue_key(), ());
                data.job_list.insert(job.list_key(), job.record.key.client_job_id.clone());
            }
        }
        self.journal = Some(Box::new(start(Undo(self.data.clone()))?));
        Ok(self)
    }
}
