//! Uploads: bytes are kept out of sight as they arrive, then published in one step.
//!
//! An upload takes constant memory: what exceeds its buffer goes to a temporary file, which gets
//! its final name in a folder store, and is read back for other stores.

use std::fs::File;
use std::io::{self, Write};

use bytes::Bytes;
use object_store::{Error, ObjectStore as _, PutMode};

use super::folder::{self, TempFile, blocking};
use super::{BlobError, Blobs, Place, in_time, key};
use crate::domain::AssetName;
use crate::limits::{BLOBS_TIMEOUT, UPLOAD_BUFFER_BYTES};

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
        self.read(move |file| folder::read(file, start, most)).await
    }
}
