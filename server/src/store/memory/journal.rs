//! The journal, which makes the steps of a store in memory durable, in their order.

use std::fmt::Debug;
#[cfg(feature = "folder")]
use std::sync::Arc;

#[cfg(feature = "folder")]
use parking_lot::RwLock;
use tokio::sync::oneshot;

#[cfg(feature = "folder")]
use super::MemoryStore;
#[cfg(feature = "folder")]
use super::data::Data;
use super::table::Change;
use crate::store::{Result, StoreError};

/// What one step has changed; nothing, if somebody waits for the steps before.
#[derive(Debug)]
pub(in crate::store) struct Batch {
    pub(in crate::store) step: u64,
    pub(in crate::store) changes: Vec<Change>,
    /// Gets `Ok` when this and all earlier batches are durable, and the error otherwise.
    pub(in crate::store) done: oneshot::Sender<Result<()>>,
}

pub(in crate::store) trait Journal: Debug + Send + Sync {
    fn append(&self, batch: Batch);

    /// The last step that is durable, as are all before it.
    fn last_durable(&self) -> u64;
}

/// Absent where there is nothing to wait for.
pub(super) type Ack = Option<oneshot::Receiver<Result<()>>>;

pub(super) async fn until_durable(ack: Ack) -> Result<()> {
    let Some(ack) = ack else { return Ok(()) };
    let lost = || Err(StoreError::OutcomeUnknown("the journal has ended".into()));
    ack.await.unwrap_or_else(|_| lost())
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
        self.data.write().load(number, kind, text)
    }

    /// Writes its steps to this journal from now on, after all records are loaded.
    pub(in crate::store) fn with_journal<J: Journal + 'static, E>(
        mut self,
        start: impl FnOnce(Undo) -> Result<J, E>,
    ) -> Result<Self, E> {
        self.data.write().derive();
        self.journal = Some(Box::new(start(Undo(self.data.clone()))?));
        Ok(self)
    }
}
