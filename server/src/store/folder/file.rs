//! The database file: its format, and what can be wrong with it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rusqlite::ffi::{SQLITE_FULL, SQLITE_IOERR_SHMSIZE};
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use tempfile::Builder;

use crate::store::memory::{Batch, Change, MemoryStore};

/// In the header of the database, `Prmt`.
const APPLICATION_ID: i32 = 0x5072_6d74;
/// The format of the records.
const VERSION: i32 = 1;
/// The database in the folder.
pub(crate) const DATABASE: &str = "promptarium.db";
/// Its name while it is created or restored.
pub(super) const PARTIAL: &str = "promptarium.partial";

/// Why a folder cannot be used, in one line that says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", folder.display())]
pub(crate) struct Problem {
    folder: PathBuf,
    why: String,
}

impl Problem {
    pub(super) fn new(folder: &Path, why: impl Into<String>) -> Self {
        Self { folder: folder.to_owned(), why: why.into() }
    }

    pub(super) fn damaged(folder: &Path, why: &str) -> Self {
        let advice = "restore a backup into a new folder, see docs/backup.md";
        Self::new(folder, format!("its database is damaged ({why}); {advice}"))
    }

    pub(super) fn io(folder: &Path, error: &io::Error) -> Self {
        let advice = "let this user read and write it, or name another folder";
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::new(folder, FULL),
            _ => Self::new(folder, format!("it cannot be used ({error}); {advice}")),
        }
    }

    pub(super) fn sqlite(folder: &Path, error: &rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            _ if is_full(error) => Self::new(folder, FULL),
            // A table is not there.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown) => {
                Self::damaged(folder, &error.to_string())
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::new(
                folder,
                format!("another program has locked its database ({error}); close that one"),
            ),
            _ => Self::io(folder, &io::Error::other(error.to_string())),
        }
    }
}

/// Whether there is no space for the database, its log or the index of that.
pub(super) fn is_full(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(code, Some(SQLITE_FULL | SQLITE_IOERR_SHMSIZE))
}

const FULL: &str = "no space is left on its disk; make room there and start again";

/// Checks the header of the file, which is written before the first record and not in the log.
///
/// # Errors
/// The inner one says whose file it is.
pub(super) fn check_header(file: &Path) -> io::Result<Result<(), String>> {
    let mut header = Vec::new();
    File::open(file)?.take(100).read_to_end(&mut header)?;
    let field = |at: usize| {
        let bytes = header.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map(i32::from_be_bytes)
    };
    let (version, application) = (field(60), field(68));
    Ok(match (application, version) {
        (Some(APPLICATION_ID), Some(VERSION)) => Ok(()),
        (Some(APPLICATION_ID), Some(newer)) => Err(format!(
            "a newer promptarium-server has written this folder (format {newer}, this one knows \
             {VERSION}); start that version, or name another folder"
        )),
        _ => Err(format!(
            "{DATABASE} in it belongs to another program, or is damaged; name another folder, or \
             restore a backup into a new one"
        )),
    })
}

/// Creates a database that only this user may read. A start that is cut off leaves none, so that an
/// empty one is always a damaged one.
pub(super) fn create(file: &Path) -> io::Result<()> {
    let folder = file.parent().unwrap_or(file);
    let _ = fs::remove_file(folder.join(PARTIAL));
    let partial = Builder::new().prefix(PARTIAL).rand_bytes(0).tempfile_in(folder)?;
    let sql = format!(
        "PRAGMA journal_mode = OFF;
         CREATE TABLE record (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, \
                              value TEXT NOT NULL) STRICT;
         PRAGMA application_id = {APPLICATION_ID};
         PRAGMA user_version = {VERSION}",
    );
    let created = Connection::open(partial.path()).and_then(|new| new.execute_batch(&sql));
    created.map_err(|error| match is_full(&error) {
        true => io::ErrorKind::StorageFull.into(),
        false => io::Error::other(error),
    })?;
    partial.as_file().sync_all()?;
    partial.persist(file)?;
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    Ok(())
}

pub(super) fn open(file: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // The last one shortens the log after an import.
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 8000000",
    )?;
    Ok(connection)
}

/// Copies the database of a folder, as it is at one instant, into a new file.
pub(crate) fn copy_database(folder: &Path, to: &Path) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let connection = Connection::open_with_flags(folder.join(DATABASE), flags)?;
    connection.execute("VACUUM INTO ?1", [to.to_string_lossy()]).map(drop)
}

/// Loads all records.
///
/// # Errors
/// The inner one says which record is wrong.
pub(super) fn load(
    connection: &Connection,
    store: &MemoryStore,
) -> rusqlite::Result<Result<(), String>> {
    let mut statement = connection.prepare("SELECT number, kind, value FROM record")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let text = |column| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_str()?);
        let loaded = store.load(row.get(0)?, text(1)?, text(2)?);
        if loaded.is_err() {
            return Ok(loaded);
        }
    }
    Ok(Ok(()))
}

/// Writes the changes of these batches in one transaction, and waits until they are on the disk.
pub(super) fn commit(connection: &mut Connection, batches: &[Batch]) -> rusqlite::Result<()> {
    let written = write(connection, batches);
    if written.is_err() {
        // A sync that failed leaves the transaction in the log, where a start after a crash would find
        // it. Another one takes its place there; NORMAL, because it need not be synced.
        connection.execute_batch("PRAGMA synchronous = NORMAL")?;
        let _ = connection.pragma_update(None, "user_version", VERSION);
        connection.execute_batch("PRAGMA synchronous = FULL")?;
    }
    written
}

fn write(connection: &mut Connection, batches: &[Batch]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for Change { number, kind, text } in batches.iter().flat_map(|batch| &batch.changes) {
        const PUT: &str = "INSERT INTO record (number, kind, value) VALUES (?1, ?2, ?3) \
                           ON CONFLICT (number) DO UPDATE SET value = excluded.value";
        match text {
            Some(text) => transaction.prepare_cached(PUT)?.execute((number, kind, text))?,
            None => {
                let delete = "DELETE FROM record WHERE number = ?1";
                transaction.prepare_cached(delete)?.execute([number])?
            }
        };
    }
    transaction.commit()
}
