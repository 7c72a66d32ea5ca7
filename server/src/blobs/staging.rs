//! Uploads: bytes are staged out of sight as they arrive, then published in one step.
//!
//! An upload takes constant memory: what exceeds its buffer goes to a temporary file. For a folder
//! this file becomes the stored file. `LocalFileSystem` of `object_store` could not do that: it puts
//! without replacing only what is in memory as a whole, so 64 uploads of 10 MiB would take 640 MiB,
//! and only by a hard link. For other stores the file is read back once it is complete, when a
//! bounded number of bytes is in memory on the way to S3. A large file, which only an output is,
//! goes to S3 in parts.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use promptarium::limits::UPLOAD_SLOT_LIFETIME_SECONDS;
use tempfile::TempPath;
use tokio::task::spawn_blocking;

use super::{BlobError, Blobs, MARK, PutError, in_time};
use crate::domain::AssetName;
use crate::limits::{
    BLOBS_TIMEOUT, S3_UPLOAD_BYTES_MAX, S3_UPLOAD_WAIT, S3_WHOLE_BYTES_MAX, UPLOAD_BUFFER_BYTES,
};
use crate::quota::{Client, Permit, Quota};

/// Temporary files are in this folder of a folder store, on the same file system.
const TEMP_FOLDER: &str = ".uploads";

/// Where the bytes of an upload are until it is complete.
#[derive(Clone)]
pub(super) enum Staging {
    /// In a temporary file, for the store in memory.
    Memory,
    /// In a temporary file, for S3; the quota has the bytes on their way to S3.
    TempFile(Quota),
    /// In a temporary file below the root of a folder store.
    Folder(Arc<Path>),
}

/// A file that is being uploaded. Dropping it discards what has been written.
pub struct Upload {
    blobs: Blobs,
    /// What has been written.
    size: u64,
    buffer: Vec<u8>,
    file: Option<TempFile>,
}

/// What has been written so far.
pub trait ReadSeek: Read + Seek {}

impl<T: Read + Seek> ReadSeek for T {}

/// A file that is removed when it is dropped. It has a name in a folder store only.
pub(super) struct TempFile(pub(super) File, Option<TempPath>);

impl Staging {
    pub(super) fn temp_file() -> Self {
        let (what, most) = ("the memory for uploads to S3", S3_UPLOAD_BYTES_MAX);
        Self::TempFile(Quota::new("s3_uploads", what, most, most))
    }

    /// Prepares a folder, checks that it is writable, marks it, and removes temporary files that a
    /// killed server has left.
    pub(super) fn folder(root: &Path) -> io::Result<Self> {
        let temp = root.join(TEMP_FOLDER);
        fs::create_dir_all(&temp)?;
        check_writable(root)?;
        match publish(root, None, random_id().as_bytes(), &root.join(MARK)) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            outcome => outcome?,
        }
        for entry in fs::read_dir(&temp)?.flatten() {
            let modified = entry.metadata().and_then(|file| file.modified());
            let age = modified.ok().and_then(|modified| modified.elapsed().ok());
            // No upload that is under way is older than this.
            if age > Some(Duration::from_secs(UPLOAD_SLOT_LIFETIME_SECONDS)) {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(Self::Folder(root.into()))
    }
}

impl Blobs {
    /// Starts an upload. Not more than its buffer is in memory, even if the store is.
    pub fn upload(&self) -> Upload {
        Upload { blobs: self.clone(), size: 0, buffer: Vec::new(), file: None }
    }

    /// Waits until this many bytes may be in memory on their way to S3.
    pub(super) async fn permit(&self, bytes: u64) -> Result<Option<Permit>, BlobError> {
        let Some(quota) = self.quota() else { return Ok(None) };
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let permit = quota.acquire(Client::Server, bytes, S3_UPLOAD_WAIT).await;
        permit.map(Some).map_err(|over| BlobError::text(over.to_string()))
    }

    /// The memory for uploads to S3, if that is where files are stored.
    pub(crate) fn quota(&self) -> Option<Quota> {
        match &self.staging {
            Staging::TempFile(quota) => Some(quota.clone()),
            Staging::Memory | Staging::Folder(_) => None,
        }
    }

    /// Publishes what the temporary file of a folder contains, followed by `tail`.
    pub(super) async fn publish(
        &self,
        name: &AssetName,
        file: Option<TempFile>,
        tail: Bytes,
    ) -> Result<(), PutError> {
        let Staging::Folder(root) = &self.staging else {
            return self.put_object(name, tail.into()).await;
        };
        let (root, target) = (root.clone(), root.join(name.path()));
        let publishing = blocking(move || match publish(&root, file, &tail, &target) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(PutError::Taken),
            outcome => Ok(outcome.map_err(BlobError::from)?),
        });
        in_time(BLOBS_TIMEOUT, publishing).await
    }
}

impl Upload {
    /// Adds bytes.
    pub async fn write(&mut self, mut bytes: &[u8]) -> Result<(), BlobError> {
        self.size += bytes.len() as u64;
        loop {
            let (used, free) = (self.buffer.len(), UPLOAD_BUFFER_BYTES - self.buffer.len());
            let (fitting, rest) = bytes.split_at(bytes.len().min(free));
            if self.buffer.capacity() < used + fitting.len() {
                // It doubles, but never beyond what is counted for it.
                self.buffer.reserve_exact(fitting.len().max(used.min(free)));
            }
            self.buffer.extend_from_slice(fitting);
            if rest.is_empty() {
                return Ok(());
            }
            self.read(|_| Ok(())).await?;
            bytes = rest;
        }
    }

