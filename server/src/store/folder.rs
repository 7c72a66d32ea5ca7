//! The store in a folder: the store in memory, whose changes are written to an SQLite database.
//!
//! The database has one table of records in JSON, all of which are loaded at the start. One thread
//! writes the changes of steps.

mod file;
#[cfg(test)]
mod frozen;
#[cfg(test)]
pub(in crate::store) mod tests;

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

pub(crate) use self::file::{DATABASE, Problem, copy_database};
use self::file::{PARTIAL, check_header, commit, is_full};
use super::StoreError;
use super::memory::{Batch, Journal, MemoryStore, Undo};
use crate::clock::Clock;
use crate::error_chain::error_chain;
use crate::limits::product::FOLDER_LOCK_WAIT;

/// Locked by the server of the folder, and has its process id.
const LOCK: &str = "lock";
/// Names that may be in a folder before its first start.
const ALLOWED: [&str; 4] = ["blobs", "lost+found", PARTIAL, LOCK];

/// A folder that no other process uses.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// The folder itself, whose lock stays if the lock file is removed, and that file. They are
    /// unlocked when they are dropped.
    _locks: [Option<File>; 2],
}

impl Folder {
    /// Locks a folder, which is created if it is absent.
    ///
    /// # Errors
    /// What is wrong with it, and what to do.
    pub(crate) fn lock(path: &Path) -> Result<Self, Problem> {
        // Relative only if there is no working directory.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let problem = |error: io::Error| Problem::io(&path, &error);
        let database = path.join(DATABASE);
        match check_header(&database) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => check_empty(&path)?,
            outcome => outcome.map_err(problem)?.map_err(|why| Problem::new(&path, why))?,
        }
        let mut builder = fs::DirBuilder::new();
        // Only this user may read it.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(&path).map_err(problem)?;
        let mut options = File::options();
        let lock =
            options.create(true).truncate(false).read(true).write(true).open(path.join(LOCK));
        let mut lock = lock.map_err(problem)?;
        // Not every system locks folders.
        let folder = File::open(&path).ok();
        let is_used = |of: &File| matches!(of.try_lock(), Err(fs::TryLockError::WouldBlock));
        let began = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) if !folder.as_ref().is_some_and(is_used) => break,
                Err(fs::TryLockError::Error(error)) => return Err(problem(error)),
                // A command, or a server that is ending.
                Err(_) if began.elapsed() < FOLDER_LOCK_WAIT => {
                    thread::sleep(FOLDER_LOCK_WAIT / 50);
                }
                _ => {
                    let mut process = String::new();
                    let _ = lock.read_to_string(&mut process);
                    let used =
                        format!("another server uses this folder (process {})", process.trim());
                    let why = used + "; stop that one, or name another folder";
                    return Err(Problem::new(&path, why));
                }
            }
        }
        lock.set_len(0).and_then(|()| writeln!(lock, "{}", std::process::id())).map_err(problem)?;
        Ok(Self { path, _locks: [folder, Some(lock)] })
    }

    /// Loads the data of the folder.
    ///
    /// # Errors
    /// What is wrong with it, and what to do.
    pub(crate) fn open(self, clock: Clock) -> Result<MemoryStore, Problem> {
        let path = self.path.clone();
        let problem = |error: rusqlite::Error| Problem::sqlite(&path, &error);
        let database = path.join(DATABASE);
        if !database.exists() {
            file::create(&database).map_err(|error| Problem::io(&path, &error))?;
        }
        let mut connection = file::open(&database).map_err(problem)?;
        let store = MemoryStore::new(clock);
        #[cfg(feature = "webhooks")]
        store.add_webhooks();
        let loaded = file::load(&connection, &store).map_err(problem)?;
        loaded.map_err(|why| Problem::damaged(&path, &why))?;
        let write: Write = Box::new(move |batches| match database.exists() {
            true => commit(&mut connection, batches),
            // SQLite would go on to write to a file that is deleted, moved or unmounted.
            false => Err(rusqlite::Error::InvalidPath(database.clone())),
        });
        let store = store.with_journal(|undo| FolderJournal::start(self, write, undo));
        store.map_err(|error| Problem::io(&path, &error))
    }
}

/// Whether a server has had its data in a folder.
pub(crate) fn has_data(folder: &Path) -> bool {
    folder.join(DATABASE).exists()
}

/// Checks that a folder without a database has nothing else either.
fn check_empty(path: &Path) -> Result<(), Problem> {
    let Ok(entries) = fs::read_dir(path) else { return Ok(()) };
    let is_foreign = |name: &Path| !ALLOWED.iter().any(|allowed| name == Path::new(allowed));
    let names = entries.flatten().map(|entry| PathBuf::from(entry.file_name()));
    match names.into_iter().find(|name| is_foreign(name)) {
        Some(name) => {
            let has = format!("it has {} and no {DATABASE}", name.display());
            let advice = "name an empty or a new folder";
            let why = format!("this folder belongs to something else: {has}; {advice}");
            Err(Problem::new(path, why))
        }
        None => Ok(()),
    }
}

/// Writes batches as a whole or not at all, and waits until they are on the disk.
type Write = Box<dyn FnMut(&[Batch]) -> rusqlite::Result<()> + Send>;

struct Writer {
    write: Write,
    batches: Receiver<Batch>,
    durable: Arc<AtomicU64>,
    undo: Undo,
    /// Whether the last batches could not be written.
    is_failing: bool,
}

/// The journal in a folder.
#[derive(Debug)]
struct FolderJournal {
    durable: Arc<AtomicU64>,
    /// `None` only while it is dropped.
    batches: Option<Sender<Batch>>,
    thread: Option<JoinHandle<()>>,
    /// Locked until the thread has ended.
    _folder: Folder,
}

impl FolderJournal {
    fn start(folder: Folder, write: Write, undo: Undo) -> io::Result<Self> {
        let (sender, batches) = channel();
        let durable = Arc::<AtomicU64>::default();
        let writer = Writer { write, batches, durable: durable.clone(), undo, is_failing: false };
        let thread = thread::Builder::new().name("data-folder".to_owned());
        let thread = Some(thread.spawn(|| writer.run())?);
        Ok(Self { durable, batches: Some(sender), thread, _folder: folder })
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

impl Writer {
    /// Writes the batches that wait, until the store is dropped.
    fn run(mut self) {
        while let Ok(first) = self.batches.recv() {
            let mut waiting = vec![first];
            waiting.extend(self.batches.try_iter());
            let is_empty = waiting.iter().all(|batch| batch.changes.is_empty());
            let failure = if is_empty { None } else { (self.write)(&waiting).err() };
            match &failure {
                Some(error) if !self.is_failing => tracing::error!(
                    error = error_chain(error),
                    "the data folder cannot be written; nothing is changed until it can"
                ),
                None if self.is_failing => tracing::info!("the data folder can be written again"),
                _ => {}
            }
            self.is_failing = failure.is_some();
            if failure.is_some() {
                let durable = self.durable.load(Acquire);
                self.undo.after(durable, || waiting.extend(self.batches.try_iter()));
            } else {
                let last = waiting.last().map_or(0, |batch| batch.step);
                self.durable.fetch_max(last, Release);
            }
            for batch in waiting {
                let outcome = failure.as_ref().map_or(Ok(()), |error| {
                    let (is_full, cause) = (is_full(error), error.to_string().into());
                    Err(StoreError::NotDurable { is_full, cause })
                });
                // Nobody may wait any more.
                let _ = batch.done.send(outcome);
            }
        }
    }
}
