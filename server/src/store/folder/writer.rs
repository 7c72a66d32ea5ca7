//! The thread that writes the changes of steps.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Release},
};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use super::Folder;
use super::file::is_full;
use crate::error_chain::error_chain;
use crate::store::StoreError;
use crate::store::memory::{Batch, Journal, Undo};

/// Writes batches as a whole or not at all, and waits until they are on the disk.
pub(super) type Write = Box<dyn FnMut(&[Batch]) -> rusqlite::Result<()> + Send>;

struct Writer {
    write: Write,
    batches: Receiver<Batch>,
    durable: Arc<AtomicU64>,
    undo: Undo,
    /// Whether the last batches could not be written.
    is_failing: bool,
}

/// The journal in a folder.
pub(super) struct FolderJournal {
    durable: Arc<AtomicU64>,
    /// `None` only while it is dropped.
    batches: Option<Sender<Batch>>,
    thread: Option<JoinHandle<()>>,
    /// Locked until the thread has ended.
    folder: Folder,
}

impl FolderJournal {
    pub(super) fn start(folder: Folder, write: Write, undo: Undo) -> io::Result<Self> {
        let (sender, batches) = channel();
        let durable = Arc::<AtomicU64>::default();
        let writer = Writer { write, batches, durable: durable.clone(), undo, is_failing: false };
        let thread = thread::Builder::new().name("data-folder".to_owned());
        let thread = Some(thread.spawn(|| writer.run())?);
        Ok(Self { durable, batches: Some(sender), thread, folder })
    }
}

impl Journal for FolderJournal {
    fn append(&self, batch: Batch) {
        // If the thread has ended, the caller sees that the batch is dropped.
        let _ = self.batches.as_ref().map(|batches| batches.send(batch));
    }

    fn last_durable(&self) -> u64 {
        self.durable.load(Acquire)
    }
}

/// Waits until all is written.
impl Drop for FolderJournal {
    fn drop(&mut self) {
        drop(self.batches.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl fmt::Debug for FolderJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FolderJournal").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Writer {
    /// Writes the batches that wait, until the store is dropped.
    fn run(mut self) {
        while let Ok(first) = self.batches.recv() {
            let mut waiting = vec![first];
            waiting.extend(self.batches.try_iter());
            let is_empty = waiting.iter().all(|batch| batch.changes.is_empty());
            let written = if is_empty { Ok(()) } else { (self.write)(&waiting) };
            match written {
                Ok(()) => {
                    self.note(None);
                    let last = waiting.last().map_or(0, |batch| batch.step);
                    self.durable.fetch_max(last, Release);
                    waiting.into_iter().for_each(|batch| answer(batch, None));
                }
                Err(error) => {
                    self.note(Some(&error));
                    let durable = self.durable.load(Acquire);
                    self.undo.after(durable, || waiting.extend(self.batches.try_iter()));
                    waiting.into_iter().for_each(|batch| answer(batch, Some(&error)));
                }
            }
        }
    }

    fn note(&mut self, failure: Option<&rusqlite::Error>) {
        match failure {
            Some(error) if !self.is_failing => tracing::error!(
                error = error_chain(error),
                "the data folder cannot be written; nothing is changed until it can"
            ),
            None if self.is_failing => tracing::info!("the data folder can be written again"),
            _ => {}
        }
        self.is_failing = failure.is_some();
    }
}

fn answer(batch: Batch, failure: Option<&rusqlite::Error>) {
    let refused = |error: &rusqlite::Error| {
        let is_full = is_full(error);
        Err(StoreError::NotDurable { is_full, cause: error.to_string().into() })
    };
    // Nobody may wait any more.
    let _ = batch.done.send(failure.map_or(Ok(()), refused));
}