    /// Empties the buffer into the file, and reads what has been written, on a thread for blocking
    /// work. Nothing is written after it has moved the position.
    pub async fn read<T: Send + 'static>(
        &mut self,
        read: impl FnOnce(&mut (dyn ReadSeek + 'static)) -> io::Result<T> + Send + 'static,
    ) -> Result<T, BlobError> {
        let root = match &self.blobs.staging {
            Staging::Folder(root) => Some(root.clone()),
            Staging::Memory | Staging::TempFile(_) => None,
        };
        let (file, mut buffer) = (self.file.take(), std::mem::take(&mut self.buffer));
        let done = blocking(move || {
            let mut file = file.map_or_else(|| TempFile::new(root.as_deref()), Ok)?;
            file.0.write_all(&buffer)?;
            buffer.clear();
            let value = read(&mut file.0)?;
            Ok::<_, BlobError>((file, buffer, value))
        });
        let (file, buffer, value) = in_time(BLOBS_TIMEOUT, done).await?;
        (self.file, self.buffer) = (Some(file), buffer);
        Ok(value)
    }

    /// Publishes the file under a name. After an error nothing is visible.
    pub async fn finish(self, name: &AssetName) -> Result<(), PutError> {
        let Self { blobs, size, buffer, file } = self;
        match (&blobs.staging, file) {
            (Staging::Folder(_), file) => blobs.publish(name, file, buffer.into()).await,
            (_, Some(file)) if size > S3_WHOLE_BYTES_MAX => {
                blobs.put_parts(name, file, buffer).await
            }
            (_, file) => {
                let _permit = blobs.permit(size).await?;
                let bytes = blocking(move || read_back(file, buffer, size as usize)).await?;
                blobs.publish(name, None, bytes.into()).await
            }
        }
    }
}

/// The bytes of the file, if there is one, and of the buffer.
fn read_back(file: Option<TempFile>, buffer: Vec<u8>, size: usize) -> Result<Vec<u8>, PutError> {
    let Some(mut file) = file else { return Ok(buffer) };
    let mut bytes = Vec::with_capacity(size);
    file.0.rewind().and_then(|()| file.0.read_to_end(&mut bytes)).map_err(BlobError::from)?;
    bytes.extend_from_slice(&buffer);
    Ok(bytes)
}

impl TempFile {
    /// Below the root of a folder store, with the permissions of the file that it becomes; or one
    /// without a name, which vanishes with the process.
    fn new(root: Option<&Path>) -> io::Result<Self> {
        let Some(root) = root else { return Ok(Self(tempfile::tempfile()?, None)) };
        let open = |path: &Path| File::options().read(true).write(true).create_new(true).open(path);
        let mut names = tempfile::Builder::new();
        let file = names.prefix("promptarium-upload-").make_in(root.join(TEMP_FOLDER), open)?;
        let (file, path) = file.into_parts();
        Ok(Self(file, Some(path)))
    }
}

/// Gives a new file of a folder store its name, if no other file has it. By renaming without
/// replacing or, where the file system cannot do that, by a hard link.
fn put_in_place(path: Option<TempPath>, target: &Path) -> io::Result<()> {
    let Some(path) = path else { return Err(ErrorKind::InvalidInput.into()) };
    let parent = target.parent().unwrap_or(target);
    match path.persist_noclobber(target) {
        Err(missing) if missing.error.kind() == ErrorKind::NotFound => {
            fs::create_dir_all(parent)?;
            missing.path.persist_noclobber(target)?;
            sync_folder(parent.parent().unwrap_or(parent))?;
        }
        outcome => outcome?,
    }
    sync_folder(parent)
}

/// Returns once the file and its name are on disk.
fn publish(root: &Path, file: Option<TempFile>, tail: &[u8], target: &Path) -> io::Result<()> {
    let TempFile(mut file, path) = file.map_or_else(|| TempFile::new(Some(root)), Ok)?;
    file.write_all(tail)?;
    file.sync_all()?;
    put_in_place(path, target)
}

/// Checks that a file can be written in the folder of a store and get its name.
pub(super) fn check_writable(root: &Path) -> io::Result<()> {
    let TempFile(mut file, path) = TempFile::new(Some(root))?;
    file.write_all(b"proof")?;
    let target = root.join(TEMP_FOLDER).join(random_id());
    put_in_place(path, &target).map_err(|error| {
        let text = "the file system has neither renaming without replacing nor hard links";
        io::Error::new(error.kind(), format!("{text}: {error}"))
    })?;
    fs::remove_file(target)
}

/// Runs file operations on a thread for blocking work.
pub(super) async fn blocking<T, E>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<BlobError> + Send + 'static,
{
    let done = spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(BlobError::from(std::io::Error::from(error)).into()))
}

pub(super) fn random_id() -> String {
    format!("{:032x}", rand::random::<u128>())
}

/// Only Unix can open folders.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
