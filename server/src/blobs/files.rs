//! Uploads, and files in a folder.
//!
//! The bytes of an upload are kept out of sight as they arrive, then published in one step. It takes
//! constant memory: what exceeds its buffer goes to a temporary file, which a folder store has in
//! `.uploads`, on the same file system, and then renames. It is read back for other stores.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write as _};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use object_store::{Error, ObjectStore as _, PutMode};
use promptarium::limits::UPLOAD_SLOT_LIFETIME_SECONDS;
use tempfile::{PathPersistError, TempPath};
use tokio::task::spawn_blocking;

use super::{BlobError, Blobs, Pieces, Place, in_time, key};
use crate::domain::AssetName;
use crate::limits::{BLOBS_TIMEOUT, FOLDER_DOWNLOAD_BYTES, UPLOAD_BUFFER_BYTES};

/// A file that is being uploaded. Dropping it discards what has been written.
pub struct Upload {
    pub(super) blobs: Blobs,
    pub(super) size: u64,
    buffer: Vec<u8>,
    file: Option<TempFile>,
}

impl Blobs {
    /// Starts an upload. Not more than its buffer is in memory, even if the store is.
    pub fn upload(&self) -> Upload {
        let buffer = Vec::with_capacity(UPLOAD_BUFFER_BYTES);
        Upload { blobs: self.clone(), size: 0, buffer, file: None }
    }
}

impl Upload {
    pub async fn write(&mut self, mut bytes: &[u8]) -> Result<(), BlobError> {
        self.size += bytes.len() as u64;
        loop {
            let free = UPLOAD_BUFFER_BYTES - self.buffer.len();
            let (fitting, rest) = bytes.split_at(bytes.len().min(free));
            self.buffer.extend_from_slice(fitting);
            if rest.is_empty() {
                return Ok(());
            }
            self.read(|_| Ok(())).await?;
            bytes = rest;
        }
    }

    /// Empties the buffer into the file, and reads that. Nothing is written afterwards.
    pub async fn read<T: Send + 'static>(
        &mut self,
        read: impl FnOnce(&mut File) -> io::Result<T> + Send + 'static,
    ) -> Result<T, BlobError> {
        self.with_file(move |file| read(&mut file.file)).await
    }

    async fn with_file<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut TempFile) -> io::Result<T> + Send + 'static,
    ) -> Result<T, BlobError> {
        let root = self.blobs.root();
        let (file, mut buffer) = (self.file.take(), std::mem::take(&mut self.buffer));
        let done = blocking(move || {
            let mut file = file.map_or_else(|| TempFile::new(root.as_deref()), Ok)?;
            file.file.write_all(&buffer)?;
            buffer.clear();
            let value = work(&mut file)?;
            Ok((file, buffer, value))
        });
        let (file, buffer, value) = in_time(BLOBS_TIMEOUT, done).await?;
        (self.file, self.buffer) = (Some(file), buffer);
        Ok(value)
    }

    /// Publishes the file, if its name is free; returns whether it was. Errors leave nothing
    /// visible.
    pub async fn finish(mut self, name: &AssetName) -> Result<bool, BlobError> {
        let blobs = self.blobs.clone();
        match &blobs.place {
            Place::Remote(remote) => remote.publish(self, name).await,
            Place::Folder(root) => {
                let target = root.join(key(name).as_ref());
                self.with_file(move |file| file.publish(&target)).await
            }
            Place::Memory => {
                let bytes = self.whole().await?;
                let (location, options) = (key(name), PutMode::Create.into());
                let put = blobs.store.put_opts(&location, bytes.into(), options);
                match in_time(BLOBS_TIMEOUT, async { Ok(put.await) }).await? {
                    Err(Error::AlreadyExists { .. }) => Ok(false),
                    put => Ok(put.map(|_| true)?),
                }
            }
        }
    }

    pub(super) async fn whole(&mut self) -> Result<Bytes, BlobError> {
        match self.file {
            None => Ok(std::mem::take(&mut self.buffer).into_boxed_slice().into()),
            Some(_) => self.part(0, self.size).await,
        }
    }

    pub(super) async fn part(&mut self, start: u64, most: u64) -> Result<Bytes, BlobError> {
        self.read(move |file| Ok(part(file, start, most)?.into())).await
    }
}

