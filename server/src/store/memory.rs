//! The in-memory store: needs no setup and loses everything at exit, unless it has a journal.
//!
//! One lock protects all data, and a step that fails is undone, so every method is atomic. Records are
//! shared snapshots (`Arc`): the lock is not held while a response is written, and a reader never sees
//! a later change.

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

use async_trait::async_trait;
use parking_lot::{Mutex, RwLock};
use tokio::sync::{Notify, OwnedMutexGuard};

use self::data::{Data, Step};
#[cfg(feature = "folder")]
pub(in crate::store) use self::journal::Undo;
use self::journal::{Ack, until_durable};
pub(in crate::store) use self::journal::{Batch, Journal};
#[cfg(feature = "folder")]
pub(in crate::store) use self::table::Change;
use super::{Result, Store, StoreError};
use crate::clock::Clock;
use crate::domain::{AccountId, Caller};

/// A [`Store`] in memory. Without a journal its futures are ready at once, except for
/// [`job_due`](super::JobQueue::job_due), and for steps that take long while the account has another
/// one.
#[derive(Debug)]
pub struct MemoryStore {
    data: Arc<RwLock<Data>>,
    /// Keeps the data beyond the end of the process.
    journal: Option<Box<dyn Journal>>,
    jobs_changed: Notify,
    /// Acquired before the lock for a step that takes long.
    long_steps: Mutex<HashMap<AccountId, Arc<tokio::sync::Mutex<()>>>>,
}

impl MemoryStore {
    /// An empty store that takes its times from `clock`.
    pub fn new(clock: Clock) -> Self {
        let data = Arc::new(RwLock::new(Data::new(clock)));
        Self { data, journal: None, jobs_changed: Notify::new(), long_steps: Mutex::default() }
    }

    /// The same with another limit of the vaults of an account.
    #[must_use]
    pub fn with_vaults_max(self, vaults_max: usize) -> Self {
        self.data.write().vaults_max = vaults_max;
        self
    }

    /// Waits until the account has no other step that takes long. With a large vault it takes
    /// 100 ms, during which nobody else has the lock.
    async fn long_step(&self, caller: &Caller) -> Result<OwnedMutexGuard<()>> {
        self.look(|data| data.check(caller)).await?;
        let turn = self.long_steps.lock().entry(caller.account).or_default().clone();
        Ok(turn.lock_owned().await)
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

    /// Checks the caller's key, and runs a step that changes nothing.
    async fn read<T: Send>(
        &self,
        caller: &Caller,
        step: impl Fn(&Data) -> Result<T> + Send + Sync,
    ) -> Result<T> {
        self.look(|data| data.check(caller).and_then(|()| step(data))).await
    }

    /// Checks the caller's key, and runs a step.
    async fn write<T: Send>(
        &self,
        caller: &Caller,
        step: impl FnOnce(&mut Data) -> Result<T> + Send,
    ) -> Result<T> {
        self.step(|data| data.check(caller).and_then(|()| step(data))).await
    }

    /// For the changes of a step, and for all steps before it: what a caller has seen of them must not
    /// be lost either.
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
