//! The store in a folder: the store in memory, whose changes are written to an SQLite database.
//!
//! The database has one table of records in JSON, all of which are loaded at the start. One thread
//! writes the changes of steps.

mod file;
#[cfg(test)]
mod frozen;
#[cfg(test)]
pub(in crate::store) mod tests;
mod writer;

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

pub(crate) use self::file::{DATABASE, Problem, copy_database};
use self::file::{check_header, commit};
use self::writer::{FolderJournal, Write};
use super::memory::MemoryStore;
use crate::clock::Clock;

/// Locked by the server of the folder, and has its process id.
const LOCK: &str = "lock";
/// Names that may be in a folder before its first start.
const ALLOWED: [&str; 4] = ["blobs", "lost+found", "promptarium.partial", LOCK];

/// A folder that no other process uses.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// Unlocked when it is dropped.
    _lock: File,
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
        create(&path).map_err(problem)?;
        let mut options = File::options();
        let lock =
            options.create(true).truncate(false).read(true).write(true).open(path.join(LOCK));
        let mut lock = lock.map_err(problem)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                let mut process = String::new();
                let _ = lock.read_to_string(&mut process);
                return Err(Problem::new(
                    &path,
                    format!(
                        "another server uses this folder (process {}); stop that one, or name another \
                     folder",
                        process.trim()
                    ),
                ));
            }
            Err(fs::TryLockError::Error(error)) => return Err(problem(error)),
        }
        lock.set_len(0).and_then(|()| writeln!(lock, "{}", std::process::id())).map_err(problem)?;
        Ok(Self { path, _lock: lock })
    }

    /// Loads the data of the folder.
    ///
    /// # Errors
    /// What is wrong with it, and what to do.
    pub(crate) fn open(self, clock: Clock) -> Result<MemoryStore, Problem> {
        let path = self.path.clone();
        let problem = |error: rusqlite::Error| Problem::sqlite(&path, &error);
        let mut connection = file::open(&path.join(DATABASE)).map_err(problem)?;
        let store = MemoryStore::new(clock);
        #[cfg(feature = "webhooks")]
        store.add_webhooks();
        let loaded = file::load(&connection, &store).map_err(problem)?;
        loaded.map_err(|why| Problem::damaged(&path, &why))?;
        let write: Write = Box::new(move |batches| commit(&mut connection, batches));
        let store = store.with_journal(|undo| FolderJournal::start(self, write, undo));
        store.map_err(|error| Problem::io(&path, &error))
    }
}

/// Whether a server has had its data in a folder.
pub(crate) fn has_data(folder: &Path) -> bool {
    folder.join(DATABASE).exists()
}

/// Creates a folder that only this user may read.
fn create(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

/// Checks that a folder without a database has nothing else either.
fn check_empty(path: &Path) -> Result<(), Problem> {
    let Ok(entries) = fs::read_dir(path) else { return Ok(()) };
    let is_foreign = |name: &Path| !ALLOWED.iter().any(|allowed| name == Path::new(allowed));
    let names = entries.flatten().map(|entry| PathBuf::from(entry.file_name()));
    match names.into_iter().find(|name| is_foreign(name)) {
        Some(name) => Err(Problem::new(
            path,
            format!(
                "this folder belongs to something else: it has {} and no {DATABASE}; name an empty or \
             a new folder",
                name.display()
            ),
        )),
        None => Ok(()),
    }
}
