//! The in-memory store: needs no setup and loses everything at exit, unless it has a journal.
//!
//! One lock protects all data, and a step that fails is undone, so every method is atomic. Records
//! are shared snapshots (`Arc`): the lock is not held while a response is written.

mod account;
mod accounts;
mod admin;
mod data;
mod job;
mod jobs;
mod journal;
mod keys;
mod prompts;
mod queue;
mod rows;
mod table;
#[cfg(test)]
mod tests;
mod vaults;
#[cfg(feature = "webhooks")]
mod webhooks;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;

use self::account::AccountView;
use self::data::{Data, Step};
#[cfg(feature = "folder")]
pub(in crate::store) use self::journal::Undo;
use self::journal::{Ack, until_durable};
pub(in crate::store) use self::journal::{Batch, Journal};
#[cfg(feature = "folder")]
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
        let (result, ack) = {
            let mut data = self.data.write();
            let settled =
                self.journal.as_ref().map_or(data.last_step, |journal| journal.last_durable());
            let mut running = Step::begin(&mut data, settled);
            let result = step(running.data);
            running.is_done = result.is_ok();
            drop(running);
            let is_changed = result.is_ok() && self.journal.is_some();
            let changes = if is_changed { data.changes() } else { Vec::new() };
            (result, self.ack(data.last_step, changes))
        };
        until_durable(ack).await?;
        result
    }

    /// Runs a step that changes nothing, again if what it has seen is undone.
    async fn look<T: Send>(&self, step: impl Fn(&Data) -> Result<T> + Send + Sync) -> Result<T> {
        loop {
            let (result, ack) = {
                let data = self.data.read();
                (step(&data), self.ack(data.last_step, Vec::new()))
            };
            match until_durable(ack).await {
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

    /// For the changes of a step, and those before it: what a caller has seen must not be lost.
    fn ack(&self, step: u64, changes: Vec<table::Change>) -> Ack {
        let journal = self.journal.as_ref()?;
        if changes.is_empty() && step <= journal.last_durable() {
            return None;
        }
        let (done, ack) = tokio::sync::oneshot::channel();
        journal.append(Batch { step, changes, done });
        Some(ack)
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
