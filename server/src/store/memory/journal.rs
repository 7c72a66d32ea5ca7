//! What keeps the steps of a store in memory, in their order.

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
    /// Is told when this and all earlier batches are kept, or that this one is not.
    pub(in crate::store) done: oneshot::Sender<Result<()>>,
}

pub(in crate::store) trait Journal: Debug + Send + Sync {
    fn keep(&self, batch: Batch);

    /// The last step that is kept, as are all before it.
    fn kept(&self) -> u64;
}

/// Absent where there is nothing to wait for.
pub(super) type Receipt = Option<oneshot::Receiver<Result<()>>>;

pub(super) async fn kept(receipt: Receipt) -> Result<()> {
    let Some(receipt) = receipt else { return Ok(()) };
    let lost = || Err(StoreError::OutcomeUnknown("the journal has ended".into()));
    receipt.await.unwrap_or_else(|_| lost())
}

/// Undoes the steps that a journal could not keep.
#[cfg(feature = "folder")]
pub(in crate::store) struct Undo(Arc<RwLock<Data>>);

#[cfg(feature = "folder")]
impl Undo {
    /// Undoes the steps after `kept`. No step is taken while `refuse` runs.
    pub(in crate::store) fn after(&self, kept: u64, refuse: impl FnOnce()) {
        let mut data = self.0.write();
        data.undo_from(kept + 1);
        refuse();
    }
}

#[cfg(feature = "folder")]
impl MemoryStore {
    /// Adds a record of a journal.
    pub(in crate::store) fn load(&self, number: i64, kind: &str, text: &str) -> Result<(), String> {
        self.data.write().load(number, kind, text)
    }

    /// Has its steps kept from now on, after all records are loaded.
    pub(in crate::store) fn with_journal<J: Journal + 'static, E>(
        mut self,
        start: impl FnOnce(Undo) -> Result<J, E>,
    ) -> Result<Self, E> {
        self.data.write().derive();
        self.journal = Some(Box::new(start(Undo(self.data.clone()))?));
        Ok(self)
    }
}
