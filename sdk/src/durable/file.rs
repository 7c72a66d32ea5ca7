//! The file of a journal: its lock, reading it, and appending lines that are on the disk before
//! the caller proceeds.

use std::fs::{self, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io, thread};

use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use super::steps::{Line, Steps};
use crate::error::Error;

#[derive(Debug)]
pub(super) struct File {
    path: Arc<Path>,
    disk: Arc<Mutex<Disk>>,
}

const VERSION: u32 = 1;

/// The first line, by which another file is recognized.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header {
    /// The version of the format.
    promptarium_journal: u32,
    base_url: String,
}

#[derive(Debug)]
struct Disk {
    file: fs::File,
    /// A line may have been written in part, after which none may follow.
    is_broken: bool,
}

impl File {
    /// Opens and locks the file. Returns the steps that its lines tell of.
    pub(super) async fn open(path: PathBuf, base_url: String) -> Result<(Self, Steps), Error> {
        blocking(move || {
            let (file, steps) = open(&path, base_url)?;
            let disk = Arc::new(Mutex::new(Disk { file, is_broken: false }));
            Ok((Self { path: path.into(), disk }, steps))
        })
        .await
    }

    /// Appends lines. They are on the disk when this returns.
    pub(super) async fn append(&self, lines: &[Line]) -> Result<(), Error> {
        if lines.is_empty() {
            return Ok(());
        }
        let bytes = lines.iter().map(text).collect::<Result<Vec<_>, _>>()?.concat();
        let (mut disk, path) = (self.disk.clone().lock_owned().await, self.path.clone());
        // If this future is dropped, the thread still writes all of the lines.
        blocking(move || {
            let failed = |error| Error::file(path.display(), "written", error);
            if std::mem::replace(&mut disk.is_broken, true) {
                return Err(failed(io::Error::other("an earlier line was not written in full")));
            }
            disk.file.write_all(&bytes).map_err(failed)?;
            disk.file.sync_data().map_err(failed)?;
            disk.is_broken = false;
            Ok(())
        })
        .await
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let stopped = |error| Error::input("the journal was not written").because(error);
    spawn_blocking(work).await.map_err(stopped)?
}

/// Locks the file. A journal of this process that was dropped may write its last line still, so a
/// lock is waited for, for a moment.
fn lock(file: &fs::File) -> Result<(), TryLockError> {
    const PAUSE: Duration = Duration::from_millis(10);
    for _ in 0..50 {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            outcome => return outcome,
        }
    }
    file.try_lock()
}

fn open(path: &Path, base_url: String) -> Result<(fs::File, Steps), Error> {
    let unusable = |error| Error::file(path.display(), "opened", error);
    let mut options = fs::OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false);
    let mut file = options.open(path).map_err(unusable)?;
    lock(&file).map_err(|error| match error {
        TryLockError::WouldBlock => {
            Error::input(format!("{} is in use by another journal", path.display()))
        }
        TryLockError::Error(error) => unusable(error),
    })?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(unusable)?;
    let header = Header { promptarium_journal: VERSION, base_url };
    let (steps, kept) = read(path, &bytes, &header)?;
    let header = text(&header)?;
    let mut repair = || {
        file.set_len(kept.len() as u64)?;
        file.seek(SeekFrom::End(0))?;
        let rest = if kept.is_empty() { &header[..] } else { b"\n" };
        if !kept.ends_with(b"\n") {
            file.write_all(rest)?;
        }
        file.sync_all()?;
        // So that a new file survives a power failure; not every system can do that.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let _ = fs::File::open(folder.unwrap_or(Path::new("."))).and_then(|it| it.sync_all());
        Ok(())
    };
    repair().map_err(|error| Error::file(path.display(), "written", error))?;
    Ok((file, steps))
}

/// The steps, and the bytes without a last line that was cut.
fn read<'a>(path: &Path, bytes: &'a [u8], header: &Header) -> Result<(Steps, &'a [u8]), Error> {
    let (steps, mut kept) = (Steps::default(), 0);
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let is_cut = !line.ends_with(b"\n");
        if index == 0 {
            match serde_json::from_slice::<Header>(line) {
                Ok(found) if found == *header => {}
                Ok(Header { promptarium_journal: VERSION, base_url }) => {
                    return Err(broken(path, 1, format!("the journal is one of {base_url}")));
                }
                // Any other file is left as it is.
                Err(_) if is_cut && text(header)?.starts_with(line) => break,
                _ => return Err(broken(path, 1, "the file is not a journal of this version")),
            }
        } else {
            match serde_json::from_slice(line) {
                Ok(line) => {
                    steps.apply(line).map_err(|problem| broken(path, index + 1, problem))?;
                }
                Err(_) if is_cut => break,
                Err(error) => return Err(broken(path, index + 1, error)),
            }
        }
        kept += line.len();
    }
    Ok((steps, bytes.get(..kept).unwrap_or(bytes)))
}

fn text(line: &impl Serialize) -> Result<Vec<u8>, Error> {
    let failed = |error| Error::input("a line of the journal cannot be written").because(error);
    let mut text = serde_json::to_vec(line).map_err(failed)?;
    text.push(b'\n');
    Ok(text)
}

fn broken(path: &Path, line: usize, problem: impl fmt::Display) -> Error {
    Error::input(format!("{}, line {line}: {problem}", path.display()))
}
