//! Uploads: bytes are staged out of sight as they arrive, then published in one step.
//!
//! An upload takes constant memory: what exceeds its buffer goes to a temporary file. For a
//! folder this file becomes the stored file by a hard link; for S3 it is read back once it is
//! complete, when a bounded number of bytes is in memory on the way to S3. A large file, which
//! only an output is, goes to S3 in parts.

use std::fs::{self, File};
use std::io::{self, Cursor, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use promptarium::limits::UPLOAD_SLOT_LIFETIME_SECONDS;
use tokio::task::spawn_blocking;

use super::{AssetName, BlobError, Blobs, PutError, in_time};
use crate::limits::{
    BLOBS_TIMEOUT, S3_UPLOAD_BYTES_MAX, S3_UPLOAD_WAIT, S3_WHOLE_BYTES_MAX, UPLOAD_BUFFER_BYTES,
};
use crate::quota::{Client, Permit, Quota};

/// Temporary files are in this folder of a folder store, on the same file system.
const TEMP_FOLDER: &str = ".uploads";

/// Where the bytes of an upload are until it is complete.
#[derive(Clone)]
pub(super) enum Staging {
    /// In memory, because the store keeps them there anyway.
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
    /// Bytes of the first allocation of the buffer, and of the largest one.
    buffer_sizes: (usize, usize),
    file: Option<TempFile>,
}

/// What has been written so far.
pub trait ReadSeek: Read + Seek {}

impl<T: Read + Seek> ReadSeek for T {}

/// A file that is removed when it is dropped.
pub(super) struct TempFile(pub(super) File, PathBuf);

impl Staging {
    pub(super) fn temp_file() -> Self {
        let (what, most) = ("the memory for uploads to S3", S3_UPLOAD_BYTES_MAX);
        Self::TempFile(Quota::new("s3_uploads", what, most, most))
    }

    /// Prepares a folder, proves that it is writable, and removes temporary files that a killed
    /// server has left.
    pub(super) fn folder(root: &Path) -> std::io::Result<Self> {
        let temp = root.join(TEMP_FOLDER);
        fs::create_dir_all(&temp)?;
        check_writable(root)?;
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
    /// Starts an upload of exactly `size` bytes.
    pub fn upload(&self, size: u64) -> Upload {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let in_memory = matches!(self.staging, Staging::Memory);
        let most = if in_memory { usize::MAX } else { UPLOAD_BUFFER_BYTES };
        self.writer((size.min(most), most))
    }

    /// Starts a file of unknown size, which is not in memory even if the store is.
    pub fn spool(&self) -> Upload {
        self.writer((UPLOAD_BUFFER_BYTES, UPLOAD_BUFFER_BYTES))
    }

    fn writer(&self, buffer_sizes: (usize, usize)) -> Upload {
        Upload { blobs: self.clone(), size: 0, buffer: Vec::new(), buffer_sizes, file: None }
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
        let (temp, target) = (root.join(TEMP_FOLDER), root.join(name.path()));
        let publishing = blocking(move || {
            let mut file =
                file.map_or_else(|| TempFile::create(&temp), Ok).map_err(BlobError::from)?;
            match file.publish(&tail, &target) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(PutError::Taken),
                outcome => Ok(outcome.map_err(BlobError::from)?),
            }
        });
        in_time(BLOBS_TIMEOUT, publishing).await
    }
}

impl Upload {
    /// Memory that it takes until it is complete.
    pub(crate) fn buffered(&self) -> usize {
        self.buffer_sizes.0
    }

    /// Adds bytes. The buffer is allocated with the first ones, so that idle uploads have none.
    pub async fn write(&mut self, mut bytes: &[u8]) -> Result<(), BlobError> {
        let (first, limit) = self.buffer_sizes;
        self.size += bytes.len() as u64;
        loop {
            if self.buffer.capacity() == 0 {
                self.buffer.reserve_exact(first);
            }
            let (fitting, rest) = bytes.split_at(bytes.len().min(limit - self.buffer.len()));
            self.buffer.extend_from_slice(fitting);
            if rest.is_empty() {
                return Ok(());
            }
            self.flush().await?;
            bytes = rest;
        }
    }

    /// Reads what has been written, on a thread for blocking work.
    pub async fn read<T: Send + 'static>(
        &mut self,
        read: impl FnOnce(&mut (dyn ReadSeek + 'static)) -> io::Result<T> + Send + 'static,
    ) -> Result<T, BlobError> {
        if self.file.is_some() {
            self.flush().await?;
        }
        let (file, buffer) = (self.file.take(), std::mem::take(&mut self.buffer));
        let done = blocking(move || {
            let mut buffer = Cursor::new(buffer);
            let mut file = file;
            let value = match &mut file {
                Some(file) => read(&mut file.0)?,
                None => read(&mut buffer)?,
            };
            Ok::<_, BlobError>((file, buffer.into_inner(), value))
        });
        let (file, buffer, value) = done.await?;
        (self.file, self.buffer) = (file, buffer);
        Ok(value)
    }

    /// Publishes the file under a name. After an error nothing is visible.
    pub async fn finish(self, name: &AssetName) -> Result<(), PutError> {
        let Self { blobs, size, buffer, file, .. } = self;
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

    async fn flush(&mut self) -> Result<(), BlobError> {
        let in_store = match &self.blobs.staging {
            Staging::Folder(root) => Some(root.join(TEMP_FOLDER)),
            Staging::Memory | Staging::TempFile(_) => None,
        };
        let (file, mut buffer) = (self.file.take(), std::mem::take(&mut self.buffer));
        let written = blocking(move || {
            let mut file = match (file, in_store) {
                (Some(file), _) => file,
                (None, Some(folder)) => TempFile::create(&folder)?,
                (None, None) => TempFile::create_unlinked()?,
            };
            file.0.write_all(&buffer)?;
            buffer.clear();
            Ok::<_, BlobError>((file, buffer))
        });
        let (file, buffer) = in_time(BLOBS_TIMEOUT, written).await?;
        (self.file, self.buffer) = (Some(file), buffer);
        Ok(())
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
    fn create(folder: &Path) -> std::io::Result<Self> {
        let path = folder.join(format!("promptarium-upload-{}", random_id()));
        let file = File::options().read(true).write(true).create_new(true).open(&path)?;
        Ok(Self(file, path))
    }

    /// A file that vanishes with the process, however that ends.
    fn create_unlinked() -> std::io::Result<Self> {
        let file = Self::create(&std::env::temp_dir())?;
        let _ = fs::remove_file(&file.1);
        Ok(file)
    }

    /// Returns once the file and its name are on disk.
    fn publish(&mut self, tail: &[u8], target: &Path) -> std::io::Result<()> {
        self.0.write_all(tail)?;
        self.0.sync_all()?;
        let parent = target.parent().unwrap_or(target);
        match fs::hard_link(&self.1, target) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                fs::create_dir_all(parent)?;
                fs::hard_link(&self.1, target)?;
                sync_folder(parent.parent().unwrap_or(parent))?;
            }
            outcome => outcome?,
        }
        sync_folder(parent)
    }
}

/// Checks that a file can be written in the folder of a store.
pub(super) fn check_writable(root: &Path) -> std::io::Result<()> {
    TempFile::create(&root.join(TEMP_FOLDER))?.0.write_all(b"proof")
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
    format!("{:016x}", rand::random::<u64>())
}

/// Only Unix can open folders.
fn sync_folder(folder: &Path) -> std::io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.1);
    }
}
