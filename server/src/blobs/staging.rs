//! Uploads: bytes are staged out of sight as they arrive, then published in one step.
//!
//! An upload takes constant memory: what exceeds its buffer goes to a temporary file. A folder
//! store gives this file its final name. For other stores the file is read back once it is
//! complete: whole under a quota of bytes in memory, or in parts if it is large, which only an
//! output is.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use object_store::{Attribute, Attributes, ObjectStoreExt};
use promptarium::limits::UPLOAD_SLOT_LIFETIME_SECONDS;
use tempfile::TempPath;
use tokio::task::spawn_blocking;

use super::{BlobError, Blobs, PutError, in_time, key};
use crate::domain::AssetName;
use crate::limits::{
    BLOBS_TIMEOUT, S3_PART_BYTES, S3_UPLOAD_BYTES_MAX, S3_UPLOAD_WAIT, S3_WHOLE_BYTES_MAX,
    UPLOAD_BUFFER_BYTES,
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
    S3(Quota),
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
struct TempFile(File, Option<TempPath>);

impl Staging {
    pub(super) fn s3() -> Self {
        let (what, most) = ("the memory for uploads to S3", S3_UPLOAD_BYTES_MAX);
        Self::S3(Quota::new("s3_uploads", what, most, most))
    }

    /// Prepares a folder and checks that it is writable.
    pub(super) fn folder(root: &Path) -> io::Result<Self> {
        fs::create_dir_all(root.join(TEMP_FOLDER))?;
        TempFile::new(Some(root))?;
        Ok(Self::Folder(root.into()))
    }

    fn root(&self) -> Option<Arc<Path>> {
        match self {
            Self::Folder(root) => Some(root.clone()),
            Self::Memory | Self::S3(_) => None,
        }
    }
}

/// Removes temporary files that a killed server has left. An upload in progress is younger.
pub(super) fn remove_old_files(root: &Path) -> io::Result<()> {
    for entry in fs::read_dir(root.join(TEMP_FOLDER))?.flatten() {
        let modified = entry.metadata().and_then(|file| file.modified());
        let age = modified.ok().and_then(|modified| modified.elapsed().ok());
        if age > Some(Duration::from_secs(UPLOAD_SLOT_LIFETIME_SECONDS)) {
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(())
}

impl Blobs {
    /// Starts an upload. Not more than its buffer is in memory, even if the store is.
    pub fn upload(&self) -> Upload {
        Upload { blobs: self.clone(), size: 0, buffer: Vec::new(), file: None }
    }

    /// Waits until this many bytes may be in memory on their way to S3.
    async fn permit(&self, bytes: u64) -> Result<Option<Permit>, BlobError> {
        let Some(quota) = self.quota() else { return Ok(None) };
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let permit = quota.acquire(Client::Server, bytes, S3_UPLOAD_WAIT).await;
        permit.map(Some).map_err(|over| BlobError::text(over.to_string()))
    }

    /// The memory for uploads to S3, if that is where files are stored.
    pub(crate) fn quota(&self) -> Option<Quota> {
        match &self.staging {
            Staging::S3(quota) => Some(quota.clone()),
            Staging::Memory | Staging::Folder(_) => None,
        }
    }

    /// Checks that a file can be written in the folder of a store and get a name.
    pub(super) async fn check_folder(&self, root: Arc<Path>) -> Result<(), BlobError> {
        let proof = format!("{TEMP_FOLDER}/{}", random_id());
        let target = root.join(&proof);
        let placed =
            blocking(move || Ok::<_, BlobError>(TempFile::new(Some(&*root))?.place(&target)));
        placed.await?.map_err(|error| {
            let text = "the file system has neither renaming without replacing nor hard links";
            BlobError::text(format!("{text}: {error}"))
        })?;
        Ok(self.store.delete(&proof.into()).await?)
    }

    /// Puts a large file in parts. Unlike a whole one it would replace a file of its name that
    /// was stored meanwhile; only the output of one job can, and it is the same.
    async fn put_parts(&self, name: &AssetName, mut file: TempFile) -> Result<(), PutError> {
        if self.size_of(name).await?.is_some() {
            return Err(PutError::Taken);
        }
        let of_type = (Attribute::ContentType, name.media().content_type());
        let options = Attributes::from_iter([of_type]).into();
        let upload = self.store.put_multipart_opts(&key(name), options).await;
        let mut upload = upload.map_err(BlobError::from)?;
        let sent = async {
            loop {
                let _permit = self.permit(S3_PART_BYTES).await?;
                let part;
                (file, part) = read_up_to(file, S3_PART_BYTES).await?;
                if part.is_empty() {
                    break;
                }
                upload.put_part(part.into()).await?;
            }
            upload.complete().await?;
            Ok::<_, BlobError>(())
        };
        let sent = sent.await;
        if sent.is_err() {
            // If this fails too, the store keeps the parts; see docs/configure.md.
            let _ = upload.abort().await;
        }
        Ok(sent?)
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
        let root = self.blobs.staging.root();
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
    pub async fn finish(mut self, name: &AssetName) -> Result<(), PutError> {
        let is_folder = matches!(self.blobs.staging, Staging::Folder(_));
        if !is_folder && self.file.is_none() {
            let _permit = self.blobs.permit(self.size).await?;
            return self.blobs.put_object(name, self.buffer.into()).await;
        }
        if !self.buffer.is_empty() || self.file.is_none() {
            self.read(|_| Ok(())).await?;
        }
        let Self { blobs, size, file: Some(mut file), .. } = self else { return Ok(()) };
        if let Some(root) = blobs.staging.root() {
            let target = root.join(key(name).as_ref());
            let placed =
                async { Ok::<_, PutError>(blocking(move || Ok(file.place(&target))).await?) };
            return match in_time(BLOBS_TIMEOUT, placed).await? {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(PutError::Taken),
                outcome => Ok(outcome.map_err(BlobError::from)?),
            };
        }
        file = blocking(move || file.0.rewind().map(|()| file).map_err(BlobError::from)).await?;
        if size > S3_WHOLE_BYTES_MAX {
            return blobs.put_parts(name, file).await;
        }
        let _permit = blobs.permit(size).await?;
        let (_, bytes) = read_up_to(file, size).await?;
        blobs.put_object(name, bytes.into()).await
    }
}

/// The next bytes of a file, at most this many.
async fn read_up_to(file: TempFile, most: u64) -> Result<(TempFile, Vec<u8>), BlobError> {
    blocking(move || {
        let mut bytes = Vec::with_capacity(most as usize);
        (&file.0).take(most).read_to_end(&mut bytes)?;
        Ok((file, bytes))
    })
    .await
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

    /// Gives a file of a folder store its final name, if no other file has it: by renaming without
    /// replacing or, where the file system cannot do that, by a hard link. Returns once file and name
    /// are on disk.
    fn place(self, target: &Path) -> io::Result<()> {
        let Self(file, Some(path)) = self else { return Err(io::ErrorKind::InvalidInput.into()) };
        file.sync_all()?;
        let parent = target.parent().unwrap_or(target);
        match path.persist_noclobber(target) {
            Err(missing) if missing.error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(parent)?;
                missing.path.persist_noclobber(target)?;
                sync_folder(parent.parent().unwrap_or(parent))?;
            }
            outcome => outcome?,
        }
        sync_folder(parent)
    }
}

/// Only Unix can open folders.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Runs file operations on a thread for blocking work.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BlobError> + Send + 'static,
) -> Result<T, BlobError> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::from(error).into()))
}

pub(super) fn random_id() -> String {
    format!("{:032x}", rand::random::<u128>())
}