const TEMP_FOLDER: &str = ".uploads";
/// The folders of [`AssetName::path`](crate::domain::AssetName::path).
const FOLDERS: [&str; 4] = [TEMP_FOLDER, "images", "thumbnails", "videos"];

/// A file that is removed when it is dropped.
pub(super) struct TempFile {
    pub(super) file: File,
    path: Option<TempPath>,
}

/// Creates the folder of a store and checks it. Removes what killed servers have left in it; an
/// upload in progress is younger.
pub(super) fn open(root: &Path) -> io::Result<()> {
    FOLDERS.into_iter().try_for_each(|name| fs::create_dir_all(root.join(name)))?;
    sync(root)?;
    check(root)?;
    for entry in fs::read_dir(root.join(TEMP_FOLDER))?.flatten() {
        let modified = entry.metadata().and_then(|file| file.modified());
        let age = modified.ok().and_then(|modified| modified.elapsed().ok());
        if age > Some(Duration::from_secs(UPLOAD_SLOT_LIFETIME_SECONDS)) {
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(())
}

/// Checks that a file can be written and get a name.
pub(super) fn check(root: &Path) -> io::Result<()> {
    let target = root.join(TEMP_FOLDER).join(super::random_id());
    TempFile::new(Some(root))?.publish(&target)?;
    fs::remove_file(target)
}

impl TempFile {
    /// Below the root of a folder store, or without a name, so that it vanishes with the process.
    pub(super) fn new(root: Option<&Path>) -> io::Result<Self> {
        let Some(root) = root else { return Ok(Self { file: tempfile::tempfile()?, path: None }) };
        let open = |path: &Path| File::options().read(true).write(true).create_new(true).open(path);
        let mut names = tempfile::Builder::new();
        let file = names.prefix("promptarium-upload-").make_in(root.join(TEMP_FOLDER), open)?;
        let (file, path) = file.into_parts();
        Ok(Self { file, path: Some(path) })
    }

    /// Gives a file its final name, if that is free: by renaming without replacing, or else by a
    /// hard link. Returns whether it has the name, once file and name are on disk.
    pub(super) fn publish(&mut self, target: &Path) -> io::Result<bool> {
        let path = self.path.take().ok_or(io::ErrorKind::InvalidInput)?;
        self.file.sync_all()?;
        match path.persist_noclobber(target) {
            Ok(()) => {}
            Err(taken) if taken.error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            Err(PathPersistError { error, .. }) => {
                let text = "a file can get its name neither by renaming nor by a hard link";
                return Err(io::Error::new(error.kind(), format!("{text}: {error}")));
            }
        }
        sync(target.parent().unwrap_or(target)).map(|()| true)
    }
}

/// A part of a file. Each piece is read on another thread, so small ones would take long.
pub(super) fn pieces(file: File, range: Range<u64>) -> Pieces {
    let next = async |(mut file, range): (File, Range<u64>)| {
        let most = (range.end - range.start).min(FOLDER_DOWNLOAD_BYTES as u64);
        if most == 0 {
            return Ok(None);
        }
        let start = range.start;
        let reading = blocking(move || Ok((Bytes::from(part(&mut file, start, most)?), file)));
        let (bytes, file) = reading.await?;
        if bytes.is_empty() {
            return Err(BlobError::text("a file has become shorter while it is read"));
        }
        let rest = start + bytes.len() as u64..range.end;
        Ok(Some((bytes, (file, rest))))
    };
    stream::try_unfold((file, range), next).boxed()
}

/// At most so many bytes of a file, from this position on.
pub(crate) fn part(file: &mut (impl Read + Seek), from: u64, most: u64) -> io::Result<Vec<u8>> {
    let mut part = Vec::with_capacity(most as usize);
    file.seek(io::SeekFrom::Start(from))?;
    file.take(most).read_to_end(&mut part)?;
    Ok(part)
}

/// Only Unix can open folders.
fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BlobError> + Send + 'static,
) -> Result<T, BlobError> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::from(error).into()))
}
