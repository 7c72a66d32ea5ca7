//! The file of a journal: its lock, reading it, and appending lines, to the disk.

use std::fs::{self, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use std::{fmt, io, thread};

use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::line::Line;
use super::steps::Steps;
use crate::client::Client;
use crate::error::Error;

#[derive(Debug)]
pub(super) struct File {
    path: Arc<Path>,
    next: Mutex<Batch>,
    disk: Arc<tokio::sync::Mutex<Disk>>,
}

pub(super) const VERSION: u32 = 2;

/// The first line, by which another file is recognized. One that follows takes its place.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Header {
    promptarium_journal: u32,
    base_url: String,
    /// `None` for a client whose key comes from a provider, which may change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    account: Option<String>,
}

/// Lines that wait for the disk, which are written with one sync.
#[derive(Debug, Default)]
struct Batch {
    lines: Vec<u8>,
    outcome: Arc<OnceLock<Result<(), (io::ErrorKind, String)>>>,
}

#[derive(Debug)]
struct Disk {
    file: fs::File,
    /// The bytes of whole lines.
    length: u64,
    /// A part of a line may follow them.
    is_torn: bool,
}

impl Disk {
    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        // What a failure left, for example of a full disk, which may have space now.
        if std::mem::replace(&mut self.is_torn, true) {
            self.file.set_len(self.length)?;
            self.file.seek(SeekFrom::End(0))?;
        }
        self.file.write_all(lines)?;
        self.file.sync_data()?;
        (self.length, self.is_torn) = (self.length + lines.len() as u64, false);
        Ok(())
    }
}

impl Header {
    pub(super) fn of(client: &Client) -> Self {
        Self {
            promptarium_journal: VERSION,
            base_url: client.base_url().to_owned(),
            account: client.0.credentials.account(),
        }
    }

    fn problem(&self, of_client: &Self) -> Option<String> {
        let Self { base_url, account, .. } = self;
        let is_other = |own: &String| of_client.account.as_ref().is_some_and(|other| own != other);
        if *base_url != of_client.base_url {
            Some(format!("the journal is one of {base_url}"))
        } else if account.as_ref().is_some_and(is_other) {
            Some("the journal is one of another API key".to_owned())
        } else {
            None
        }
    }
}

impl File {
    /// Opens and locks the file. Returns the steps that its lines tell of.
    pub(super) async fn open(
        path: PathBuf,
        header: Header,
        is_moved: bool,
    ) -> Result<(Self, Steps), Error> {
        blocking(move || {
            let (disk, steps) = open(&path, &header, is_moved)?;
            let disk = Arc::new(tokio::sync::Mutex::new(disk));
            Ok((Self { path: path.into(), next: Mutex::default(), disk }, steps))
        })
        .await
    }

    /// Appends lines. They are on the disk when this returns.
    pub(super) async fn append(&self, lines: &[Line]) -> Result<(), Error> {
        if lines.is_empty() {
            return Ok(());
        }
        let bytes = lines.iter().map(text).collect::<Result<Vec<_>, _>>()?.concat();
        let next = || self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = {
            let mut batch = next();
            batch.lines.extend(bytes);
            batch.outcome.clone()
        };
        let mut disk = self.disk.clone().lock_owned().await;
        if outcome.get().is_none() {
            let batch = std::mem::take(&mut *next());
            // If this future is dropped, the thread still writes all of the lines.
            blocking(move || {
                let outcome = disk.append(&batch.lines);
                // It is set nowhere else.
                let _ = batch.outcome.set(outcome.map_err(|it| (it.kind(), it.to_string())));
                Ok(())
            })
            .await?;
        }
        let failed = match outcome.get() {
            Some(Ok(())) => return Ok(()),
            Some(Err((kind, text))) => io::Error::new(*kind, text.clone()),
            None => io::Error::other("the thread that writes has ended"),
        };
        Err(Error::file(self.path.display(), "written", failed))
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

fn open(path: &Path, header: &Header, is_moved: bool) -> Result<(Disk, Steps), Error> {
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
    let first_line = text(header)?;
    let (steps, kept, found) = read(path, &bytes, &first_line)?;
    let problem = found.as_ref().and_then(|found| found.problem(header));
    if let Some(problem) = problem.as_ref().filter(|_| !is_moved) {
        let advice = "if it has the same account, use `Journal::open_moved`";
        return Err(broken(path, 1, format!("{problem}; {advice}")));
    }
    let mut repair = || {
        file.set_len(kept.len() as u64)?;
        file.seek(SeekFrom::End(0))?;
        if !kept.is_empty() && !kept.ends_with(b"\n") {
            file.write_all(b"\n")?;
        }
        if found.is_none() || problem.is_some() {
            file.write_all(&first_line)?;
        }
        file.sync_all()?;
        // So that a new file survives a power failure; not every system can do that.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let _ = fs::File::open(folder.unwrap_or(Path::new("."))).and_then(|it| it.sync_all());
        file.stream_position()
    };
    let length = repair().map_err(|error| Error::file(path.display(), "written", error))?;
    Ok((Disk { file, length, is_torn: false }, steps))
}

/// The steps, the bytes without a last line that was cut, and the last header.
fn read<'a>(
    path: &Path,
    bytes: &'a [u8],
    first_line: &[u8],
) -> Result<(Steps, &'a [u8], Option<Header>), Error> {
    let (steps, mut kept, mut header) = (Steps::default(), 0, None);
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let is_cut = !line.ends_with(b"\n");
        if line.starts_with(b"{\"promptariumJournal\":") || index == 0 {
            match serde_json::from_slice::<Header>(line) {
                Ok(found) if found.promptarium_journal == VERSION => header = Some(found),
                Ok(Header { promptarium_journal: version, .. }) => {
                    let problem = format!("the journal has version {version}, not {VERSION}");
                    return Err(broken(path, index + 1, problem));
                }
                Err(_) if is_cut && (index > 0 || first_line.starts_with(line)) => break,
                // Any other file is left as it is.
                Err(_) => return Err(broken(path, index + 1, "the file is not a journal")),
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
    Ok((steps, bytes.get(..kept).unwrap_or(bytes), header))
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
